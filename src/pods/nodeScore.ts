/** kube-scheduler's score of a node's room for a pod: emptier and more evenly used is better. */

const HIGHEST = 100;

/** Used shares of the node's allocatable resources with the pod: 0 to 1. */
interface SharesUsed {
  readonly cpu: number;
  readonly memory: number;
}

/** Used share of a resource including `asked`; 1 if the node has none. */
export function shareUsed(used: number, asked: number, allocatable: number): number {
  return allocatable <= 0 ? 1 : Math.min(1, (used + asked) / allocatable);
}

/** The plugins NodeResourcesFit (LeastAllocated) and NodeResourcesBalancedAllocation, with their default weights. */
export function roomScore({ cpu, memory }: SharesUsed): number {
  const leastAllocated = (HIGHEST * (2 - cpu - memory)) / 2;
  // Lower when one resource runs out long before the other.
  const balanced = HIGHEST * (1 - Math.abs(cpu - memory) / 2);
  return leastAllocated + balanced;
}
