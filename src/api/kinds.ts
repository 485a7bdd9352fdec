/**
 * All kinds used with the API server: `Kinds`, to pass to `Kube`, and the types of built-in objects with the metadata
 * that stored objects always have.
 */
import type { CustomResourceDefinition as RawCustomResourceDefinition } from 'kubernetes-types/apiextensions/v1.js';
import type * as apps from 'kubernetes-types/apps/v1.js';
import type * as autoscaling from 'kubernetes-types/autoscaling/v2.js';
import type * as batch from 'kubernetes-types/batch/v1.js';
import type * as coordination from 'kubernetes-types/coordination/v1.js';
import type * as core from 'kubernetes-types/core/v1.js';
import type * as policy from 'kubernetes-types/policy/v1.js';
import type * as scheduling from 'kubernetes-types/scheduling/v1.js';
import type * as storage from 'kubernetes-types/storage/v1.js';
import type { KubeObject, ResourceKind, WithMeta } from './object.ts';
import type { AksNodeClass } from './kinds/aksNodeClass.ts';
import type { CapacityBuffer } from './kinds/capacityBuffer.ts';
import type { KwokNodeClass } from './kinds/kwokNodeClass.ts';
import type { NodeClaim } from './kinds/nodeClaim.ts';
import type { NodeOverlay } from './kinds/nodeOverlay.ts';
import type { NodePool } from './kinds/nodePool.ts';

export type Pod = WithMeta<core.Pod>;
export type Node = WithMeta<core.Node>;
export type Namespace = WithMeta<core.Namespace>;
export type PersistentVolumeClaim = WithMeta<core.PersistentVolumeClaim>;
export type PersistentVolume = WithMeta<core.PersistentVolume>;
export type Service = WithMeta<core.Service>;
export type ConfigMap = WithMeta<core.ConfigMap>;
export type Secret = WithMeta<core.Secret>;
export type ServiceAccount = WithMeta<core.ServiceAccount>;
export type Event = WithMeta<core.Event>;
export type LimitRange = WithMeta<core.LimitRange>;
export type PodTemplate = WithMeta<core.PodTemplate>;
export type ReplicationController = WithMeta<core.ReplicationController>;
export type Deployment = WithMeta<apps.Deployment>;
export type ReplicaSet = WithMeta<apps.ReplicaSet>;
export type DaemonSet = WithMeta<apps.DaemonSet>;
export type StatefulSet = WithMeta<apps.StatefulSet>;
export type ControllerRevision = WithMeta<apps.ControllerRevision>;
export type Job = WithMeta<batch.Job>;
export type CronJob = WithMeta<batch.CronJob>;
export type PodDisruptionBudget = WithMeta<policy.PodDisruptionBudget>;
export type Lease = WithMeta<coordination.Lease>;
export type StorageClass = WithMeta<storage.StorageClass>;
export type CSINode = WithMeta<storage.CSINode>;
export type VolumeAttachment = WithMeta<storage.VolumeAttachment>;
export type PriorityClass = WithMeta<scheduling.PriorityClass>;
export type HorizontalPodAutoscaler = WithMeta<autoscaling.HorizontalPodAutoscaler>;
export type CustomResourceDefinition = WithMeta<RawCustomResourceDefinition>;

type Extra = Partial<Pick<ResourceKind<KubeObject>, 'shortNames' | 'categories'>>;

function describe<T extends KubeObject>(
  apiVersion: string,
  kind: string,
  plural: string,
  scope: 'Namespaced' | 'Cluster',
  extra: Extra = {},
): ResourceKind<T> {
  const [group, version] = apiVersion.includes('/') ? (apiVersion.split('/') as [string, string]) : ['', apiVersion];
  const singular = kind.toLowerCase();
  return { group, version, kind, plural, singular, namespaced: scope === 'Namespaced', ...extra };
}

const ALL = { categories: ['all'] };

