import { NodePoolConditions } from '../../api/conditionTypes.ts';
import { ConditionSet, findCondition, NODE_POOL_CONDITIONS } from '../../api/conditions.ts';
import { Kinds } from '../../api/kinds.ts';
import { ignoreNotFound } from '../../kube/errors.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { watch } from '../../kube/runtime/watch.ts';
import { patchStatus } from '../../kube/statusPatch.ts';
import { isManaged } from '../world/managed.ts';
import { classOf, poolWatches } from '../world/nodeClassOfPool.ts';
import type { World } from '../world/world.ts';

/**
 * Resets the condition NodeRegistrationHealthy when the template or the class of a pool changes, because earlier
 * outcomes no longer apply. After a restart the outcomes are restored from the condition.
 */
export function nodePoolRegistrationHealthController(world: World): Controller {
  const { informers, clock, kube, cloud, registrationHealth } = world;
  const type = NodePoolConditions.nodeRegistrationHealthy;
  return reconciler({
    ...world,
    name: 'nodepool.registrationhealth',
    concurrency: 10,
    watches: [
      ...poolWatches(informers),
      watch(informers.nodePools, ({ type: change, object }) => {
        if (change === 'deleted') registrationHealth.forget(object.metadata.uid ?? '');
        return [];
      }),
    ],
    reconcile: async (name) => {
      const pool = informers.nodePools.store.get({ name });
      if (!pool || !isManaged(pool.spec.template.spec.nodeClassRef, cloud)) return;
      const { uid = '', generation } = pool.metadata;
      const nodeClass = classOf(pool, informers);
      if (!nodeClass) return;
      const known = findCondition(pool, type);
      if (!registrationHealth.knows(uid)) registrationHealth.reset(uid, remembered(known?.status));
      const classGeneration = nodeClass.metadata.generation ?? 0;
      const outdated =
        known === undefined ||
        known.observedGeneration !== generation ||
        pool.status?.nodeClassObservedGeneration !== classGeneration;
      if (!outdated) return;
      registrationHealth.reset(uid);
      const conditions = new ConditionSet(NODE_POOL_CONDITIONS, pool, clock.now());
      conditions.setUnknown(type, clock.now());
      const status = {
        nodes: 0,
        ...pool.status,
        conditions: conditions.conditions,
        nodeClassObservedGeneration: classGeneration,
      };
      await ignoreNotFound(patchStatus(kube, Kinds.NodePool, pool, { ...pool, status }, { lock: true }));
    },
  });
}

function remembered(status: string | undefined): readonly boolean[] {
  if (status === 'True') return [true];
  return status === 'False' ? [false, false] : [];
}
