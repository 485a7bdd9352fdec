/**
 * Which machine has which disk. In: pods on nodes, and the disks behind their claims. Out: VolumeAttachments, attached
 * after a while, and removed when the last pod that used the disk there is gone. A disk is on one machine at a time.
 */
import { createHash } from 'node:crypto';
import {
  Kinds,
  type Node,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  type VolumeAttachment,
} from '../../api/kinds.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Random } from '../../clock/random.ts';
import { ignoreNotFound, isAlreadyExists } from '../../kube/errors.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Kube } from '../../kube/kube.ts';
import type { Log } from '../../kube/log.ts';
import type { Controller, ReconcileResult } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { watch } from '../../kube/runtime/watch.ts';
import { BY_CLAIM, volumesOf } from './claimIndex.ts';
import { DISK_DRIVER } from './storageClasses.ts';

export interface AttachDetachOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly pods: Informer<Pod>;
  readonly nodes: Informer<Node>;
  readonly claims: Informer<PersistentVolumeClaim>;
  readonly volumes: Informer<PersistentVolume>;
  readonly attachments: Informer<VolumeAttachment>;
  /** Milliseconds to attach or detach a disk. */
  readonly switching?: number;
}

/** Name of the attachment informer's index by volume. */
export const BY_VOLUME = 'persistent-volume';
export const byVolumeIndex = ({ spec }: VolumeAttachment): readonly string[] =>
  spec.source.persistentVolumeName ? [spec.source.persistentVolumeName] : [];

const FINALIZER = 'external-attacher/disk-csi-azure-com';
/** A machine that does not answer keeps its disks for this long; then they are taken. */
const FORCE_DETACH = 360_000;

const isFinished = (pod: Pod): boolean => pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
const isReady = (node: Node): boolean =>
  node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;

function attachmentName(volume: string, node: string): string {
  return `csi-${createHash('sha256').update(`${volume}${DISK_DRIVER}${node}`).digest('hex')}`;
}

/** Whether all disks of a pod are on its node, so that its containers may start. */
export function volumesReady(
  pod: Pod,
  options: Pick<AttachDetachOptions, 'claims' | 'volumes' | 'attachments'>,
): boolean {
  return volumesOf(pod, options.claims, options.volumes)
    .filter(({ spec }) => spec?.csi?.driver === DISK_DRIVER)
    .every(({ metadata }) =>
      options.attachments.store
        .byIndex(BY_VOLUME, metadata.name)
        .some(({ spec, status }) => spec.nodeName === pod.spec?.nodeName && status?.attached),
    );
}

export function attachDetachController(options: AttachDetachOptions): Controller {
  const { kube, clock, random, log, pods, nodes, claims, volumes, attachments, switching = 2_000 } = options;
  /** When a switch of an attachment began, and when its node was first found silent. */
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
      .filter((pod) => pod.spec?.nodeName && !isFinished(pod));
  }

  async function detach(attachment: VolumeAttachment): Promise<number | undefined> {
    const { name, deletionTimestamp } = attachment.metadata;
    const node = nodes.store.get({ name: attachment.spec.nodeName });
    // Nobody can tell whether a silent machine still writes to its disk.
    const patience = node && !isReady(node) ? FORCE_DETACH : switching;
    const left = patience - elapsed(`detach ${name}`);
    if (!deletionTimestamp) await ignoreNotFound(kube.delete(Kinds.VolumeAttachment, { name }));
    if (left > 0 && node) return left;
    await ignoreNotFound(
      kube.patch(Kinds.VolumeAttachment, { name }, { type: 'merge', body: { metadata: { finalizers: [] } } }),
    );
    since.delete(`detach ${name}`);
    since.delete(`attach ${name}`);
    return undefined;
  }

  async function attach(
    volume: string,
    node: string,
    existing: VolumeAttachment | undefined,
  ): Promise<number | undefined> {
    const name = attachmentName(volume, node);
    if (existing === undefined) {
      try {
        await kube.create(Kinds.VolumeAttachment, {
          metadata: { name, finalizers: [FINALIZER] },
          spec: { attacher: DISK_DRIVER, nodeName: node, source: { persistentVolumeName: volume } },
          status: { attached: false },
        });
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
      }
    }
    if (existing?.status?.attached) return undefined;
    const left = switching - elapsed(`attach ${name}`);
    if (left > 0) return left;
    const body = { status: { attached: true } };
    await ignoreNotFound(
      kube.patch(Kinds.VolumeAttachment, { name }, { type: 'merge', body }, { subresource: 'status' }),
    );
    since.delete(`attach ${name}`);
    return undefined;
  }

  async function reconcile(name: string): Promise<ReconcileResult | undefined> {
    const volume = volumes.store.get({ name });
    const existing = attachments.store.byIndex(BY_VOLUME, name);
    const isDisk = volume?.spec?.csi?.driver === DISK_DRIVER;
    const wanted = new Set(volume && isDisk ? usersOf(volume).map((pod) => pod.spec?.nodeName ?? '') : []);
    const waits: number[] = [];
    const note = (wait: number | undefined): void => {
      if (wait !== undefined) waits.push(wait);
    };
    for (const attachment of existing) {
      const { nodeName } = attachment.spec;
      if (attachment.metadata.deletionTimestamp || !wanted.has(nodeName) || !nodes.store.get({ name: nodeName })) {
        note(await detach(attachment));
      }
    }
    const [node] = [...wanted].sort();
    const held = existing.find(
      (attachment) => attachment.metadata.deletionTimestamp || !wanted.has(attachment.spec.nodeName),
    );
    const current = existing.find((attachment) => attachment.spec.nodeName === node);
    const elsewhere = existing.some((attachment) => attachment !== current);
    if (node !== undefined && !held && !elsewhere && nodes.store.get({ name: node }))
      note(await attach(name, node, current));
    return waits.length > 0 ? { requeueAfter: Math.min(...waits) } : undefined;
  }

  return reconciler({
    name: 'local.attachdetach',
    concurrency: 8,
    clock,
    random,
    log,
    watches: [
      watch(volumes),
      watch(attachments, ({ object }) => byVolumeIndex(object)),
      watch(pods, ({ object }) =>
        object.spec?.nodeName ? volumesOf(object, claims, volumes).map(({ metadata }) => metadata.name) : [],
      ),
      watch(nodes, ({ type, object }) =>
        type === 'deleted'
          ? [...attachments.store.list()]
              .filter(({ spec }) => spec.nodeName === object.metadata.name)
              .flatMap((attachment) => [...byVolumeIndex(attachment)])
          : [],
      ),
    ],
    reconcile,
  });
}
