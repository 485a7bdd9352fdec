/**
 * StatefulSets: pods with names and disks of their own. In: StatefulSets and their pods. Out: pods `name-0`, `name-1`,
 * … made in order and removed in reverse (or all at once when Parallel), each with its claims, brought to the current
 * template one by one from the highest ordinal down to the partition.
 */
import {
  Kinds,
  type ControllerRevision,
  type PersistentVolumeClaim,
  type Pod,
  type StatefulSet,
} from '../../api/kinds.ts';
import { ignoreNotFound, isAlreadyExists } from '../../kube/errors.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Controller, ReconcileResult } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { refOf, watch } from '../../kube/runtime/watch.ts';
import { patchStatus } from '../../kube/statusPatch.ts';
import { OwnedPods, ownerReference, type WorkloadOptions } from './ownedPods.ts';
import { isActive, isAvailable, isReady, isTerminal, untilNextAvailable } from './podState.ts';
import { Revisions, REVISION_LABEL } from './revisions.ts';
import { gathered } from './gathered.ts';

export interface StatefulSetOptions extends WorkloadOptions {
  readonly statefulSets: Informer<StatefulSet>;
  readonly revisions: Informer<ControllerRevision>;
  readonly claims: Informer<PersistentVolumeClaim>;
}

interface Revision {
  readonly current: string;
  readonly update: string;
}

const revisionOf = (pod: Pod): string | undefined => pod.metadata.labels?.[REVISION_LABEL];
const ordinalOf = (pod: Pod): number => Number(/-(\d+)$/.exec(pod.metadata.name)?.[1] ?? -1);

