/** What it costs to move pods, and what a node costs. */
import type { Pod } from '../api/kinds.ts';
import type { InstanceType } from '../cloud/instanceType.ts';
import { evictionCost } from '../pods/evictionCost.ts';

/** 1 for the node, plus the cost of moving each of its pods. */
export function rescheduleDisruptionCost(pods: readonly Pod[]): number {
  return pods.reduce((sum, pod) => sum + Math.max(0, evictionCost(pod)), 1);
}

/** Dollars per hour of the node's offering, available or not; 0 when unknown. */
export function priceOf(
  instanceType: InstanceType | undefined,
  zone: string | undefined,
  capacityType: string | undefined,
): number {
  const offering = instanceType?.offerings.find((each) => each.zone === zone && each.capacityType === capacityType);
  return offering === undefined || !Number.isFinite(offering.price) ? 0 : offering.price;
}
