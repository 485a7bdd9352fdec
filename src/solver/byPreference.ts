import type { NodePool } from '../api/kinds/nodePool.ts';

/** Order in which pools are used: higher weight first; ties go to the name that sorts last, as in Karpenter. */
export function byPreference(left: NodePool, right: NodePool): number {
  const weight = (right.spec.weight ?? 0) - (left.spec.weight ?? 0);
  return weight || (left.metadata.name > right.metadata.name ? -1 : 1);
}
