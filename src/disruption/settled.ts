import { NodeClaimConditions } from '../api/conditionTypes.ts';
import { findCondition } from '../api/conditions.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import type { NodeView } from '../cluster/nodeView.ts';
import { Duration } from '../units/duration.ts';

/** Milliseconds without a pod event before a node of the pool is consolidated. */
export function patienceOf(consolidateAfter: NodePool['spec']['disruption']['consolidateAfter']): number {
  return consolidateAfter === 'Never' ? Number.POSITIVE_INFINITY : Duration.parse(consolidateAfter).milliseconds;
}

/**
 * When the pool's consolidateAfter will have passed without a pod event, in milliseconds since 1970; undefined: never.
 */
export function settledFrom(claim: NodeClaim, pool: NodePool): number | undefined {
  const { consolidateAfter } = pool.spec.disruption;
  const initialized = findCondition(claim, NodeClaimConditions.initialized);
  // Nodes of a static pool are kept whatever runs on them.
  if (pool.spec.replicas !== undefined || consolidateAfter === 'Never' || initialized?.status !== 'True') {
    return undefined;
  }
  const patience = patienceOf(consolidateAfter);
  if (patience === 0) return 0;
  // Before the first pod event, the node counts as quiet since its initialization.
  return Date.parse(claim.status?.lastPodEventTime ?? initialized.lastTransitionTime ?? '') + patience;
}

/** Whether consolidation may move pods to the node: it is not inside its own pool's consolidateAfter window. */
export function isSettled({ claim }: NodeView, pool: NodePool | undefined, now: number): boolean {
  if (claim === undefined || pool === undefined || pool.spec.replicas !== undefined) return true;
  if (pool.spec.disruption.consolidateAfter === 'Never') return true;
  const from = settledFrom(claim, pool);
  return from !== undefined && from <= now;
}
