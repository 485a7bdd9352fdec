import { NodePoolConditions, Reasons } from '../../api/conditionTypes.ts';
import { ConditionSet, NODE_POOL_CONDITIONS } from '../../api/conditions.ts';
import { Kinds } from '../../api/kinds.ts';
import { validateNodePool } from '../../api/nodePoolValidation.ts';
import { fieldErrorText } from '../../api/schema/fieldError.ts';
import { patchConditions } from '../../kube/conditionPatch.ts';
import { ignoreNotFound } from '../../kube/errors.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { watch } from '../../kube/runtime/watch.ts';
import { isManaged } from '../world/managed.ts';
import type { World } from '../world/world.ts';

/** Reports on each NodePool the errors that its schema cannot detect. */
export function nodePoolValidationController(world: World): Controller {
  const { clock, informers, kube, cloud } = world;
  return reconciler({
    ...world,
    name: 'nodepool.validation',
    concurrency: 10,
    watches: [watch(informers.nodePools)],
    reconcile: async (name) => {
      const pool = informers.nodePools.store.get({ name });
      if (!pool || !isManaged(pool.spec.template.spec.nodeClassRef, cloud)) return;
      const conditions = new ConditionSet(NODE_POOL_CONDITIONS, pool, clock.now());
      const errors = validateNodePool(pool);
      const message = errors.map(fieldErrorText).join('; ');
      if (errors.length > 0)
        conditions.setFalse(
          NodePoolConditions.validationSucceeded,
          clock.now(),
          Reasons.nodePoolValidationFailed,
          message,
        );
      else conditions.setTrue(NodePoolConditions.validationSucceeded, clock.now());
      const after = { ...pool, status: { nodes: 0, ...pool.status, conditions: conditions.conditions } };
      await ignoreNotFound(patchConditions(kube, Kinds.NodePool, NODE_POOL_CONDITIONS, pool, after));
    },
  });
}
