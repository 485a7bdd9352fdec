/**
 * Persistent volumes: creates disks in the zone of the node that the scheduler chose (file shares at once), binds
 * claims to volumes, and deletes volumes whose claim is gone.
 */
import {
  Kinds,
  type Node,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type StorageClass,
} from '../../api/kinds.ts';
import { Labels } from '../../api/labels.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { keyOf, watch } from '../../kube/runtime/watch.ts';
import { isTerminal, isTerminating } from '../../pods/podPredicates.ts';
import { Quantity } from '../../units/quantity.ts';
import { BY_CLAIM, BY_VOLUME, claimsOf, volumeOf } from '../clusterInformers.ts';
import { controlLoop, type ControlPlaneContext, type NextLook } from '../controlLoop.ts';
import { SELECTED_NODE } from '../scheduler/schedulerWrites.ts';
import { createIfAbsent, merge, remove, setFinalizers } from '../writes.ts';
import { DISK_DRIVER } from './storageClasses.ts';

/** Milliseconds to create a disk. */
const PROVISIONING = 2_000;
const CLAIM_FINALIZER = 'kubernetes.io/pvc-protection';
const VOLUME_FINALIZER = 'kubernetes.io/pv-protection';
const BOUND_BY_CONTROLLER = { 'pv.kubernetes.io/bind-completed': 'yes', 'pv.kubernetes.io/bound-by-controller': 'yes' };

const sizeOf = (capacity: Readonly<Record<string, string>> | undefined): number =>
  Quantity.tryParse(capacity?.['storage'] ?? '0')?.value() ?? 0;