export function statefulSetController(options: StatefulSetOptions): Controller {
  const { kube, clock, random, log, statefulSets, claims } = options;
  const owned = new OwnedPods(
    Kinds.StatefulSet,
    options,
    (verb, pod, set) => `${verb} Pod ${pod} in StatefulSet ${set} successful`,
  );
  const revisions = new Revisions(kube, Kinds.StatefulSet, options.revisions);

  const claimName = (template: string, set: StatefulSet, ordinal: number): string =>
    `${template}-${set.metadata.name}-${ordinal}`;

  async function ensureClaims(set: StatefulSet, ordinal: number): Promise<void> {
    const { namespace } = set.metadata;
    const goesAlong = set.spec?.persistentVolumeClaimRetentionPolicy?.whenDeleted === 'Delete';
    for (const template of set.spec?.volumeClaimTemplates ?? []) {
      const name = claimName(template.metadata?.name ?? '', set, ordinal);
      if (claims.store.get({ name, namespace })) continue;
      try {
        await kube.create(Kinds.PersistentVolumeClaim, {
          metadata: {
            name,
            ...(namespace && { namespace }),
            labels: { ...set.spec?.selector?.matchLabels, ...template.metadata?.labels },
            ...(template.metadata?.annotations && { annotations: template.metadata.annotations }),
            ...(goesAlong && { ownerReferences: [{ ...ownerReference(Kinds.StatefulSet, set), controller: false }] }),
          },
          ...(template.spec && { spec: template.spec }),
        });
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
      }
    }
  }

  async function createPod(set: StatefulSet, ordinal: number, revision: string): Promise<void> {
    const template = revisions.template(set, revision) ?? set.spec?.template;
    if (!template) return;
    await ensureClaims(set, ordinal);
    const name = `${set.metadata.name}-${ordinal}`;
    const own = (set.spec?.volumeClaimTemplates ?? []).map(({ metadata }) => ({
      name: metadata?.name ?? '',
      persistentVolumeClaim: { claimName: claimName(metadata?.name ?? '', set, ordinal) },
    }));
    const others = (template.spec?.volumes ?? []).filter((volume) => !own.some((each) => each.name === volume.name));
    try {
      await owned.create(set, template, {
        name,
        labels: {
          'statefulset.kubernetes.io/pod-name': name,
          'apps.kubernetes.io/pod-index': String(ordinal),
          [REVISION_LABEL]: revision,
        },
        spec: {
          hostname: name,
          ...(set.spec?.serviceName && { subdomain: set.spec.serviceName }),
          ...(own.length + others.length > 0 && { volumes: [...own, ...others] }),
        },
      });
    } catch (error) {
      // The pod before it is still on its way out.
      if (!isAlreadyExists(error)) throw error;
    }
  }

  /** One step at a time when ordered; true when nothing is left to wait for. */
  async function scale(set: StatefulSet, pods: readonly Pod[], revision: Revision): Promise<boolean> {
    const first = set.spec?.ordinals?.start ?? 0;
    const end = first + (set.spec?.replicas ?? 1);
    const ordered = set.spec?.podManagementPolicy !== 'Parallel';
    const partition = set.spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
    const byOrdinal = new Map(pods.map((pod) => [ordinalOf(pod), pod]));
    let settled = true;
    for (let ordinal = first; ordinal < end; ordinal++) {
      const pod = byOrdinal.get(ordinal);
      if (pod === undefined) {
        const old = set.spec?.updateStrategy?.type === 'OnDelete' || ordinal < partition;
        await createPod(set, ordinal, old ? revision.current : revision.update);
        settled = false;
      } else if (isTerminal(pod) && !pod.metadata.deletionTimestamp) {
        await owned.delete(set, pod);
        settled = false;
      } else if (pod.metadata.deletionTimestamp || !isReady(pod)) settled = false;
      if (ordered && !settled) return false;
    }
    const condemned = pods
      .filter((pod) => ordinalOf(pod) < first || ordinalOf(pod) >= end)
      .sort((left, right) => ordinalOf(right) - ordinalOf(left));
    for (const pod of condemned) {
      if (!pod.metadata.deletionTimestamp) await owned.delete(set, pod);
      if (ordered) return false;
    }
    return settled && condemned.length === 0;
  }

  async function update(set: StatefulSet, pods: readonly Pod[], revision: Revision): Promise<void> {
    if (set.spec?.updateStrategy?.type === 'OnDelete') return;
    const partition = set.spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
    const candidates = pods
      .filter((pod) => ordinalOf(pod) >= partition)
      .sort((left, right) => ordinalOf(right) - ordinalOf(left));
    for (const pod of candidates) {
      if (revisionOf(pod) !== revision.update && !pod.metadata.deletionTimestamp) {
        await owned.delete(set, pod);
        return;
      }
      if (!isActive(pod) || !isAvailable(pod, set.spec?.minReadySeconds ?? 0, clock.now())) return;
    }
  }

  /** A scale-down may give up the disks of the pods that went. */
  async function releaseClaims(set: StatefulSet): Promise<void> {
    if (set.spec?.persistentVolumeClaimRetentionPolicy?.whenScaled !== 'Delete') return;
    const end = (set.spec.ordinals?.start ?? 0) + (set.spec.replicas ?? 1);
    const { namespace } = set.metadata;
    for (const template of set.spec.volumeClaimTemplates ?? []) {
      for (let ordinal = end; ; ordinal++) {
        const name = claimName(template.metadata?.name ?? '', set, ordinal);
        const claim = claims.store.get({ name, namespace });
        if (!claim) break;
        if (!claim.metadata.deletionTimestamp) {
          await ignoreNotFound(kube.delete(Kinds.PersistentVolumeClaim, { name, namespace }));
        }
      }
    }
  }

  function statusOf(set: StatefulSet, pods: readonly Pod[], revision: Revision): NonNullable<StatefulSet['status']> {
    const live = pods.filter((pod) => !isTerminal(pod));
    const now = clock.now();
    const updated = live.filter((pod) => revisionOf(pod) === revision.update && !pod.metadata.deletionTimestamp);
    const wanted = set.spec?.replicas ?? 1;
    const ready = live.filter((pod) => isReady(pod) && isActive(pod));
    const complete = updated.length === wanted && live.length === wanted && ready.length === wanted;
    const current = complete ? revision.update : revision.current;
    return {
      observedGeneration: set.metadata.generation ?? 0,
      replicas: live.length,
      readyReplicas: ready.length,
      availableReplicas: ready.filter((pod) => isAvailable(pod, set.spec?.minReadySeconds ?? 0, now)).length,
      currentReplicas: live.filter((pod) => revisionOf(pod) === current).length,
      updatedReplicas: updated.length,
      currentRevision: current,
      updateRevision: revision.update,
      collisionCount: 0,
    };
  }

  async function reconcile(key: string): Promise<ReconcileResult | undefined> {
    const set = statefulSets.store.get(refOf(key));
    if (!set?.spec || set.metadata.deletionTimestamp) return undefined;
    const target = (await revisions.current(set, set.spec.template)).metadata.name;
    const known = set.status?.currentRevision;
    const current = known && revisions.template(set, known) ? known : target;
    const revision: Revision = { current, update: target };
    const before = owned.of(set);
    if (await scale(set, before, revision)) {
      await update(set, before, revision);
      await releaseClaims(set);
    }
    const pods = owned.of(set);
    const status = statusOf(set, pods, revision);
    await patchStatus(kube, Kinds.StatefulSet, set, { ...set, status });
    const inUse = new Set([current, target, ...pods.map((pod) => revisionOf(pod) ?? '')]);
    await revisions.forget(set, set.spec.revisionHistoryLimit ?? 10, inUse);
    const wait = untilNextAvailable(pods, set.spec.minReadySeconds ?? 0, clock.now());
    return wait === undefined ? undefined : { requeueAfter: wait };
  }

  return reconciler({
    name: 'local.statefulset',
    concurrency: 8,
    clock,
    random,
    log,
    watches: [watch(statefulSets), owned.watch()],
    reconcile: gathered(clock, reconcile),
  });
}
