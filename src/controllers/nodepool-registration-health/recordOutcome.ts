import { NodeClaimConditions, NodePoolConditions, Reasons } from '../../api/conditionTypes.ts';
import { ConditionSet, NODE_POOL_CONDITIONS } from '../../api/conditions.ts';
import { Kinds } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import { isConflict, isNotFound } from '../../kube/errors.ts';
import { patchStatus } from '../../kube/statusPatch.ts';
import { conditionText, type ConditionText } from '../../ledger/conditionText.ts';
import type { World } from '../world/world.ts';

const ATTEMPTS = 3;

/**
 * Records whether a claim became a Node, and updates the condition of its pool when the verdict changes. Only for the
 * pool UID for which the claim was created.
 */
export async function recordOutcome(world: World, claim: NodeClaim, conditions: ConditionSet): Promise<void> {
  const succeeded = conditions.isTrue(NodeClaimConditions.registered);
  const owner = claim.metadata.ownerReferences?.find(({ kind }) => kind === Kinds.NodePool.kind);
  const pool = owner && world.informers.nodePools.store.get({ name: owner.name });
  if (!pool?.metadata.uid || pool.metadata.uid !== owner?.uid) return;
  const { uid } = pool.metadata;
  const verdict = world.registrationHealth.verdictAfter(uid, succeeded);
  world.registrationHealth.record(uid, succeeded);
  if ((verdict === 'healthy') === succeeded) await say(world, pool, claim, conditions, succeeded);
}

async function say(
  world: World,
  stored: NodePool,
  claim: NodeClaim,
  claimConditions: ConditionSet,
  healthy: boolean,
): Promise<void> {
  const { kube, clock, log } = world;
  const type = NodePoolConditions.nodeRegistrationHealthy;
  let pool = stored;
  for (let attempt = 1; ; attempt++) {
    const conditions = new ConditionSet(NODE_POOL_CONDITIONS, pool, clock.now());
    if (healthy) conditions.setTrue(type, clock.now());
    else {
      const { reason, message } = blame(claimConditions);
      conditions.setFalse(type, clock.now(), reason, message);
    }
    const status = { nodes: 0, ...pool.status, conditions: conditions.conditions };
    try {
      await patchStatus(kube, Kinds.NodePool, pool, { ...pool, status }, { lock: true });
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      // Not worth delaying the claim: the next outcome writes it again.
      if (!isConflict(error) || attempt >= ATTEMPTS) {
        log.error('cannot write the registration health of a NodePool', {
          NodePool: pool.metadata.name,
          NodeClaim: claim.metadata.name,
          error,
        });
        return;
      }
      pool = await kube.get(Kinds.NodePool, { name: pool.metadata.name });
    }
  }
}

/** The reason of the condition: the instance did not register, or the error of its failed launch. */
function blame(conditions: ConditionSet): ConditionText {
  if (conditions.isTrue(NodeClaimConditions.launched)) return conditionText({ kind: 'poolUnregistered' });
  const launched = conditions.get(NodeClaimConditions.launched);
  return { reason: launched?.reason ?? Reasons.launchFailed, message: launched?.message ?? '' };
}
