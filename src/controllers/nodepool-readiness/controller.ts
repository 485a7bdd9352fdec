import { NodePoolConditions, READY } from '../../api/conditionTypes.ts';
import { ConditionSet, NODE_POOL_CONDITIONS } from '../../api/conditions.ts';
import { Kinds } from '../../api/kinds.ts';
import type { Condition, KubeObject } from '../../api/object.ts';
import { patchConditions } from '../../kube/conditionPatch.ts';
import { ignoreNotFound } from '../../kube/errors.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { conditionText, type ConditionText } from '../../ledger/conditionText.ts';
import { isManaged } from '../world/managed.ts';
import { classOf, poolWatches } from '../world/nodeClassOfPool.ts';
import type { World } from '../world/world.ts';

/** Sets on each NodePool whether its node class is usable. */
export function nodePoolReadinessController(world: World): Controller {
  const { clock, informers, kube, cloud } = world;

  return reconciler({
    ...world,
    name: 'nodepool.readiness',
    concurrency: 10,
    watches: poolWatches(informers),
    reconcile: async (name) => {
      const pool = informers.nodePools.store.get({ name });
      if (!pool || !isManaged(pool.spec.template.spec.nodeClassRef, cloud)) return;
      const conditions = new ConditionSet(NODE_POOL_CONDITIONS, pool, clock.now());
      const verdict = objection(classOf(pool, informers));
      if (verdict) conditions.setFalse(NodePoolConditions.nodeClassReady, clock.now(), verdict.reason, verdict.message);
      else conditions.setTrue(NodePoolConditions.nodeClassReady, clock.now());
      const after = { ...pool, status: { nodes: 0, ...pool.status, conditions: conditions.conditions } };
      await ignoreNotFound(patchConditions(kube, Kinds.NodePool, NODE_POOL_CONDITIONS, pool, after));
    },
  });
}

/** Why the class is not usable; undefined when it is. */
function objection(nodeClass: KubeObject | undefined): ConditionText | undefined {
  if (!nodeClass) return conditionText({ kind: 'nodeClassMissing' });
  if (nodeClass.metadata.deletionTimestamp) return conditionText({ kind: 'nodeClassTerminating' });
  const { status } = nodeClass as { status?: { conditions?: readonly Condition[] } };
  const ready = status?.conditions?.find(({ type }) => type === READY);
  if (ready?.status === 'True') return undefined;
  if (ready?.status === 'False') return { reason: ready.reason ?? '', message: ready.message ?? '' };
  return conditionText({ kind: 'nodeClassUnknown' });
}
