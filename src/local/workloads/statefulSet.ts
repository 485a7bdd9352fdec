/**
 * StatefulSets: creates pods with stable names and claims in order, deletes them in reverse order (or all at once when
 * Parallel), and updates them one by one from the highest ordinal down to the partition.
 */
import { Kinds, type Pod, type StatefulSet } from '../../api/kinds.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { isActive, isTerminal } from '../../pods/podPredicates.ts';
import { controlLoop, type ControlPlaneContext, type NextLook } from '../controlLoop.ts';
import { createIfAbsent, inNamespaceOf, ownerReference, remove, writeStatus } from '../writes.ts';
import { OwnedPods } from './ownedPods.ts';
import { isAvailable, isReady, untilNextAvailable } from './podState.ts';
import { Revisions, REVISION_LABEL } from './revisions.ts';

interface Revision {
  readonly current: string;
  readonly update: string;
}

const revisionOf = (pod: Pod): string | undefined => pod.metadata.labels?.[REVISION_LABEL];
const ordinalOf = (pod: Pod): number => Number(/-(\d+)$/.exec(pod.metadata.name)?.[1] ?? -1);

const highestFirst = (left: Pod, right: Pod): number => ordinalOf(right) - ordinalOf(left);

const message = (verb: string, pod: string, set: string): string =>
  `${verb} Pod ${pod} in StatefulSet ${set} successful`;

export function statefulSetController(context: ControlPlaneContext): Controller {
  const { kube, clock, informers, eventsOf } = context;
  const { claims } = informers;
  const owned = new OwnedPods(Kinds.StatefulSet, context, eventsOf('statefulset-controller'), message);
  const revisions = new Revisions(Kinds.StatefulSet, context);

  const claimName = (template: string, set: StatefulSet, ordinal: number): string =>
    `${template}-${set.metadata.name}-${ordinal}`;

  async function ensureClaims(set: StatefulSet, ordinal: number): Promise<void> {
    const { namespace } = set.metadata;
    const isOwned = set.spec?.persistentVolumeClaimRetentionPolicy?.whenDeleted === 'Delete';
    for (const template of set.spec?.volumeClaimTemplates ?? []) {
      const name = claimName(template.metadata?.name ?? '', set, ordinal);
      if (claims.store.get({ name, namespace })) continue;
      await createIfAbsent(kube, Kinds.PersistentVolumeClaim, {
        metadata: {
          name,
          ...inNamespaceOf(set),
          labels: { ...set.spec?.selector?.matchLabels, ...template.metadata?.labels },
          ...(template.metadata?.annotations && { annotations: template.metadata.annotations }),
          ...(isOwned && { ownerReferences: [{ ...ownerReference(Kinds.StatefulSet, set), controller: false }] }),
        },
        ...(template.spec && { spec: template.spec }),
      });
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
      // The previous pod of this name is still terminating.
      if (!isAlreadyExists(error)) throw error;
    }
  }

  /** Creates and deletes pods, one at a time if ordered; returns whether all pods exist and are ready. */
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
    const condemned = pods.filter((pod) => ordinalOf(pod) < first || ordinalOf(pod) >= end).sort(highestFirst);
    for (const pod of condemned) {
      if (!pod.metadata.deletionTimestamp) await owned.delete(set, pod);
      if (ordered) return false;
    }
    return settled && condemned.length === 0;
  }

  async function update(set: StatefulSet, pods: readonly Pod[], revision: Revision): Promise<void> {
    if (set.spec?.updateStrategy?.type === 'OnDelete') return;
    const partition = set.spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
    const candidates = pods.filter((pod) => ordinalOf(pod) >= partition).sort(highestFirst);
    for (const pod of candidates) {
      if (revisionOf(pod) !== revision.update && !pod.metadata.deletionTimestamp) {
        await owned.delete(set, pod);
        return;
      }
      if (!isActive(pod) || !isAvailable(pod, set.spec?.minReadySeconds ?? 0, clock.now())) return;
    }
  }

  /** Deletes the claims of pods that a scale-down removed, if its retention policy is Delete. */
  async function releaseClaims(set: StatefulSet): Promise<void> {
    if (set.spec?.persistentVolumeClaimRetentionPolicy?.whenScaled !== 'Delete') return;
    const end = (set.spec.ordinals?.start ?? 0) + (set.spec.replicas ?? 1);
    const { namespace } = set.metadata;
    for (const template of set.spec.volumeClaimTemplates ?? []) {
      for (let ordinal = end; ; ordinal++) {
        const name = claimName(template.metadata?.name ?? '', set, ordinal);
        const claim = claims.store.get({ name, namespace });
        if (!claim) break;
        if (!claim.metadata.deletionTimestamp) await remove(kube, Kinds.PersistentVolumeClaim, claim);
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

  async function reconcile(set: StatefulSet): Promise<NextLook> {
    if (!set.spec) return undefined;
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
    await writeStatus(kube, Kinds.StatefulSet, set, statusOf(set, pods, revision));
    const inUse = new Set([current, target, ...pods.map((pod) => revisionOf(pod) ?? '')]);
    await revisions.prune(set, set.spec.revisionHistoryLimit ?? 10, inUse);
    return untilNextAvailable(pods, set.spec.minReadySeconds ?? 0, clock.now());
  }

  return controlLoop(context, {
    name: 'statefulset',
    of: informers.statefulSets,
    also: [owned.watch()],
    gathers: true,
    reconcile,
  });
}
