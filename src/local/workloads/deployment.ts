import { Kinds, type Deployment, type ReplicaSet } from '../../api/kinds.ts';
import { apiVersionOf } from '../../api/object.ts';
import { timestamp } from '../../units/timestamp.ts';
import { ignoreNotFound, isAlreadyExists } from '../../kube/errors.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Draft } from '../../kube/kube.ts';
import type { Controller, ReconcileResult } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { refOf, watch } from '../../kube/runtime/watch.ts';
import { BY_CONTROLLER, controllerOf } from './ownedObjects.ts';
import type { ReplicaSetOptions } from './replicaSet.ts';
import { nextSizes, rolloutBounds } from './rollout.ts';
import { canonical, templateHash } from './templateHash.ts';
import { gathered } from './gathered.ts';

export interface DeploymentOptions extends ReplicaSetOptions {
  readonly deployments: Informer<Deployment>;
}

const REVISION = 'deployment.kubernetes.io/revision';
const HASH_LABEL = 'pod-template-hash';
const revisionOf = (replicaSet: ReplicaSet): number => Number(replicaSet.metadata.annotations?.[REVISION] ?? 0);
const sum = (values: readonly (number | undefined)[]): number =>
  values.reduce<number>((total, value) => total + (value ?? 0), 0);

/** Rolls each Deployment's ReplicaSets towards its template, within its surge and unavailability. */
export function deploymentController(options: DeploymentOptions): Controller {
  const { kube, clock, random, log, replicaSets, deployments, events } = options;

  function newReplicaSet(deployment: Deployment, hash: string, revision: number, replicas: number): Draft<ReplicaSet> {
    const { template, selector, minReadySeconds } = deployment.spec ?? {};
    const labels = { ...template?.metadata?.labels, [HASH_LABEL]: hash };
    return {
      metadata: {
        name: `${deployment.metadata.name}-${hash}`,
        ...(deployment.metadata.namespace && { namespace: deployment.metadata.namespace }),
        labels,
        annotations: { [REVISION]: String(revision) },
        ownerReferences: [
          {
            apiVersion: apiVersionOf(Kinds.Deployment),
            kind: Kinds.Deployment.kind,
            name: deployment.metadata.name,
            uid: deployment.metadata.uid ?? '',
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: {
        replicas,
        ...(minReadySeconds !== undefined && { minReadySeconds }),
        selector: { ...selector, matchLabels: { ...selector?.matchLabels, [HASH_LABEL]: hash } },
        template: { ...template, metadata: { ...template?.metadata, labels } },
      },
    };
  }

  async function ensureReplicaSet(deployment: Deployment, all: readonly ReplicaSet[]): Promise<ReplicaSet> {
    const hash = templateHash(deployment.spec?.template);
    const name = `${deployment.metadata.name}-${hash}`;
    const revision = Math.max(0, ...all.map(revisionOf)) + 1;
    const existing = all.find((replicaSet) => replicaSet.metadata.name === name);
    const ref = { name, namespace: deployment.metadata.namespace };
    if (existing) {
      // A rollback makes an old template current: it moves to the front of the history.
      if (revisionOf(existing) === revision - 1) return existing;
      const body = { metadata: { annotations: { [REVISION]: String(revision) } } };
      return kube.patch(Kinds.ReplicaSet, ref, { type: 'merge', body });
    }
    const replicas = deployment.spec?.replicas ?? 1;
    const { maxSurge } = rolloutBounds(deployment);
    const taken = sum(all.map((replicaSet) => replicaSet.spec?.replicas));
    const recreate = deployment.spec?.strategy?.type === 'Recreate';
    const start = recreate && taken > 0 ? 0 : Math.max(0, Math.min(replicas, replicas + maxSurge - taken));
    try {
      const created = await kube.create(Kinds.ReplicaSet, newReplicaSet(deployment, hash, revision, start));
      tellScaling(deployment, name, 0, start);
      return created;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      return kube.get(Kinds.ReplicaSet, ref);
    }
  }

  function tellScaling(deployment: Deployment, replicaSet: string, from: number, to: number): void {
    if (from === to) return;
    const message = `Scaled ${to > from ? 'up' : 'down'} replica set ${replicaSet} from ${from} to ${to}`;
    events.say(Kinds.Deployment, deployment, 'ScalingReplicaSet', message);
  }

  function statusOf(deployment: Deployment, current: ReplicaSet, all: readonly ReplicaSet[]): Deployment['status'] {
    const wanted = deployment.spec?.replicas ?? 1;
    const available = sum(all.map(({ status }) => status?.availableReplicas));
    const total = sum(all.map(({ status }) => status?.replicas));
    const updated = current.status?.replicas ?? 0;
    const complete = updated === wanted && total === wanted && available === wanted;
    const enough = available >= wanted - rolloutBounds(deployment).maxUnavailable;
    const previous = deployment.status?.conditions ?? [];
    const now = timestamp(clock.now());
    const condition = (
      type: string,
      status: 'True' | 'False',
      reason: string,
      message: string,
    ): (typeof previous)[number] => {
      const before = previous.find((candidate) => candidate.type === type);
      const lastTransitionTime = (before?.status === status && before.lastTransitionTime) || now;
      const same = before?.status === status && before.reason === reason && before.message === message;
      return {
        type,
        status,
        reason,
        message,
        lastUpdateTime: (same && before.lastUpdateTime) || now,
        lastTransitionTime,
      };
    };
    return {
      observedGeneration: deployment.metadata.generation ?? 0,
      replicas: total,
      updatedReplicas: updated,
      readyReplicas: sum(all.map(({ status }) => status?.readyReplicas)),
      availableReplicas: available,
      unavailableReplicas: Math.max(0, Math.max(total, wanted) - available),
      conditions: [
        enough
          ? condition('Available', 'True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.')
          : condition(
              'Available',
              'False',
              'MinimumReplicasUnavailable',
              'Deployment does not have minimum availability.',
            ),
        complete
          ? condition(
              'Progressing',
              'True',
              'NewReplicaSetAvailable',
              `ReplicaSet "${current.metadata.name}" has successfully progressed.`,
            )
          : condition(
              'Progressing',
              'True',
              'ReplicaSetUpdated',
              `ReplicaSet "${current.metadata.name}" is progressing.`,
            ),
      ],
    };
  }

  async function reconcile(key: string): Promise<ReconcileResult | undefined> {
    const { name, namespace } = refOf(key);
    const deployment = deployments.store.get({ name, namespace });
    if (!deployment?.spec || deployment.metadata.deletionTimestamp) return undefined;
    const all = replicaSets.store.byIndex(BY_CONTROLLER, deployment.metadata.uid ?? '');
    const current = deployment.spec.paused
      ? ([...all].sort((left, right) => revisionOf(right) - revisionOf(left))[0] ??
        (await ensureReplicaSet(deployment, all)))
      : await ensureReplicaSet(deployment, all);
    const old = all.filter((replicaSet) => replicaSet.metadata.name !== current.metadata.name);

    for (const [replicaSet, replicas] of nextSizes(deployment, current, old)) {
      await kube.patch(
        Kinds.ReplicaSet,
        { name: replicaSet, namespace },
        { type: 'merge', body: { spec: { replicas } } },
      );
      const before = [current, ...old].find(({ metadata }) => metadata.name === replicaSet)?.spec?.replicas ?? 0;
      tellScaling(deployment, replicaSet, before, replicas);
    }
    await forgetHistory(deployment, old);
    const status = statusOf(deployment, current, [current, ...old]);
    const annotations = { [REVISION]: String(revisionOf(current)) };
    if (deployment.metadata.annotations?.[REVISION] !== annotations[REVISION]) {
      // Through the status endpoint, where annotations make no new generation.
      const body = { metadata: { annotations } };
      await kube.patch(Kinds.Deployment, { name, namespace }, { type: 'merge', body }, { subresource: 'status' });
    }
    if (canonical(status) !== canonical(deployment.status)) {
      await kube.patch(
        Kinds.Deployment,
        { name, namespace },
        { type: 'merge', body: { status } },
        { subresource: 'status' },
      );
    }
    return undefined;
  }

  async function forgetHistory(deployment: Deployment, old: readonly ReplicaSet[]): Promise<void> {
    const limit = deployment.spec?.revisionHistoryLimit ?? 10;
    const idle = old
      .filter(({ spec, status }) => (spec?.replicas ?? 0) === 0 && (status?.replicas ?? 0) === 0)
      .sort((left, right) => revisionOf(left) - revisionOf(right));
    for (const { metadata } of idle.slice(0, Math.max(0, idle.length - limit))) {
      await ignoreNotFound(kube.delete(Kinds.ReplicaSet, { name: metadata.name, namespace: metadata.namespace }));
    }
  }

  return reconciler({
    name: 'local.deployment',
    concurrency: 8,
    clock,
    random,
    log,
    watches: [
      watch(deployments),
      watch(replicaSets, ({ object }) => {
        const owner = controllerOf(object);
        return owner?.kind === 'Deployment' ? [`${object.metadata.namespace ?? ''}/${owner.name}`] : [];
      }),
    ],
    reconcile: gathered(clock, reconcile),
  });
}
