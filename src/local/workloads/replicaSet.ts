import { Kinds, type Pod, type ReplicaSet } from '../../api/kinds.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Controller, ReconcileResult } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { keyOf, refOf, watch } from '../../kube/runtime/watch.ts';
import { OwnedPods, type WorkloadOptions } from './ownedPods.ts';
import { availableAt, isActive, isReady } from './podState.ts';
import { gathered } from './gathered.ts';

export interface ReplicaSetOptions extends WorkloadOptions {
  readonly replicaSets: Informer<ReplicaSet>;
}

/** Pods made or removed in one go; the rest follows in the next round. */
const BURST = 500;

/** The order in which pods are given up: not yet placed, not yet running, not ready, then the youngest. */
function deletionRank(pod: Pod): [number, number] {
  const stage = !pod.spec?.nodeName ? 0 : pod.status?.phase === 'Pending' ? 1 : isReady(pod) ? 3 : 2;
  return [stage, -Date.parse(pod.metadata.creationTimestamp ?? '')];
}

/** Keeps the number of pods that each ReplicaSet asks for, and reports what there is. */
export function replicaSetController(options: ReplicaSetOptions): Controller {
  const { kube, clock, random, log, replicaSets } = options;
  const owned = new OwnedPods(Kinds.ReplicaSet, options);

  async function createPods(replicaSet: ReplicaSet, count: number): Promise<void> {
    const template = replicaSet.spec?.template;
    if (!template) return;
    await Promise.all(Array.from({ length: count }, () => owned.create(replicaSet, template)));
  }

  async function reconcile(key: string): Promise<ReconcileResult | undefined> {
    const { name, namespace } = refOf(key);
    const replicaSet = replicaSets.store.get({ name, namespace });
    if (!replicaSet?.spec) return undefined;
    const active = owned.of(replicaSet).filter(isActive);
    const wanted = replicaSet.spec.replicas ?? 1;
    const missing = wanted - active.length;
    if (!replicaSet.metadata.deletionTimestamp) {
      if (missing > 0) await createPods(replicaSet, Math.min(missing, BURST));
      if (missing < 0) {
        const ranked = [...active].sort((left, right) => {
          const [a, b] = [deletionRank(left), deletionRank(right)];
          return a[0] - b[0] || a[1] - b[1] || keyOf(left).localeCompare(keyOf(right));
        });
        await Promise.all(ranked.slice(0, Math.min(-missing, BURST)).map((pod) => owned.delete(replicaSet, pod)));
      }
    }
    const now = clock.now();
    const minReadySeconds = replicaSet.spec.minReadySeconds ?? 0;
    const ready = active.filter(isReady);
    const due = ready.map((pod) => availableAt(pod, minReadySeconds));
    const status = {
      replicas: active.length,
      fullyLabeledReplicas: active.length,
      readyReplicas: ready.length,
      availableReplicas: due.filter((at) => at <= now).length,
      observedGeneration: replicaSet.metadata.generation ?? 0,
    };
    const before = replicaSet.status;
    const changed = Object.entries(status).some(
      ([field, value]) => (before?.[field as keyof typeof status] ?? 0) !== value,
    );
    if (changed || before === undefined) {
      await kube.patch(
        Kinds.ReplicaSet,
        { name, namespace },
        { type: 'merge', body: { status } },
        { subresource: 'status' },
      );
    }
    const next = Math.min(...due.filter((at) => at > now));
    if (Math.abs(missing) > BURST) return { requeueAfter: 1 };
    return Number.isFinite(next) ? { requeueAfter: next - now } : undefined;
  }

  return reconciler({
    name: 'local.replicaset',
    concurrency: 8,
    clock,
    random,
    log,
    watches: [watch(replicaSets), owned.watch()],
    reconcile: gathered(clock, reconcile),
  });
}
