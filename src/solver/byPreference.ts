import type { NodePool } from '../api/kinds/nodePool.ts';

/** The order in which pools are used: heavier first; among equals the name that sorts last, as Karpenter has it. */
export function byPreference(left: NodePool, right: NodePool): number {
  const weight = (right.spec.weight ?? 0) - (left.spec.weight ?? 0);
  return weight || (left.metadata.name > right.metadata.name ? -1 : 1);
}
