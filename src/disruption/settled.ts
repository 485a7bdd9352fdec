import { NodeClaimConditions } from '../api/conditionTypes.ts';
import { findCondition } from '../api/conditions.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import type { NodeView } from '../cluster/nodeView.ts';
import { Duration } from '../units/duration.ts';

/** Milliseconds without a pod that comes or goes before a node of the pool is consolidated. */
export function patienceOf(consolidateAfter: NodePool['spec']['disruption']['consolidateAfter']): number {
  return consolidateAfter === 'Never' ? Number.POSITIVE_INFINITY : Duration.parse(consolidateAfter).milliseconds;
}

/**
 * When no pod will have come to or left the node for the pool's consolidateAfter, in milliseconds since 1970; undefined
 * for never.
 */
export function settledFrom(claim: NodeClaim, pool: NodePool): number | undefined {
  const { consolidateAfter } = pool.spec.disruption;
  const initialized = findCondition(claim, NodeClaimConditions.initialized);
  // The nodes of a static pool are wanted whatever runs on them.
  if (pool.spec.replicas !== undefined || consolidateAfter === 'Never' || initialized?.status !== 'True') {
    return undefined;
  }
  const patience = patienceOf(consolidateAfter);
  if (patience === 0) return 0;
  // Before the first pod came, the node has been quiet since it could take one.
  return Date.parse(claim.status?.lastPodEventTime ?? initialized.lastTransitionTime ?? '') + patience;
}

/** Whether consolidation may move pods to the node: it is not inside its own pool's consolidateAfter window. */
export function isSettled({ claim }: NodeView, pool: NodePool | undefined, now: number): boolean {
  if (claim === undefined || pool === undefined || pool.spec.replicas !== undefined) return true;
  if (pool.spec.disruption.consolidateAfter === 'Never') return true;
  const from = settledFrom(claim, pool);
  return from !== undefined && from <= now;
}
