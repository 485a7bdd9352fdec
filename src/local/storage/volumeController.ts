/**
 * Persistent volumes. In: claims and the storage classes they name. Out: disks made in the zone of the node that the
 * scheduler chose (or at once, for shares), claims bound to volumes, and volumes removed when nobody wants them.
 */
import {
  Kinds,
  type Node,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  type StorageClass,
  type VolumeAttachment,
} from '../../api/kinds.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Random } from '../../clock/random.ts';
import { ignoreNotFound, isAlreadyExists, isNotFound } from '../../kube/errors.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Kube } from '../../kube/kube.ts';
import type { Log } from '../../kube/log.ts';
import type { Controller, ReconcileResult } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { keyOf, refOf, watch } from '../../kube/runtime/watch.ts';
import { Labels } from '../../api/labels.ts';
import { Quantity } from '../../units/quantity.ts';
import { BY_CLAIM, byClaimIndex } from './claimIndex.ts';
import { SELECTED_NODE } from '../scheduler/schedulerWrites.ts';
import { DISK_DRIVER } from './storageClasses.ts';

export interface VolumeOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly pods: Informer<Pod>;
  readonly nodes: Informer<Node>;
  readonly claims: Informer<PersistentVolumeClaim>;
  readonly volumes: Informer<PersistentVolume>;
  readonly storageClasses: Informer<StorageClass>;
  readonly attachments: Informer<VolumeAttachment>;
  /** Where Azure keeps the disks: the beginning of their ids. */
  readonly resourceGroupId: string;
  /** Milliseconds that a disk takes to be made. */
  readonly provisioning?: number;
}

const CLAIM_FINALIZER = 'kubernetes.io/pvc-protection';
const VOLUME_FINALIZER = 'kubernetes.io/pv-protection';
const BOUND_BY_CONTROLLER = { 'pv.kubernetes.io/bind-completed': 'yes', 'pv.kubernetes.io/bound-by-controller': 'yes' };

const isFinished = (pod: Pod): boolean => pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
const sizeOf = (capacity: Readonly<Record<string, string>> | undefined): number =>
  Quantity.tryParse(capacity?.['storage'] ?? '0')?.value() ?? 0;

