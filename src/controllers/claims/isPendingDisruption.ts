import { NodeClaimConditions } from '../../api/conditionTypes.ts';
import { findCondition } from '../../api/conditions.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';

/** Whether the claim was chosen for disruption and waits for its replacement. */
export function isPendingDisruption(claim: NodeClaim): boolean {
  return findCondition(claim, NodeClaimConditions.disruptionReason)?.status === 'True';
}