export const Kinds = {
  Pod: describe<Pod>('v1', 'Pod', 'pods', 'Namespaced', { shortNames: ['po'], ...ALL }),
  Node: describe<Node>('v1', 'Node', 'nodes', 'Cluster', { shortNames: ['no'] }),
  Namespace: describe<Namespace>('v1', 'Namespace', 'namespaces', 'Cluster', { shortNames: ['ns'] }),
  PersistentVolumeClaim: describe<PersistentVolumeClaim>(
    'v1',
    'PersistentVolumeClaim',
    'persistentvolumeclaims',
    'Namespaced',
    { shortNames: ['pvc'] },
  ),
  PersistentVolume: describe<PersistentVolume>('v1', 'PersistentVolume', 'persistentvolumes', 'Cluster', {
    shortNames: ['pv'],
  }),
  Service: describe<Service>('v1', 'Service', 'services', 'Namespaced', { shortNames: ['svc'], ...ALL }),
  ConfigMap: describe<ConfigMap>('v1', 'ConfigMap', 'configmaps', 'Namespaced', { shortNames: ['cm'] }),
  Secret: describe<Secret>('v1', 'Secret', 'secrets', 'Namespaced'),
  ServiceAccount: describe<ServiceAccount>('v1', 'ServiceAccount', 'serviceaccounts', 'Namespaced', {
    shortNames: ['sa'],
  }),
  Event: describe<Event>('v1', 'Event', 'events', 'Namespaced', { shortNames: ['ev'] }),
  LimitRange: describe<LimitRange>('v1', 'LimitRange', 'limitranges', 'Namespaced', { shortNames: ['limits'] }),
  PodTemplate: describe<PodTemplate>('v1', 'PodTemplate', 'podtemplates', 'Namespaced'),
  ReplicationController: describe<ReplicationController>(
    'v1',
    'ReplicationController',
    'replicationcontrollers',
    'Namespaced',
    { shortNames: ['rc'], ...ALL },
  ),
  Deployment: describe<Deployment>('apps/v1', 'Deployment', 'deployments', 'Namespaced', {
    shortNames: ['deploy'],
    ...ALL,
  }),
  ReplicaSet: describe<ReplicaSet>('apps/v1', 'ReplicaSet', 'replicasets', 'Namespaced', {
    shortNames: ['rs'],
    ...ALL,
  }),
  DaemonSet: describe<DaemonSet>('apps/v1', 'DaemonSet', 'daemonsets', 'Namespaced', { shortNames: ['ds'], ...ALL }),
  StatefulSet: describe<StatefulSet>('apps/v1', 'StatefulSet', 'statefulsets', 'Namespaced', {
    shortNames: ['sts'],
    ...ALL,
  }),
  ControllerRevision: describe<ControllerRevision>(
    'apps/v1',
    'ControllerRevision',
    'controllerrevisions',
    'Namespaced',
  ),
  Job: describe<Job>('batch/v1', 'Job', 'jobs', 'Namespaced', ALL),
  CronJob: describe<CronJob>('batch/v1', 'CronJob', 'cronjobs', 'Namespaced', { shortNames: ['cj'], ...ALL }),
  PodDisruptionBudget: describe<PodDisruptionBudget>(
    'policy/v1',
    'PodDisruptionBudget',
    'poddisruptionbudgets',
    'Namespaced',
    { shortNames: ['pdb'] },
  ),
  Lease: describe<Lease>('coordination.k8s.io/v1', 'Lease', 'leases', 'Namespaced'),
  StorageClass: describe<StorageClass>('storage.k8s.io/v1', 'StorageClass', 'storageclasses', 'Cluster', {
    shortNames: ['sc'],
  }),
  CSINode: describe<CSINode>('storage.k8s.io/v1', 'CSINode', 'csinodes', 'Cluster'),
  VolumeAttachment: describe<VolumeAttachment>('storage.k8s.io/v1', 'VolumeAttachment', 'volumeattachments', 'Cluster'),
  PriorityClass: describe<PriorityClass>('scheduling.k8s.io/v1', 'PriorityClass', 'priorityclasses', 'Cluster', {
    shortNames: ['pc'],
  }),
  HorizontalPodAutoscaler: describe<HorizontalPodAutoscaler>(
    'autoscaling/v2',
    'HorizontalPodAutoscaler',
    'horizontalpodautoscalers',
    'Namespaced',
    { shortNames: ['hpa'], ...ALL },
  ),
  CustomResourceDefinition: describe<CustomResourceDefinition>(
    'apiextensions.k8s.io/v1',
    'CustomResourceDefinition',
    'customresourcedefinitions',
    'Cluster',
    { shortNames: ['crd', 'crds'], categories: ['api-extensions'] },
  ),
  NodePool: describe<NodePool>('karpenter.sh/v1', 'NodePool', 'nodepools', 'Cluster', {
    categories: ['karpenter', 'nap'],
  }),
  NodeClaim: describe<NodeClaim>('karpenter.sh/v1', 'NodeClaim', 'nodeclaims', 'Cluster', {
    categories: ['karpenter', 'nap'],
  }),
  NodeOverlay: describe<NodeOverlay>('karpenter.sh/v1alpha1', 'NodeOverlay', 'nodeoverlays', 'Cluster', {
    shortNames: ['overlays'],
    categories: ['karpenter'],
  }),
  AKSNodeClass: describe<AksNodeClass>('karpenter.azure.com/v1beta1', 'AKSNodeClass', 'aksnodeclasses', 'Cluster', {
    shortNames: ['aksnc', 'aksncs'],
    categories: ['karpenter', 'nap'],
  }),
  CapacityBuffer: describe<CapacityBuffer>(
    'autoscaling.x-k8s.io/v1beta1',
    'CapacityBuffer',
    'capacitybuffers',
    'Namespaced',
    { shortNames: ['cb'], categories: ['autoscaling'] },
  ),
  KWOKNodeClass: describe<KwokNodeClass>('karpenter.kwok.sh/v1alpha1', 'KWOKNodeClass', 'kwoknodeclasses', 'Cluster', {
    shortNames: ['kwoknc', 'kwokncs'],
    categories: ['karpenter'],
  }),
} as const;
