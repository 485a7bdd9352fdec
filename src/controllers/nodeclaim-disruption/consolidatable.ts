/** When a NodeClaim becomes consolidatable, in milliseconds since the epoch; undefined for never. */
import { NodeClaimConditions } from '../../api/conditionTypes.ts';
import type { ConditionSet } from '../../api/conditions.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import { Duration } from '../../units/duration.ts';

export function consolidatableFrom(claim: NodeClaim, conditions: ConditionSet, pool: NodePool): number | undefined {
  const { consolidateAfter } = pool.spec.disruption;
  const initialized = conditions.get(NodeClaimConditions.initialized);
  // The nodes of a static pool are wanted whatever runs on them.
  if (pool.spec.replicas !== undefined || consolidateAfter === 'Never' || initialized?.status !== 'True') {
    return undefined;
  }
  const patience = Duration.parse(consolidateAfter).milliseconds;
  if (patience === 0) return 0;
  // Before the first pod came, the node has been quiet since it could take one.
  return Date.parse(claim.status?.lastPodEventTime ?? initialized.lastTransitionTime ?? '') + patience;
}
