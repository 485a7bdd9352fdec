import { Kinds, type Pod, type ReplicaSet } from '../../api/kinds.ts';
import { Annotations } from '../../api/labels.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { keyOf } from '../../kube/runtime/watch.ts';
import { isActive, isTerminal } from '../../pods/podPredicates.ts';
import { controlLoop, type ControlPlaneContext, type NextLook } from '../controlLoop.ts';
import { writeStatus } from '../writes.ts';
import { OwnedPods } from './ownedPods.ts';
import { isAvailable, isReady, untilNextAvailable } from './podState.ts';

/** Pods made or removed in one go; the rest follows in the next round. */
const BURST = 500;

/** The order in which pods are given up: not yet placed, not yet running, not ready, cheap to lose, then the youngest. */
function deletionRank(pod: Pod): [number, number, number] {
  const stage = !pod.spec?.nodeName ? 0 : pod.status?.phase === 'Pending' ? 1 : isReady(pod) ? 3 : 2;
  const cost = Number(pod.metadata.annotations?.[Annotations.podDeletionCost] ?? 0) || 0;
  return [stage, cost, -Date.parse(pod.metadata.creationTimestamp ?? '')];
}

function byDeletionRank(left: Pod, right: Pod): number {
  const [a, b] = [deletionRank(left), deletionRank(right)];
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || keyOf(left).localeCompare(keyOf(right));
}

/** Keeps the number of pods that each ReplicaSet asks for, and reports what there is. */
export function replicaSetController(context: ControlPlaneContext): Controller {
  const { kube, clock, informers, eventsOf } = context;
  const owned = new OwnedPods(Kinds.ReplicaSet, context, eventsOf('replicaset-controller'));

  async function reconcile(replicaSet: ReplicaSet): Promise<NextLook> {
    const { template, replicas: wanted = 1, minReadySeconds = 0 } = replicaSet.spec ?? {};
    const pods = owned.of(replicaSet);
    const active = pods.filter(isActive);
    const missing = wanted - active.length;
    if (!replicaSet.metadata.deletionTimestamp && template) {
      const count = Math.min(Math.max(0, missing), BURST);
      await Promise.all(Array.from({ length: count }, () => owned.create(replicaSet, template)));
      const surplus = missing < 0 ? active.toSorted(byDeletionRank).slice(0, Math.min(-missing, BURST)) : [];
      await Promise.all(surplus.map((pod) => owned.delete(replicaSet, pod)));
    }
    const now = clock.now();
    const status = {
      replicas: active.length,
      fullyLabeledReplicas: active.length,
      readyReplicas: active.filter(isReady).length,
      availableReplicas: active.filter((pod) => isAvailable(pod, minReadySeconds, now)).length,
      // The typings that we use are older than this field.
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
