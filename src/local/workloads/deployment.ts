import { Kinds, type Deployment, type ReplicaSet } from '../../api/kinds.ts';
import type { Draft } from '../../kube/kube.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { BY_CONTROLLER } from '../clusterInformers.ts';
import { controlLoop, watchOwned, type ControlPlaneContext, type NextLook } from '../controlLoop.ts';
import { createIfAbsent, inNamespaceOf, merge, ownerReference, remove, writeStatus } from '../writes.ts';
import { byRevision, copiedAnnotations, REVISION, revisionOf, sizeAnnotations } from './deploymentAnnotations.ts';
import { deploymentStatus, untilDeadline } from './deploymentStatus.ts';
import { hasPods, nextSizes, pausedSizes, rolloutBounds } from './rollout.ts';
import { templateHash } from './templateHash.ts';

const HASH_LABEL = 'pod-template-hash';
const sizeOf = ({ spec }: ReplicaSet): number => spec?.replicas ?? 1;
const isIdle = (replicaSet: ReplicaSet): boolean => sizeOf(replicaSet) === 0 && !hasPods(replicaSet);

/** Creates and scales the ReplicaSets of Deployments, within maxSurge and maxUnavailable. */
export function deploymentController(context: ControlPlaneContext): Controller {
  const { kube, clock, informers, eventsOf } = context;
  const events = eventsOf('deployment-controller');

  function draftOf(
    deployment: Deployment,
    hash: string,
    replicas: number,
    old: readonly ReplicaSet[],
  ): Draft<ReplicaSet> {
    const { template, selector, minReadySeconds } = deployment.spec ?? {};
    const labels = { ...template?.metadata?.labels, [HASH_LABEL]: hash };
    return {
      metadata: {
        name: `${deployment.metadata.name}-${hash}`,
        ...inNamespaceOf(deployment),
        labels,
        annotations: { ...copiedAnnotations(deployment, undefined, old), ...sizeAnnotations(deployment) },
        ownerReferences: [ownerReference(Kinds.Deployment, deployment)],
      },
      spec: {
        replicas,
        ...(minReadySeconds !== undefined && { minReadySeconds }),
        selector: { ...selector, matchLabels: { ...selector?.matchLabels, [HASH_LABEL]: hash } },
        template: { ...template, metadata: { ...template?.metadata, labels } },
      },
    };
  }

  async function create(deployment: Deployment, hash: string, old: readonly ReplicaSet[]): Promise<ReplicaSet> {
    const { replicas = 1, strategy } = deployment.spec ?? {};
    const taken = old.reduce((sum, replicaSet) => sum + sizeOf(replicaSet), 0);
    const room = Math.max(0, replicas + rolloutBounds(deployment).maxSurge - taken);
    const size = strategy?.type === 'Recreate' ? replicas : Math.min(replicas, room);
    const draft = draftOf(deployment, hash, size, old);
    const created = await createIfAbsent(kube, Kinds.ReplicaSet, draft);
    if (created === undefined)
      return kube.get(Kinds.ReplicaSet, { name: draft.metadata.name ?? '', ...inNamespaceOf(deployment) });
    recordScaling(deployment, created.metadata.name, 0, size);
    return created;
  }

  /** Updates annotations and minReadySeconds of the current ReplicaSet. */
  async function sync(deployment: Deployment, current: ReplicaSet, old: readonly ReplicaSet[]): Promise<ReplicaSet> {
    const annotations = copiedAnnotations(deployment, current, old);
    const { minReadySeconds = 0 } = deployment.spec ?? {};
    const isSame = minReadySeconds === (current.spec?.minReadySeconds ?? 0);
    if (Object.keys(annotations).length === 0 && isSame) return current;
    const body = { metadata: { annotations }, ...(!isSame && { spec: { minReadySeconds } }) };
    return (await merge(kube, Kinds.ReplicaSet, current, body)) ?? current;
  }

  /** Scales a ReplicaSet, and updates its annotations about the size of the Deployment. */
  async function scale(deployment: Deployment, replicaSet: ReplicaSet, replicas: number): Promise<ReplicaSet> {
    const before = sizeOf(replicaSet);
    const wanted = sizeAnnotations(deployment);
    const isNoted = Object.entries(wanted).every(([key, value]) => replicaSet.metadata.annotations?.[key] === value);
    if (before === replicas && (isNoted || before === 0)) return replicaSet;
    const body = { metadata: { annotations: wanted }, spec: { replicas } };
    const written = await merge(kube, Kinds.ReplicaSet, replicaSet, body);
    recordScaling(deployment, replicaSet.metadata.name, before, replicas);
    return written ?? replicaSet;
  }

  function recordScaling(deployment: Deployment, replicaSet: string, from: number, to: number): void {
    if (from === to) return;
    const message = `Scaled ${to > from ? 'up' : 'down'} replica set ${replicaSet} from ${from} to ${to}`;
    events.say(Kinds.Deployment, deployment, 'ScalingReplicaSet', message);
  }

  async function reconcile(deployment: Deployment): Promise<NextLook> {
    const { paused = false, strategy, template, revisionHistoryLimit = 10 } = deployment.spec ?? {};
    const all = informers.replicaSets.store.byIndex(BY_CONTROLLER, deployment.metadata.uid ?? '');
    const hash = templateHash(template);
    const name = `${deployment.metadata.name}-${hash}`;
    let old = all.filter(({ metadata }) => metadata.name !== name);
    let current = all.find(({ metadata }) => metadata.name === name);
    const isNew = current === undefined && !paused && (strategy?.type !== 'Recreate' || old.every(isIdle));
    if (current) current = await sync(deployment, current, old);
    else if (isNew) current = await create(deployment, hash, old);

    const sizes = paused ? pausedSizes(deployment, current, old) : nextSizes(deployment, current, old);
    const scaled = (each: ReplicaSet): Promise<ReplicaSet> =>
      scale(deployment, each, sizes.get(each.metadata.name) ?? sizeOf(each));
    current = current && (await scaled(current));
    old = await Promise.all(old.map(scaled));
    const idle = old.filter(isIdle).sort(byRevision);
    const surplus = idle.slice(0, Math.max(0, idle.length - revisionHistoryLimit));
    for (const replicaSet of surplus) await remove(kube, Kinds.ReplicaSet, replicaSet);

    const status = deploymentStatus(deployment, { current, old, created: isNew }, clock.now());
    const revision = current && String(revisionOf(current));
    if (revision !== undefined && deployment.metadata.annotations?.[REVISION] !== revision) {
      // Through the status, like upstream, so that the generation is not incremented.
      await merge(
        kube,
        Kinds.Deployment,
        deployment,
        { metadata: { annotations: { [REVISION]: revision } } },
        'status',
      );
    }
    await writeStatus(kube, Kinds.Deployment, deployment, status, { lock: false });
    return untilDeadline(deployment, status, clock.now());
  }

  return controlLoop(context, {
    name: 'deployment',
    of: informers.deployments,
    also: [watchOwned(informers.replicaSets, Kinds.Deployment)],
    gathers: true,
    reconcile,
  });
}