/** Whether the volume is not reserved for another claim. */
function isFor({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const ref = spec?.claimRef;
  if (!ref) return true;
  const isSame = ref.namespace === metadata.namespace && ref.name === metadata.name;
  return isSame && (ref.uid === undefined || ref.uid === metadata.uid);
}

/** `resourceGroupId` is the resource group of the disks, with which their ids begin. */
export function volumeControllers(context: ControlPlaneContext, resourceGroupId: string): readonly Controller[] {
  const { kube, clock, informers } = context;
  const { pods, nodes, claims, volumes, storageClasses, attachments } = informers;
  /** When the creation of a claim's disk began. */
  const begun = new Map<string, number>();

  /** Returns the smallest volume that fits the claim; while the claim waits for a pod, only one that names it. */
  function findAvailable(claim: PersistentVolumeClaim, waits: boolean): PersistentVolume | undefined {
    const wanted = sizeOf(claim.spec?.resources?.requests);
    return [...volumes.store.list()]
      .filter((volume) => {
        const { spec, status, metadata } = volume;
        if (metadata.deletionTimestamp) return false;
        if (spec?.claimRef) return isFor(volume, claim) && status?.phase !== 'Released';
        return (
          !waits &&
          status?.phase === 'Available' &&
          (spec?.storageClassName ?? '') === (claim.spec?.storageClassName ?? '') &&
          sizeOf(spec?.capacity) >= wanted &&
          (claim.spec?.accessModes ?? []).every((mode) => spec?.accessModes?.includes(mode))
        );
      })
      .sort((left, right) => sizeOf(left.spec?.capacity) - sizeOf(right.spec?.capacity))[0];
  }

  async function bind(claim: PersistentVolumeClaim, volume: PersistentVolume): Promise<void> {
    const { name, namespace, uid } = claim.metadata;
    const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid };
    const { accessModes, capacity } = volume.spec ?? {};
    await merge(kube, Kinds.PersistentVolume, volume, { spec: { claimRef } });
    await merge(kube, Kinds.PersistentVolume, volume, { status: { phase: 'Bound' } }, 'status');
    await merge(kube, Kinds.PersistentVolumeClaim, claim, {
      metadata: { annotations: BOUND_BY_CONTROLLER },
      spec: { volumeName: volume.metadata.name },
    });
    const status = { phase: 'Bound', accessModes, capacity };
    await merge(kube, Kinds.PersistentVolumeClaim, claim, { status }, 'status');
  }

  async function provision(
    claim: PersistentVolumeClaim,
    storageClass: StorageClass,
    node: Node | undefined,
  ): Promise<PersistentVolume> {
    const name = `pvc-${claim.metadata.uid ?? ''}`;
    const zone = node?.metadata.labels?.[Labels.diskZone];
    const isDisk = storageClass.provisioner === DISK_DRIVER;
    const inZone = { matchExpressions: [{ key: Labels.diskZone, operator: 'In', values: [zone ?? ''] }] };
    const created = await createIfAbsent(kube, Kinds.PersistentVolume, {
      metadata: {
        name,
        annotations: { 'pv.kubernetes.io/provisioned-by': storageClass.provisioner },
        finalizers: [VOLUME_FINALIZER],
      },
      spec: {
        accessModes: claim.spec?.accessModes ?? ['ReadWriteOnce'],
        capacity: { storage: claim.spec?.resources?.requests?.['storage'] ?? '1Gi' },
        persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
        storageClassName: storageClass.metadata.name,
        volumeMode: claim.spec?.volumeMode ?? 'Filesystem',
        csi: {
          driver: storageClass.provisioner,
          volumeHandle: isDisk
            ? `${resourceGroupId}/providers/Microsoft.Compute/disks/${name}`
            : `local#files#${name}#`,
          volumeAttributes: { ...storageClass.parameters },
        },
        ...(isDisk && zone !== undefined && { nodeAffinity: { required: { nodeSelectorTerms: [inZone] } } }),
      },
    });
    return created ?? kube.get(Kinds.PersistentVolume, { name });
  }

  async function reconcileClaim(claim: PersistentVolumeClaim, key: string): Promise<NextLook> {
    const finalizers = claim.metadata.finalizers ?? [];
    const isProtected = finalizers.includes(CLAIM_FINALIZER);
    if (claim.metadata.deletionTimestamp) {
      // Kubelets start no pod whose claim is being deleted, so only pods that have a node keep it.
      const isUsed = pods.store.byIndex(BY_CLAIM, key).some((pod) => pod.spec?.nodeName && !isTerminal(pod));
      const others = finalizers.filter((finalizer) => finalizer !== CLAIM_FINALIZER);
      return isProtected && !isUsed ? setFinalizers(kube, Kinds.PersistentVolumeClaim, claim, others) : undefined;
    }
    if (!isProtected) {
      return setFinalizers(kube, Kinds.PersistentVolumeClaim, claim, [...finalizers, CLAIM_FINALIZER]);
    }
    if (claim.status?.phase === 'Bound' && claim.spec?.volumeName) return undefined;
    const storageClass = storageClasses.store.get({ name: claim.spec?.storageClassName ?? '' });
    const selected = claim.metadata.annotations?.[SELECTED_NODE];
    const waits = storageClass?.volumeBindingMode === 'WaitForFirstConsumer' && selected === undefined;
    const { volumeName } = claim.spec ?? {};
    if (volumeName) {
      const named = volumes.store.get({ name: volumeName });
      return named && !named.metadata.deletionTimestamp && isFor(named, claim) ? bind(claim, named) : undefined;
    }
    const available = findAvailable(claim, waits);
    if (available) return bind(claim, available);
    if (!storageClass || waits) return undefined;
    const node = selected === undefined ? undefined : nodes.store.get({ name: selected });
    if (selected !== undefined && !node) {
      // The node was deleted before the disk was created: the scheduler must choose again.
      const body = { metadata: { annotations: { [SELECTED_NODE]: null } } };
      await merge(kube, Kinds.PersistentVolumeClaim, claim, body);
      return undefined;
    }
    const start = begun.get(key) ?? clock.now();
    begun.set(key, start);
    const wait = start + PROVISIONING - clock.now();
    if (wait > 0) return wait;
    begun.delete(key);
    return bind(claim, await provision(claim, storageClass, node));
  }

  async function reconcileVolume(volume: PersistentVolume, name: string): Promise<void> {
    const ref = volume.spec?.claimRef;
    const claim = ref && claims.store.get({ name: ref.name ?? '', namespace: ref.namespace });
    const isClaimed = claim !== undefined && (ref?.uid === undefined || claim.metadata.uid === ref.uid);
    const phase = isClaimed ? 'Bound' : ref?.uid ? 'Released' : 'Available';
    if (volume.metadata.deletionTimestamp) {
      const { finalizers = [] } = volume.metadata;
      const others = finalizers.filter((finalizer) => finalizer !== VOLUME_FINALIZER);
      if (phase !== 'Bound' && others.length < finalizers.length) {
        await merge(kube, Kinds.PersistentVolume, volume, { metadata: { finalizers: others } });
      }
      return;
    }
    if (volume.status?.phase !== phase)
      await merge(kube, Kinds.PersistentVolume, volume, { status: { phase } }, 'status');
    if (phase !== 'Released' || volume.spec?.persistentVolumeReclaimPolicy !== 'Delete') return;
    // A disk cannot be deleted while it is attached.
    if (attachments.store.byIndex(BY_VOLUME, name).length === 0) await remove(kube, Kinds.PersistentVolume, volume);
  }

  const unboundClaims = (): string[] =>
    [...claims.store.list()].filter(({ status }) => status?.phase !== 'Bound').map(keyOf);
  return [
    controlLoop(context, {
      name: 'volumeclaims',
      of: claims,
      also: [
        // Only a pod that has ended or is being deleted frees a claim.
        watch(pods, ({ object }) => (isTerminal(object) || isTerminating(object) ? claimsOf(object) : [])),
        watch(storageClasses, unboundClaims),
        watch(volumes, ({ object }) => (object.status?.phase === 'Released' ? [] : unboundClaims())),
      ],
      untilGone: true,
      reconcile: reconcileClaim,
      gone: (key) => void begun.delete(key),
    }),
    controlLoop(context, {
      name: 'volumes',
      of: volumes,
      also: [
        watch(claims, ({ object }) => (object.spec?.volumeName ? [object.spec.volumeName] : [])),
        watch(attachments, ({ object }) => volumeOf(object)),
      ],
      untilGone: true,
      reconcile: reconcileVolume,
    }),
  ];
}
