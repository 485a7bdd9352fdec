/** The informers, with their indexes, that the parts of the local control plane share. */
import {
  Kinds,
  type Deployment,
  type Pod,
  type ReplicaSet,
  type StatefulSet,
  type VolumeAttachment,
} from '../api/kinds.ts';
import type { KubeObject, OwnerReference } from '../api/object.ts';
import type { Informers } from '../kube/informer.ts';
import { keepAll } from '../kube/trim.ts';

/** Names of indexes. */
export const BY_NODE = 'spec.nodeName';
export const BY_CONTROLLER = 'controller-uid';
export const BY_NAMESPACE = 'metadata.namespace';
export const BY_CLAIM = 'persistent-volume-claim';
export const BY_ADDRESS = 'status.podIP';
export const BY_VOLUME = 'persistent-volume';

export const controllerOf = ({ metadata }: KubeObject): OwnerReference | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller);

/** Returns `namespace/name` of a pod's PersistentVolumeClaims, including those of its ephemeral volumes. */
export function claimsOf({ metadata, spec }: Pod): readonly string[] {
  const { namespace = '', name } = metadata;
  return (spec?.volumes ?? []).flatMap((volume) => {
    if (volume.persistentVolumeClaim) return [`${namespace}/${volume.persistentVolumeClaim.claimName}`];
    return volume.ephemeral ? [`${namespace}/${name}-${volume.name}`] : [];
  });
}

export const volumeOf = ({ spec }: VolumeAttachment): readonly string[] => present(spec.source.persistentVolumeName);

const present = (value: string | undefined): readonly string[] => (value ? [value] : []);
const byController = (object: KubeObject): readonly string[] => present(controllerOf(object)?.uid);
const OWNED = { indexes: { [BY_CONTROLLER]: byController } };
const POD_OPTIONS = {
  indexes: {
    [BY_NODE]: ({ spec }: Pod) => present(spec?.nodeName),
    [BY_CONTROLLER]: byController,
    [BY_NAMESPACE]: ({ metadata }: Pod) => [metadata.namespace ?? ''],
    [BY_CLAIM]: claimsOf,
    [BY_ADDRESS]: ({ status }: Pod) => present(status?.podIP),
  },
  // Kubelets and controllers read fields that the engine's trimmed pods lack.
  transform: keepAll,
};

export type ClusterInformers = ReturnType<typeof clusterInformers>;

// The return type is inferred from the kinds.
export function clusterInformers(informers: Informers) {
  return {
    attachments: informers.of(Kinds.VolumeAttachment, { indexes: { [BY_VOLUME]: volumeOf } }),
    autoscalers: informers.of(Kinds.HorizontalPodAutoscaler),
    budgets: informers.of(Kinds.PodDisruptionBudget),
    claims: informers.of(Kinds.PersistentVolumeClaim),
    cronJobs: informers.of(Kinds.CronJob),
    csiNodes: informers.of(Kinds.CSINode),
    daemonSets: informers.of(Kinds.DaemonSet),
    deployments: informers.of(Kinds.Deployment),
    jobs: informers.of(Kinds.Job, OWNED),
    leases: informers.of(Kinds.Lease),
    namespaces: informers.of(Kinds.Namespace),
    nodes: informers.of(Kinds.Node),
    pods: informers.of(Kinds.Pod, POD_OPTIONS),
    replicaSets: informers.of(Kinds.ReplicaSet, OWNED),
    revisions: informers.of(Kinds.ControllerRevision, OWNED),
    services: informers.of(Kinds.Service),
    statefulSets: informers.of(Kinds.StatefulSet),
    storageClasses: informers.of(Kinds.StorageClass),
    volumes: informers.of(Kinds.PersistentVolume),
  };
}

type Scaled = Deployment | ReplicaSet | StatefulSet;

/** Returns the workload that owns a pod, with its kind: a StatefulSet, a ReplicaSet, or the Deployment that owns it. */
export function workloadOf(
  pod: Pod,
  { replicaSets, deployments, statefulSets }: ClusterInformers,
): { readonly kind: string; readonly object: Scaled } | undefined {
  const { namespace } = pod.metadata;
  const found = (kind: string, object: Scaled | undefined): ReturnType<typeof workloadOf> => object && { kind, object };
  const owner = controllerOf(pod);
  if (owner?.kind === 'StatefulSet') return found(owner.kind, statefulSets.store.get({ name: owner.name, namespace }));
  if (owner?.kind !== 'ReplicaSet') return undefined;
  const set = replicaSets.store.get({ name: owner.name, namespace });
  const above = set && controllerOf(set);
  if (above?.kind !== 'Deployment') return found(owner.kind, set);
  return found(above.kind, deployments.store.get({ name: above.name, namespace }));
}

/** Returns the pods of a workload by owner's UID: the workload's own, and those of its ReplicaSets. */
export function podsByOwner(
  uid: string,
  { pods, replicaSets }: ClusterInformers,
): (readonly [string, readonly Pod[]])[] {
  const owners = [uid, ...replicaSets.store.byIndex(BY_CONTROLLER, uid).map(({ metadata }) => metadata.uid ?? '')];
  return owners.map((owner) => [owner, pods.store.byIndex(BY_CONTROLLER, owner)]);
}
