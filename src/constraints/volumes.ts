/**
 * What a pod's volumes ask of its node: the combined alternatives of all its volumes. They narrow the node, but are no
 * part of the pod's own affinity when spread is counted.
 */
import { Requirements } from './requirements.ts';

/** A pod's volumes once every claim, volume and class has been looked up. */
export interface PodVolumes {
  /** The node must meet one of them; empty: no constraint. */
  readonly alternatives: readonly Requirements[];
  /** What counts against the attach limits of nodes. */
  readonly attachments: readonly VolumeAttachment[];
}

interface VolumeAttachment {
  readonly driver: string;
  /** namespace/name of the claim: two pods that share it attach one disk. */
  readonly claim: string;
}

/**
 * One alternative of each volume at a time. Combinations that contradict themselves are dropped, unless nothing
 * else is left: then the pod must fail as incompatible instead of running free.
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