export function volumeControllers(options: VolumeOptions): readonly Controller[] {
  const { kube, clock, random, log, pods, nodes, claims, volumes, storageClasses, attachments } = options;
  const { provisioning = 2_000 } = options;
  /** When the making of a claim's disk began. */
  const begun = new Map<string, number>();

  function isUsed(claim: PersistentVolumeClaim): boolean {
    return pods.store.byIndex(BY_CLAIM, keyOf(claim)).some((pod) => !isFinished(pod));
  }

  async function setFinalizers(claim: PersistentVolumeClaim, finalizers: readonly string[]): Promise<void> {
    const { name, namespace, resourceVersion } = claim.metadata;
    const body = { metadata: { resourceVersion, finalizers } };
    await ignoreNotFound(kube.patch(Kinds.PersistentVolumeClaim, { name, namespace }, { type: 'merge', body }));
  }

  /** An existing volume that fits the claim, the smallest that does. */
  function findAvailable(claim: PersistentVolumeClaim): PersistentVolume | undefined {
    const wanted = sizeOf(claim.spec?.resources?.requests);
    return [...volumes.store.list()]
      .filter(({ spec, status, metadata }) => {
        if (metadata.deletionTimestamp) return false;
        const ref = spec?.claimRef;
        if (ref)
          return (
            ref.namespace === claim.metadata.namespace &&
            ref.name === claim.metadata.name &&
            status?.phase !== 'Released'
          );
        return (
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
    await kube.patch(
      Kinds.PersistentVolume,
      { name: volume.metadata.name },
      { type: 'merge', body: { spec: { claimRef } } },
    );
    const status = { subresource: 'status' };
    await kube.patch(
      Kinds.PersistentVolume,
      { name: volume.metadata.name },
      { type: 'merge', body: { status: { phase: 'Bound' } } },
      status,
    );
    const ref = { name, namespace };
    await kube.patch(Kinds.PersistentVolumeClaim, ref, {
      type: 'merge',
      body: { metadata: { annotations: BOUND_BY_CONTROLLER }, spec: { volumeName: volume.metadata.name } },
    });
    const { accessModes, capacity } = volume.spec ?? {};
    const body = { status: { phase: 'Bound', accessModes, capacity } };
    await kube.patch(Kinds.PersistentVolumeClaim, ref, { type: 'merge', body }, status);
  }

  async function provision(
    claim: PersistentVolumeClaim,
    storageClass: StorageClass,
    node: Node | undefined,
  ): Promise<PersistentVolume> {
    const name = `pvc-${claim.metadata.uid ?? ''}`;
    const zone = node?.metadata.labels?.[Labels.diskZone];
    const isDisk = storageClass.provisioner === DISK_DRIVER;
    const values = [zone ?? ''];
    try {
      return await kube.create(Kinds.PersistentVolume, {
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
              ? `${options.resourceGroupId}/providers/Microsoft.Compute/disks/${name}`
              : `local#files#${name}#`,
            volumeAttributes: { ...storageClass.parameters },
          },
          ...(isDisk &&
            zone !== undefined && {
              nodeAffinity: {
                required: {
                  nodeSelectorTerms: [{ matchExpressions: [{ key: Labels.diskZone, operator: 'In', values }] }],
                },
              },
            }),
        },
      });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      return kube.get(Kinds.PersistentVolume, { name });
    }
  }

  async function reconcileClaim(key: string): Promise<ReconcileResult | undefined> {
    const claim = claims.store.get(refOf(key));
    if (!claim) {
      begun.delete(key);
      return undefined;
    }
    const finalizers = claim.metadata.finalizers ?? [];
    if (claim.metadata.deletionTimestamp) {
      if (finalizers.includes(CLAIM_FINALIZER) && !isUsed(claim)) {
        await setFinalizers(
          claim,
          finalizers.filter((finalizer) => finalizer !== CLAIM_FINALIZER),
        );
      }
      return undefined;
    }
    if (!finalizers.includes(CLAIM_FINALIZER)) {
      await setFinalizers(claim, [...finalizers, CLAIM_FINALIZER]);
      return undefined;
    }
    if (claim.status?.phase === 'Bound' && claim.spec?.volumeName) return undefined;
    const storageClass = storageClasses.store.get({ name: claim.spec?.storageClassName ?? '' });
    const selected = claim.metadata.annotations?.[SELECTED_NODE];
    const waits = storageClass?.volumeBindingMode === 'WaitForFirstConsumer' && selected === undefined;
    const available = waits ? undefined : findAvailable(claim);
    if (available) {
      await bind(claim, available);
      return undefined;
    }
    if (!storageClass || waits) return undefined;
    const node = selected === undefined ? undefined : nodes.store.get({ name: selected });
    if (selected !== undefined && !node) {
      // The node went before its disk was made: the scheduler must choose again.
      const body = { metadata: { annotations: { [SELECTED_NODE]: null } } };
      await kube.patch(Kinds.PersistentVolumeClaim, refOf(key), { type: 'merge', body });
      return undefined;
    }
    const start = begun.get(key) ?? clock.now();
    begun.set(key, start);
    const wait = start + provisioning - clock.now();
    if (wait > 0) return { requeueAfter: wait };
    begun.delete(key);
    try {
      await bind(claim, await provision(claim, storageClass, node));
    } catch (error) {
      // The claim was deleted meanwhile; its volume follows it.
      if (!isNotFound(error)) throw error;
    }
    return undefined;
  }

  async function reconcileVolume(name: string): Promise<ReconcileResult | undefined> {
    const volume = volumes.store.get({ name });
    if (!volume) return undefined;
    const ref = volume.spec?.claimRef;
    const claim = ref && claims.store.get({ name: ref.name ?? '', namespace: ref.namespace });
    const isClaimed = claim !== undefined && (ref?.uid === undefined || claim.metadata.uid === ref.uid);
    const phase = isClaimed ? 'Bound' : ref?.uid ? 'Released' : 'Available';
    if (volume.metadata.deletionTimestamp) {
      const finalizers = (volume.metadata.finalizers ?? []).filter((finalizer) => finalizer !== VOLUME_FINALIZER);
      if (phase !== 'Bound' && finalizers.length !== (volume.metadata.finalizers ?? []).length) {
        await ignoreNotFound(
          kube.patch(Kinds.PersistentVolume, { name }, { type: 'merge', body: { metadata: { finalizers } } }),
        );
      }
      return undefined;
    }
    if (volume.status?.phase !== phase) {
      const body = { status: { phase } };
      await ignoreNotFound(
        kube.patch(Kinds.PersistentVolume, { name }, { type: 'merge', body }, { subresource: 'status' }),
      );
    }
    if (phase !== 'Released' || volume.spec?.persistentVolumeReclaimPolicy !== 'Delete') return undefined;
    // A disk cannot be deleted while a machine has it.
    const attached = [...attachments.store.list()].some(({ spec }) => spec.source.persistentVolumeName === name);
    if (!attached) await ignoreNotFound(kube.delete(Kinds.PersistentVolume, { name }));
    return undefined;
  }

  return [
    reconciler({
      name: 'local.volumeclaims',
      concurrency: 8,
      clock,
      random,
      log,
      watches: [
        watch(claims),
        watch(pods, ({ object }) => claimsOfPod(object)),
        watch(storageClasses, () =>
          [...claims.store.list()].filter(({ status }) => status?.phase !== 'Bound').map(keyOf),
        ),
        watch(volumes, ({ object }) =>
          object.status?.phase === 'Available'
            ? [...claims.store.list()].filter(({ status }) => status?.phase !== 'Bound').map(keyOf)
            : [],
        ),
      ],
      reconcile: reconcileClaim,
    }),
    reconciler({
      name: 'local.volumes',
      concurrency: 8,
      clock,
      random,
      log,
      watches: [
        watch(volumes),
        watch(claims, ({ object }) => (object.spec?.volumeName ? [object.spec.volumeName] : [])),
        watch(attachments, ({ object }) =>
          object.spec.source.persistentVolumeName ? [object.spec.source.persistentVolumeName] : [],
        ),
      ],
      reconcile: reconcileVolume,
    }),
  ];
}

/** Only a pod that is over or going frees a claim. */
function claimsOfPod(pod: Pod): string[] {
  if (!isFinished(pod) && !pod.metadata.deletionTimestamp) return [];
  return [...byClaimIndex(pod)];
}
