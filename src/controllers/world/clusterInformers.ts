import {
  Kinds,
  type CSINode,
  type DaemonSet,
  type LimitRange,
  type Namespace,
  type Node,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  type PodDisruptionBudget,
  type StorageClass,
  type VolumeAttachment,
} from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import type { KubeObject, ResourceKind } from '../../api/object.ts';
import type { CloudProvider } from '../../cloud/cloudProvider.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { Informer, Informers } from '../../kube/informer.ts';
import { BY_NODE, byNodeIndex } from '../node-termination/volumes.ts';
import { BY_NAMESPACE, byNamespaceIndex } from '../planning/limitRanges.ts';
import { isManaged } from './managed.ts';

/**
 * Events that wake a loop. The objects themselves are read from the cluster, which our own writes may have updated
 * already.
 */
export type EventSource<T extends KubeObject> = Pick<Informer<T>, 'subscribe'>;

/** Watches shared by the engine's loops. */
export interface ClusterInformers {
  readonly pods: EventSource<Pod>;
  readonly nodes: EventSource<Node>;
  readonly nodeClaims: EventSource<NodeClaim>;
  readonly nodePools: Informer<NodePool>;
  readonly daemonSets: Informer<DaemonSet>;
  readonly disruptionBudgets: Informer<PodDisruptionBudget>;
  /** Indexed by namespace (see planning/limitRanges.ts). Empty where reading them is forbidden. */
  readonly limitRanges: Informer<LimitRange>;
  readonly namespaces: Informer<Namespace>;
  readonly volumeClaims: Informer<PersistentVolumeClaim>;
  readonly volumes: Informer<PersistentVolume>;
  readonly storageClasses: Informer<StorageClass>;
  readonly csiNodes: Informer<CSINode>;
  /** Indexed by node (see node-termination/volumes.ts). */
  readonly volumeAttachments: Informer<VolumeAttachment>;
  readonly nodeClasses: readonly NodeClassInformer[];
}

interface NodeClassInformer {
  readonly kind: ResourceKind<KubeObject>;
  readonly informer: Informer<KubeObject>;
}

/**
 * Opens the watches and connects them to `cluster`. Call it before any loop subscribes, so that a loop woken by an
 * event finds it in the cluster already. Claims of other providers are ignored.
 */
export function clusterInformers(informers: Informers, cluster: Cluster, cloud: CloudProvider): ClusterInformers {
  const opened: ClusterInformers = {
    pods: informers.of(Kinds.Pod),
    nodes: informers.of(Kinds.Node),
    nodeClaims: informers.of(Kinds.NodeClaim),
    nodePools: informers.of(Kinds.NodePool),
    daemonSets: informers.of(Kinds.DaemonSet),
    disruptionBudgets: informers.of(Kinds.PodDisruptionBudget),
    limitRanges: informers.of(Kinds.LimitRange, { indexes: { [BY_NAMESPACE]: byNamespaceIndex }, optional: true }),
    namespaces: informers.of(Kinds.Namespace),
    volumeClaims: informers.of(Kinds.PersistentVolumeClaim),
    volumes: informers.of(Kinds.PersistentVolume),
    storageClasses: informers.of(Kinds.StorageClass),
    csiNodes: informers.of(Kinds.CSINode),
    volumeAttachments: informers.of(Kinds.VolumeAttachment, { indexes: { [BY_NODE]: byNodeIndex } }),
    nodeClasses: cloud.nodeClasses.map((kind) => ({ kind, informer: informers.of(kind) })),
  };
  opened.pods.subscribe(({ type, object }) =>
    type === 'deleted' ? cluster.removePod(object) : cluster.setPod(object),
  );
  opened.nodes.subscribe(({ type, object }) =>
    type === 'deleted' ? cluster.removeNode(object.metadata.name, object.metadata.uid) : cluster.setNode(object),
  );
  opened.nodeClaims.subscribe(({ type, object }) => {
    if (type === 'deleted') cluster.removeClaim(object.metadata.name, object.metadata.uid);
    else if (isManaged(object.spec.nodeClassRef, cloud)) cluster.setClaim(object);
  });
  opened.daemonSets.subscribe(({ type, object }) =>
    type === 'deleted' ? cluster.removeDaemonSet(object) : cluster.setDaemonSet(object),
  );
  return opened;
}
