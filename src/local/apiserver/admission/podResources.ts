/** Quantities by resource name: the sum of a pod's requests or limits, or those at a path in an object. */
import type { Pod } from '../../../api/kinds.ts';
import { podLimits, podRequests } from '../../../pods/podRequests.ts';
import { Quantity } from '../../../units/quantity.ts';
import { fieldsAt, type ApiObject } from '../fields.ts';

export type Amounts = ReadonlyMap<string, Quantity>;

export function amountsAt(value: unknown, ...path: readonly string[]): Amounts {
  const found = new Map<string, Quantity>();
  for (const [name, amount] of Object.entries(fieldsAt(value, ...path) ?? {})) {
    const parsed = Quantity.tryParse(amount as string);
    if (parsed !== undefined) found.set(name, parsed);
  }
  return found;
}

export function podAmounts(object: ApiObject, which: 'requests' | 'limits'): Amounts {
  const pod = object as unknown as Pod;
  const { pods: _one, ...amounts } = which === 'requests' ? podRequests(pod) : podLimits(pod);
  return new Map(Object.entries(amounts));
}
