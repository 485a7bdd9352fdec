/** What it costs to move pods, and what a node costs. */
import type { Pod } from '../api/kinds.ts';
import type { InstanceType } from '../cloud/instanceType.ts';
import { evictionCost } from '../pods/evictionCost.ts';

/** One for the node, and what it hurts to move each of its pods. */
export function rescheduleDisruptionCost(pods: readonly Pod[]): number {
  return pods.reduce((sum, pod) => sum + Math.max(0, evictionCost(pod)), 1);
}

/** Dollars per hour of the offering that the node is, available or not; 0 when it is not known. */
export function priceOf(
  instanceType: InstanceType | undefined,
  zone: string | undefined,
  capacityType: string | undefined,
): number {
  const offering = instanceType?.offerings.find((each) => each.zone === zone && each.capacityType === capacityType);
  return offering === undefined || !Number.isFinite(offering.price) ? 0 : offering.price;
}
