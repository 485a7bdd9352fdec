import type { Pod } from '../api/kinds.ts';
import { podKey } from '../pods/podKey.ts';
import { podRequests } from '../pods/podRequests.ts';
import { fits, quantityOf, subtractResources, type Resources } from '../units/resources.ts';

/**
 * The pods with places on a node that its room still holds, and those that it does not: others may have taken it. Without
 * `room` it holds all. Large pods stay, for small ones find room elsewhere.
 */
export function stillPromised(
  pods: readonly Pod[],
  room: Resources | undefined,
): { readonly kept: readonly Pod[]; readonly outrun: readonly Pod[] } {
  // In an order of their own, so that the same places make the same node.
  const sorted = pods.toSorted((left, right) => (podKey(left) < podKey(right) ? -1 : 1));
  if (room === undefined) return { kept: sorted, outrun: [] };
  const outrun: Pod[] = [];
  let free = room;
  const shares = new Map(sorted.map((pod) => [pod, shareOf(podRequests(pod), room)]));
  for (const pod of sorted.toSorted((left, right) => (shares.get(right) ?? 0) - (shares.get(left) ?? 0))) {
    const requests = podRequests(pod);
    if (fits(requests, free)) free = subtractResources(free, requests);
    else outrun.push(pod);
  }
  return { kept: sorted.filter((pod) => !outrun.includes(pod)), outrun };
}

/** The greatest share of the room that the pod asks for, over cores and memory. */
function shareOf(requests: Resources, room: Resources): number {
  const share = (name: string): number =>
    quantityOf(requests, name).milliValue() / Math.max(1, quantityOf(room, name).milliValue());
  return Math.max(share('cpu'), share('memory'));
}
