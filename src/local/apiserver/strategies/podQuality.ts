/** Returns the quality of service class of a pod, from the cpu and memory of its containers. */
import { Quantity } from '../../../units/quantity.ts';
import { fieldsAt, listAt, type Fields } from '../fields.ts';

export function qosClass(spec: Fields): string {
  const containers = [...listAt(spec, 'initContainers'), ...listAt(spec, 'containers')];
  let anything = false;
  let guaranteed = true;
  for (const container of containers) {
    const requests = fieldsAt(container, 'resources', 'requests') ?? {};
    const limits = fieldsAt(container, 'resources', 'limits') ?? {};
    for (const name of ['cpu', 'memory']) {
      const request = amount(requests[name]);
      const limit = amount(limits[name]);
      if (request !== undefined || limit !== undefined) anything = true;
      if (limit === undefined || (request !== undefined && request !== limit)) guaranteed = false;
    }
  }
  if (!anything) return 'BestEffort';
  return guaranteed ? 'Guaranteed' : 'Burstable';
}

/** Returns a canonical quantity; undefined for zero, which counts as absent. */
function amount(value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const text = Quantity.tryParse(value)?.toString();
  return text === '0' ? undefined : text;
}
