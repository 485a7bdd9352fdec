/** What a pod asks for as a whole. In: a pod. Out: its requests and limits by resource name. */
import { Quantity } from '../../../units/quantity.ts';
import { fieldsAt, listAt, textAt, type ApiObject } from '../fields.ts';

export type Amounts = ReadonlyMap<string, Quantity>;

export function amountsAt(value: unknown, ...path: readonly string[]): Amounts {
  const found = new Map<string, Quantity>();
  for (const [name, amount] of Object.entries(fieldsAt(value, ...path) ?? {})) {
    const parsed = Quantity.tryParse(amount as string);
    if (parsed !== undefined) found.set(name, parsed);
  }
  return found;
}

function addTo(total: Map<string, Quantity>, amounts: Amounts): void {
  for (const [name, amount] of amounts) total.set(name, (total.get(name) ?? Quantity.zero).add(amount));
}

function raiseTo(total: Map<string, Quantity>, amounts: Amounts): void {
  for (const [name, amount] of amounts) {
    const known = total.get(name);
    if (known === undefined || known.compare(amount) < 0) total.set(name, amount);
  }
}

/** Containers together, or the largest init container with the sidecars started before it, whichever is more. */
export function podAmounts(pod: ApiObject, which: 'requests' | 'limits'): Amounts {
  const total = new Map<string, Quantity>();
  for (const container of listAt(pod, 'spec', 'containers')) addTo(total, amountsAt(container, 'resources', which));
  const sidecars = new Map<string, Quantity>();
  const peak = new Map<string, Quantity>();
  for (const container of listAt(pod, 'spec', 'initContainers')) {
    const amounts = amountsAt(container, 'resources', which);
    if (textAt(container, 'restartPolicy') === 'Always') {
      addTo(sidecars, amounts);
      raiseTo(peak, sidecars);
    } else {
      const together = new Map(sidecars);
      addTo(together, amounts);
      raiseTo(peak, together);
    }
  }
  addTo(total, sidecars);
  raiseTo(total, peak);
  addTo(total, amountsAt(pod, 'spec', 'overhead'));
  return total;
}
