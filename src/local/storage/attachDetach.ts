/**
 * Keeps a VolumeAttachment for each disk that a pod on a node uses, until the last such pod is gone. A disk is attached
 * to one node at a time.
 */
import { createHash } from 'node:crypto';
import { Kinds, type PersistentVolume, type Pod, type VolumeAttachment } from '../../api/kinds.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { refOf, watch } from '../../kube/runtime/watch.ts';
import { isTerminal } from '../../pods/podPredicates.ts';
import { BY_CLAIM, BY_VOLUME, claimsOf, volumeOf, type ClusterInformers } from '../clusterInformers.ts';
import { controlLoop, soonest, type ControlPlaneContext, type NextLook } from '../controlLoop.ts';
import { isReady } from '../workloads/podState.ts';
import { createIfAbsent, merge, remove } from '../writes.ts';
import { DISK_DRIVER } from './storageClasses.ts';

/** Milliseconds to attach or detach a disk. */
const SWITCHING = 2_000;
const FINALIZER = 'external-attacher/disk-csi-azure-com';
/** Milliseconds after which disks are detached from a node that is not ready. */
const FORCE_DETACH = 360_000;

function attachmentName(volume: string, node: string): string {
  return `csi-${createHash('sha256').update(`${volume}${DISK_DRIVER}${node}`).digest('hex')}`;
}

/** Returns the volumes of a pod's bound claims. */
function volumesOf(pod: Pod, { claims, volumes }: ClusterInformers): readonly PersistentVolume[] {
  return claimsOf(pod).flatMap((key) => {
    const name = claims.store.get(refOf(key))?.spec?.volumeName;
    return (name && volumes.store.get({ name })) || [];
  });
}

/** Whether all disks of a pod are attached to its node, so that its containers may start. */
export function volumesReady(pod: Pod, informers: ClusterInformers): boolean {
  return volumesOf(pod, informers)
    .filter(({ spec }) => spec?.csi?.driver === DISK_DRIVER)
    .every(({ metadata }) =>
      informers.attachments.store
        .byIndex(BY_VOLUME, metadata.name)
        .some(({ spec, status }) => spec.nodeName === pod.spec?.nodeName && status?.attached),
    );
}

export function attachDetachController(context: ControlPlaneContext): Controller {
  const { kube, clock, informers } = context;
  const { pods, nodes, volumes, attachments } = informers;
  /** When the attaching or detaching of a disk began. */
  const since = new Map<string, number>();

  const elapsed = (what: string): number => {
    const start = since.get(what) ?? clock.now();
    since.set(what, start);
    return clock.now() - start;
  };

  function usersOf(volume: PersistentVolume): readonly Pod[] {
    const ref = volume.spec?.claimRef;
    if (!ref) return [];
    return pods.store
      .byIndex(BY_CLAIM, `${ref.namespace ?? ''}/${ref.name ?? ''}`)
      .filter((pod) => pod.spec?.nodeName && !isTerminal(pod));
  }

  async function detach(attachment: VolumeAttachment): Promise<NextLook> {
    const { name, deletionTimestamp } = attachment.metadata;
    const node = nodes.store.get({ name: attachment.spec.nodeName });
    // A node that is not ready may still write to its disk.
    const patience = node && !isReady(node) ? FORCE_DETACH : SWITCHING;
    const left = patience - elapsed(`detach ${name}`);
    if (!deletionTimestamp) await remove(kube, Kinds.VolumeAttachment, attachment);
    if (left > 0 && node) return left;
    await merge(kube, Kinds.VolumeAttachment, attachment, { metadata: { finalizers: [] } });
    since.delete(`detach ${name}`);
    since.delete(`attach ${name}`);
    return undefined;
  }

  async function attach(volume: string, node: string, existing: VolumeAttachment | undefined): Promise<NextLook> {
    const name = attachmentName(volume, node);
    if (existing === undefined) {
      await createIfAbsent(kube, Kinds.VolumeAttachment, {
        metadata: { name, finalizers: [FINALIZER] },
        spec: { attacher: DISK_DRIVER, nodeName: node, source: { persistentVolumeName: volume } },
        status: { attached: false },
      });
    }
    if (existing?.status?.attached) return undefined;
    const left = SWITCHING - elapsed(`attach ${name}`);
    if (left > 0) return left;
    await merge(kube, Kinds.VolumeAttachment, { metadata: { name } }, { status: { attached: true } }, 'status');
    since.delete(`attach ${name}`);
    return undefined;
  }

  /** Attaches and detaches a volume by the pods that use it; detaches a volume that was deleted. */
  async function reconcile(name: string, volume?: PersistentVolume): Promise<NextLook> {
    const existing = attachments.store.byIndex(BY_VOLUME, name);
    const isDisk = volume?.spec?.csi?.driver === DISK_DRIVER;
    const wanted = new Set(volume && isDisk ? usersOf(volume).map((pod) => pod.spec?.nodeName ?? '') : []);
    const hasNode = (node: string): boolean => nodes.store.get({ name: node }) !== undefined;
    const waits: NextLook[] = [];
    for (const attachment of existing) {
      const { nodeName } = attachment.spec;
      if (attachment.metadata.deletionTimestamp || !wanted.has(nodeName) || !hasNode(nodeName)) {
        waits.push(await detach(attachment));
      }
    }
    const [node] = [...wanted].sort();
    const current = existing.find((attachment) => attachment.spec.nodeName === node);
    const isHeld = existing.some((each) => each !== current || each.metadata.deletionTimestamp !== undefined);
    if (node !== undefined && !isHeld && hasNode(node)) waits.push(await attach(name, node, current));
    return soonest(...waits);
  }

  const onNode = (node: string): VolumeAttachment[] =>
    [...attachments.store.list()].filter(({ spec }) => spec.nodeName === node);
  return controlLoop(context, {
    name: 'attachdetach',
    of: volumes,
    also: [
      watch(attachments, ({ object }) => volumeOf(object)),
      watch(pods, ({ object }) =>
        object.spec?.nodeName ? volumesOf(object, informers).map(({ metadata }) => metadata.name) : [],
      ),
      watch(nodes, ({ type, object }) => (type === 'deleted' ? onNode(object.metadata.name).flatMap(volumeOf) : [])),
    ],
    untilGone: true,
    reconcile: (volume, name) => reconcile(name, volume),
    gone: reconcile,
  });
}
