/**
 * Requirements of a pod's volumes on its node: the combined alternatives of all volumes. They narrow the node, but are
 * not part of the pod's own affinity when spread is counted.
 */
import { Requirements } from './requirements.ts';

/** A pod's volumes after resolving all claims, volumes and classes. */
export interface PodVolumes {
  /** The node must meet at least one; empty: no constraint. */
  readonly alternatives: readonly Requirements[];
  /** Volumes that count against the attach limits of nodes. */
  readonly attachments: readonly VolumeAttachment[];
}

interface VolumeAttachment {
  readonly driver: string;
  /** namespace/name of the claim: two pods sharing it attach one disk. */
  readonly claim: string;
}

/**
 * Combines one alternative of each volume. Contradictory combinations are dropped unless all are contradictory: then
 * the pod must be refused rather than placed without constraints.
 */
export function combineAlternatives(volumes: readonly (readonly Requirements[])[]): Requirements[] {
  let combined: Requirements[] = [Requirements.empty];
  for (const alternatives of volumes) {
    if (alternatives.length === 0) continue;
    const product = combined.flatMap((left) => alternatives.map((right) => ({ left, right })));
    const possible = product.filter(({ left, right }) => left.intersects(right));
    combined = (possible.length > 0 ? possible : product).map(({ left, right }) => left.merge(right));
  }
  return combined.length === 1 && combined[0]?.size === 0 ? [] : combined;
}
