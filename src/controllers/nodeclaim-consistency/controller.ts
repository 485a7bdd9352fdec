import { NodeClaimConditions, Reasons } from '../../api/conditionTypes.ts';
import { ConditionSet, NODE_CLAIM_CONDITIONS } from '../../api/conditions.ts';
import { Kinds, type Node } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { patchConditions } from '../../kube/conditionPatch.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { watch } from '../../kube/runtime/watch.ts';
import { parseResources, quantityOf } from '../../units/resources.ts';
import type { ResourceShortfall } from '../../ledger/notice.ts';
import { shortfallText } from '../../ledger/noticeText.ts';
import type { World } from '../world/world.ts';
import { failedConsistencyCheck } from './events.ts';

const INTERVAL = 10 * 60_000;
/** Delay of the first check, so that a fast-starting node is checked only once, after it is up. */
const PATIENCE = 10_000;
/** A node may have up to a tenth less than promised. */
const TOLERATED_SHARE = 0.9;

/** Sets on each NodeClaim whether its node has the resources that the claim expects. */
export function nodeClaimConsistencyController(world: World): Controller {
  const { informers, clock, kube, events, cluster } = world;
  /** By claim UID: when the claim may be checked again. */
  const due = new Map<string, number>();
  return reconciler({
    ...world,
    name: 'nodeclaim.consistency',
    concurrency: 10,
    watches: [
      watch(informers.nodeClaims, ({ type, object }) => {
        if (type === 'deleted') due.delete(object.metadata.uid ?? '');
        return type === 'deleted' ? [] : [object.metadata.name];
      }),
    ],
    reconcile: async (name) => {
      const claim = cluster.claim(name);
      if (!claim?.status?.providerID) return undefined;
      const { uid = name, deletionTimestamp } = claim.metadata;
      const wait = (due.get(uid) ?? 0) - clock.now();
      if (wait > 0) return { requeueAfter: wait };
      const conditions = new ConditionSet(NODE_CLAIM_CONDITIONS, claim, clock.now());
      const [node] = cluster.nodesByProviderID(claim.status.providerID);
      const settled = node && !deletionTimestamp && conditions.isTrue(NodeClaimConditions.initialized);
      const launchedAt = Date.parse(conditions.get(NodeClaimConditions.launched)?.lastTransitionTime ?? '');
      const patience = launchedAt + PATIENCE - clock.now();
      if (!settled && !deletionTimestamp && patience > 0) return { requeueAfter: patience };
      const issues = settled ? shortfalls(node, claim) : [];
      for (const issue of issues) failedConsistencyCheck(events, claim, issue);
      if (issues.length > 0) {
        const reason = Reasons.consistencyCheckFailed;
        conditions.setFalse(
          NodeClaimConditions.consistentStateFound,
          clock.now(),
          reason,
          issues.map(shortfallText).join('; '),
        );
      } else conditions.setTrue(NodeClaimConditions.consistentStateFound, clock.now());
      const after = { ...claim, status: { ...claim.status, conditions: conditions.conditions } };
      await patchConditions(kube, Kinds.NodeClaim, NODE_CLAIM_CONDITIONS, claim, after);
      // Nothing to check before initialization: the first check after it must not be delayed.
      if (settled) due.set(uid, clock.now() + INTERVAL);
      return { requeueAfter: INTERVAL };
    },
  });
}

function shortfalls(node: Node, claim: NodeClaim): ResourceShortfall[] {
  const actual = parseResources(node.status?.capacity);
  const expected = parseResources(claim.status?.capacity);
  return Object.keys(claim.spec.resources?.requests ?? {}).flatMap((resource) => {
    const [is, should] = [quantityOf(actual, resource), quantityOf(expected, resource)];
    if (should.isZero()) return [];
    const share = is.milliValue() / should.milliValue();
    return share >= TOLERATED_SHARE ? [] : [{ resource, expected: should.toString(), found: is.toString(), share }];
  });
}
