import { Kinds, type Pod, type ReplicaSet } from '../../api/kinds.ts';
import { apiVersionOf } from '../../api/object.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Random } from '../../clock/random.ts';
import { ignoreNotFound } from '../../kube/errors.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Draft, Kube } from '../../kube/kube.ts';
import type { Log } from '../../kube/log.ts';
import type { Controller, ReconcileResult } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { keyOf, refOf, watch } from '../../kube/runtime/watch.ts';
import { controllerOf, OwnedObjects } from './ownedObjects.ts';

export interface WorkloadOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly pods: Informer<Pod>;
  readonly replicaSets: Informer<ReplicaSet>;
}

/** Pods made or removed in one go; the rest follows in the next round. */
const BURST = 500;

const isActive = (pod: Pod): boolean =>
  !pod.metadata.deletionTimestamp && pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed';

const isReady = (pod: Pod): boolean =>
  (pod.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');

/** A pod counts as available once it has been ready for `minReadySeconds`. */
function availableAt(pod: Pod, minReadySeconds: number): number {
  const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready');
  return Date.parse(ready?.lastTransitionTime ?? '') + minReadySeconds * 1000;
}

/** The order in which pods are given up: not yet placed, not yet running, not ready, then the youngest. */
function deletionRank(pod: Pod): [number, number] {
  const stage = !pod.spec?.nodeName ? 0 : pod.status?.phase === 'Pending' ? 1 : isReady(pod) ? 3 : 2;
  return [stage, -Date.parse(pod.metadata.creationTimestamp ?? '')];
}

/** Keeps the number of pods that each ReplicaSet asks for, and reports what there is. */
export function replicaSetController(options: WorkloadOptions): Controller {
  const { kube, clock, random, log, pods, replicaSets } = options;
  const owned = new OwnedObjects(pods);
  pods.subscribe((event) => owned.observe(event));

  async function createPods(replicaSet: ReplicaSet, count: number): Promise<void> {
    const { template } = replicaSet.spec ?? {};
    const draft: Draft<Pod> = {
      metadata: {
        generateName: `${replicaSet.metadata.name}-`,
        ...(replicaSet.metadata.namespace && { namespace: replicaSet.metadata.namespace }),
        ...(template?.metadata?.labels && { labels: template.metadata.labels }),
        ...(template?.metadata?.annotations && { annotations: template.metadata.annotations }),
        ownerReferences: [
          {
            apiVersion: apiVersionOf(Kinds.ReplicaSet),
            kind: Kinds.ReplicaSet.kind,
            name: replicaSet.metadata.name,
            uid: replicaSet.metadata.uid ?? '',
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      ...(template?.spec && { spec: template.spec }),
    };
    await Promise.all(
      Array.from({ length: count }, async () => {
        owned.noteCreated(replicaSet.metadata.uid ?? '', await kube.create(Kinds.Pod, draft));
      }),
    );
  }

  async function deletePods(victims: readonly Pod[]): Promise<void> {
    await Promise.all(
      victims.map(async (pod) => {
        owned.noteDeleted(pod);
        const preconditions = pod.metadata.uid === undefined ? {} : { uid: pod.metadata.uid };
        await ignoreNotFound(
          kube.delete(Kinds.Pod, { name: pod.metadata.name, namespace: pod.metadata.namespace }, { preconditions }),
        );
      }),
    );
  }

  async function reconcile(key: string): Promise<ReconcileResult | undefined> {
    const { name, namespace } = refOf(key);
    const replicaSet = replicaSets.store.get({ name, namespace });
    if (!replicaSet?.spec) return undefined;
    const active = owned.of(replicaSet.metadata.uid ?? '').filter(isActive);
    const wanted = replicaSet.spec.replicas ?? 1;
    const missing = wanted - active.length;
    if (!replicaSet.metadata.deletionTimestamp) {
      if (missing > 0) await createPods(replicaSet, Math.min(missing, BURST));
      if (missing < 0) {
        const ranked = [...active].sort((left, right) => {
          const [a, b] = [deletionRank(left), deletionRank(right)];
          return a[0] - b[0] || a[1] - b[1] || keyOf(left).localeCompare(keyOf(right));
        });
        await deletePods(ranked.slice(0, Math.min(-missing, BURST)));
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
    watches: [
      watch(replicaSets),
      watch(pods, ({ object }) => {
        const owner = controllerOf(object);
        return owner?.kind === 'ReplicaSet' ? [`${object.metadata.namespace ?? ''}/${owner.name}`] : [];
      }),
    ],
    reconcile,
  });
}
