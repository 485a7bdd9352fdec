/** How kube-scheduler rates the room on a node for a pod: the emptier and the more evenly used, the better. */

const HIGHEST = 100;

/** Of a node's allocatable, how much is used once the pod is there: 0 to 1. */
interface SharesUsed {
  readonly cpu: number;
  readonly memory: number;
}

/** The share of a resource that is used with `asked` on top; 1 where there is none of it. */
export function shareUsed(used: number, asked: number, allocatable: number): number {
  return allocatable <= 0 ? 1 : Math.min(1, (used + asked) / allocatable);
}

/** The plugins NodeResourcesFit (LeastAllocated) and NodeResourcesBalancedAllocation, with their default weights. */
export function roomScore({ cpu, memory }: SharesUsed): number {
  const leastAllocated = (HIGHEST * (2 - cpu - memory)) / 2;
  // A node is better used when no resource runs out long before the other.
  const balanced = HIGHEST * (1 - Math.abs(cpu - memory) / 2);
  return leastAllocated + balanced;
}
