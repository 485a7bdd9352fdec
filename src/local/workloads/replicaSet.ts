import { Kinds, type Pod, type ReplicaSet } from '../../api/kinds.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { isActive, isTerminal } from '../../pods/podPredicates.ts';
import { controlLoop, type ControlPlaneContext, type NextLook } from '../controlLoop.ts';
import { BY_CONTROLLER, controllerOf } from '../clusterInformers.ts';
import { writeStatus } from '../writes.ts';
import { inDeletionOrder } from '../../pods/deletionOrder.ts';
import { OwnedPods } from './ownedPods.ts';
import { isAvailable, isReady, untilNextAvailable } from './podState.ts';

/** Maximum number of pods created or deleted in one reconcile. */
const BURST = 500;

/** Creates and deletes the pods of ReplicaSets, and writes their status. */
export function replicaSetController(context: ControlPlaneContext): Controller {
  const { kube, clock, informers, eventsOf } = context;
  const owned = new OwnedPods(Kinds.ReplicaSet, context, eventsOf('replicaset-controller'));

  /** Returns the active pods of all ReplicaSets of the same Deployment. */
  function related(replicaSet: ReplicaSet): readonly Pod[] {
    const owner = controllerOf(replicaSet)?.uid;
    const siblings = owner === undefined ? [replicaSet] : informers.replicaSets.store.byIndex(BY_CONTROLLER, owner);
    return siblings.flatMap((each) => owned.of(each)).filter(isActive);
  }

  async function reconcile(replicaSet: ReplicaSet): Promise<NextLook> {
    const { template, replicas: wanted = 1, minReadySeconds = 0 } = replicaSet.spec ?? {};
    const pods = owned.of(replicaSet);
    const active = pods.filter(isActive);
    const missing = wanted - active.length;
    if (!replicaSet.metadata.deletionTimestamp && template) {
      const count = Math.min(Math.max(0, missing), BURST);
      await Promise.all(Array.from({ length: count }, () => owned.create(replicaSet, template)));
      const surplus =
        missing < 0
          ? inDeletionOrder(active, related(replicaSet), clock.now()).slice(0, Math.min(-missing, BURST))
          : [];
      await Promise.all(surplus.map((pod) => owned.delete(replicaSet, pod)));
    }
    const now = clock.now();
    const status = {
      replicas: active.length,
      fullyLabeledReplicas: active.length,
      readyReplicas: active.filter(isReady).length,
      availableReplicas: active.filter((pod) => isAvailable(pod, minReadySeconds, now)).length,
      // Our Kubernetes types lack this field.
      terminatingReplicas: pods.filter((pod) => pod.metadata.deletionTimestamp && !isTerminal(pod)).length,
      observedGeneration: replicaSet.metadata.generation ?? 0,
    };
    await writeStatus(kube, Kinds.ReplicaSet, replicaSet, status);
    return Math.abs(missing) > BURST ? 1 : untilNextAvailable(active, minReadySeconds, now);
  }

  return controlLoop(context, {
    name: 'replicaset',
    of: informers.replicaSets,
    also: [owned.watch()],
    gathers: true,
    untilGone: true,
    reconcile,
  });
}
