/**
 * The table of Kubernetes' own resources that the server offers. In: nothing. Out: one `Resource` per row. To serve
 * another kind, add its type in schemas/extract.mjs and a row here.
 */
import * as cluster from './columns/cluster.ts';
import { plainColumns } from './columns/column.ts';
import { podColumns } from './columns/pod.ts';
import * as workloadColumns from './columns/workloads.ts';
import { eventsView } from './eventConversion.ts';
import { shapeNamed } from './kubernetesTypes.ts';
import type { Action, Column, Resource, ScalePaths, StorageView, Strategy } from './resource.ts';
import { textAt, type ApiObject } from './fields.ts';
import type { SelectableFields } from './selectors.ts';
import * as clusterRules from './strategies/cluster.ts';
import { customResourceDefinitionStrategy } from './strategies/customResourceDefinition.ts';
import { podStrategy } from './strategies/pod.ts';
import * as workloads from './strategies/workloads.ts';

export const ALL_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

interface Row {
  readonly kind: string;
  readonly plural: string;
  readonly scope?: 'Cluster';
  readonly short?: readonly string[];
  readonly categories?: readonly string[];
  readonly status?: boolean;
  readonly scale?: ScalePaths;
  readonly actions?: readonly Action[];
  readonly strategy?: Strategy;
  readonly columns?: readonly Column[];
  readonly selectable?: readonly string[];
  readonly storage?: StorageView;
}

const ALL = ['all'];
const SCALE: ScalePaths = {
  specReplicas: '.spec.replicas',
  statusReplicas: '.status.replicas',
  selector: '.spec.selector',
};
const EVICTION: Action = { name: 'eviction', group: 'policy', version: 'v1', kind: 'Eviction' };
const BINDING: Action = { name: 'binding', group: '', version: 'v1', kind: 'Binding' };
const TOKEN: Action = { name: 'token', group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' };
const FINALIZE: Action = { name: 'finalize', group: '', version: 'v1', kind: 'Namespace' };
const EXTENSIONS = ['api-extensions'];

const rbac = (kind: string, plural: string, scope: 'Cluster' | undefined): Row => ({
  kind,
  plural,
  ...(scope === undefined ? {} : { scope }),
  columns: kind.endsWith('Binding') ? cluster.bindingColumns : cluster.roleColumns,
  strategy: kind.endsWith('Binding') ? clusterRules.roleBindingStrategy : clusterRules.plainStrategy,
});

/** By API version, with the prefix of the types' names in OpenAPI. */
const TABLE: readonly { readonly apiVersion: string; readonly types: string; readonly rows: readonly Row[] }[] = [
  {
    apiVersion: 'v1',
    types: 'io.k8s.api.core.v1',
    rows: [
      {
        kind: 'Pod',
        plural: 'pods',
        short: ['po'],
        categories: ALL,
        status: true,
        actions: [EVICTION, BINDING],
        strategy: podStrategy,
        columns: podColumns,
        selectable: [
          'spec.nodeName',
          'spec.restartPolicy',
          'spec.schedulerName',
          'spec.serviceAccountName',
          'spec.hostNetwork',
          'status.phase',
          'status.podIP',
          'status.nominatedNodeName',
        ],
      },
      {
        kind: 'Node',
        plural: 'nodes',
        scope: 'Cluster',
        short: ['no'],
        status: true,
        strategy: clusterRules.nodeStrategy,
        columns: cluster.nodeColumns,
        selectable: ['spec.unschedulable'],
      },
      {
        kind: 'Namespace',
        plural: 'namespaces',
        scope: 'Cluster',
        short: ['ns'],
        status: true,
        actions: [FINALIZE],
        strategy: clusterRules.namespaceStrategy,
        columns: cluster.namespaceColumns,
        selectable: ['status.phase'],
      },
      {
        kind: 'Service',
        plural: 'services',
        short: ['svc'],
        categories: ALL,
        status: true,
        strategy: clusterRules.serviceStrategy,
        columns: cluster.serviceColumns,
        selectable: ['spec.clusterIP', 'spec.type'],
      },
      { kind: 'Endpoints', plural: 'endpoints', short: ['ep'], columns: cluster.endpointsColumns },
      {
        kind: 'ConfigMap',
        plural: 'configmaps',
        short: ['cm'],
        columns: cluster.configMapColumns,
        strategy: clusterRules.configMapStrategy,
      },
      {
        kind: 'Secret',
        plural: 'secrets',
        strategy: clusterRules.secretStrategy,
        columns: cluster.secretColumns,
        selectable: ['type'],
      },
      {
        kind: 'ServiceAccount',
        plural: 'serviceaccounts',
        short: ['sa'],
        columns: cluster.serviceAccountColumns,
        actions: [TOKEN],
      },
      {
        kind: 'Event',
        plural: 'events',
        short: ['ev'],
        columns: cluster.eventColumns,
        selectable: [
          'involvedObject.kind',
          'involvedObject.namespace',
          'involvedObject.name',
          'involvedObject.uid',
          'involvedObject.apiVersion',
          'involvedObject.resourceVersion',
          'involvedObject.fieldPath',
          'reason',
          'reportingComponent',
          'source',
          'type',
        ],
      },
      {
        kind: 'PersistentVolume',
        plural: 'persistentvolumes',
        scope: 'Cluster',
        short: ['pv'],
        status: true,
        strategy: clusterRules.volumeStrategy,
        columns: cluster.volumeColumns,
      },
      {
        kind: 'PersistentVolumeClaim',
        plural: 'persistentvolumeclaims',
        short: ['pvc'],
        status: true,
        strategy: clusterRules.claimStrategy,
        columns: cluster.claimColumns,
      },
      {
        kind: 'PodTemplate',
        plural: 'podtemplates',
        strategy: workloads.podTemplateStrategy,
        columns: workloadColumns.podTemplateColumns,
      },
      {
        kind: 'ReplicationController',
        plural: 'replicationcontrollers',
        short: ['rc'],
        categories: ALL,
        status: true,
        scale: SCALE,
        strategy: workloads.replicationControllerStrategy,
        columns: workloadColumns.replicationControllerColumns,
        selectable: ['status.replicas'],
      },
      { kind: 'LimitRange', plural: 'limitranges', short: ['limits'], columns: cluster.limitRangeColumns },
      {
        kind: 'ResourceQuota',
        plural: 'resourcequotas',
        short: ['quota'],
        status: true,
        columns: cluster.quotaColumns,
      },
    ],
  },
  {
    apiVersion: 'apps/v1',
    types: 'io.k8s.api.apps.v1',
    rows: [
      {
        kind: 'Deployment',
        plural: 'deployments',
        short: ['deploy'],
        categories: ALL,
        status: true,
        scale: SCALE,
        strategy: workloads.deploymentStrategy,
        columns: workloadColumns.deploymentColumns,
      },
      {
        kind: 'ReplicaSet',
        plural: 'replicasets',
        short: ['rs'],
        categories: ALL,
        status: true,
        scale: SCALE,
        strategy: workloads.replicaSetStrategy,
        columns: workloadColumns.replicaSetColumns,
        selectable: ['status.replicas'],
      },
      {
        kind: 'DaemonSet',
        plural: 'daemonsets',
        short: ['ds'],
        categories: ALL,
        status: true,
        strategy: workloads.daemonSetStrategy,
        columns: workloadColumns.daemonSetColumns,
      },
      {
        kind: 'StatefulSet',
        plural: 'statefulsets',
        short: ['sts'],
        categories: ALL,
        status: true,
        scale: SCALE,
        strategy: workloads.statefulSetStrategy,
        columns: workloadColumns.statefulSetColumns,
      },
      { kind: 'ControllerRevision', plural: 'controllerrevisions', columns: workloadColumns.controllerRevisionColumns },
    ],
  },
  {
    apiVersion: 'batch/v1',
    types: 'io.k8s.api.batch.v1',
    rows: [
      {
        kind: 'Job',
        plural: 'jobs',
        categories: ALL,
        status: true,
        strategy: workloads.jobStrategy,
        columns: workloadColumns.jobColumns,
        selectable: ['status.successful'],
      },
      {
        kind: 'CronJob',
        plural: 'cronjobs',
        short: ['cj'],
        categories: ALL,
        status: true,
        strategy: workloads.cronJobStrategy,
        columns: workloadColumns.cronJobColumns,
      },
    ],
  },
  {
    apiVersion: 'policy/v1',
    types: 'io.k8s.api.policy.v1',
    rows: [
      {
        kind: 'PodDisruptionBudget',
        plural: 'poddisruptionbudgets',
        short: ['pdb'],
        status: true,
        strategy: clusterRules.budgetStrategy,
        columns: workloadColumns.budgetColumns,
      },
    ],
  },
  {
    apiVersion: 'autoscaling/v2',
    types: 'io.k8s.api.autoscaling.v2',
    rows: [
      {
        kind: 'HorizontalPodAutoscaler',
        plural: 'horizontalpodautoscalers',
        short: ['hpa'],
        categories: ALL,
        status: true,
        strategy: clusterRules.autoscalerStrategy,
        columns: workloadColumns.autoscalerColumns,
      },
    ],
  },
  {
    apiVersion: 'coordination.k8s.io/v1',
    types: 'io.k8s.api.coordination.v1',
    rows: [{ kind: 'Lease', plural: 'leases', columns: cluster.leaseColumns }],
  },
  {
    apiVersion: 'storage.k8s.io/v1',
    types: 'io.k8s.api.storage.v1',
    rows: [
      {
        kind: 'StorageClass',
        plural: 'storageclasses',
        scope: 'Cluster',
        short: ['sc'],
        strategy: clusterRules.storageClassStrategy,
        columns: cluster.storageClassColumns,
      },
      { kind: 'CSINode', plural: 'csinodes', scope: 'Cluster', columns: cluster.csiNodeColumns },
      { kind: 'CSIDriver', plural: 'csidrivers', scope: 'Cluster', columns: cluster.csiDriverColumns },
      { kind: 'CSIStorageCapacity', plural: 'csistoragecapacities' },
      {
        kind: 'VolumeAttachment',
        plural: 'volumeattachments',
        scope: 'Cluster',
        status: true,
        columns: cluster.volumeAttachmentColumns,
      },
      { kind: 'VolumeAttributesClass', plural: 'volumeattributesclasses', scope: 'Cluster', short: ['vac'] },
    ],
  },
  {
    apiVersion: 'scheduling.k8s.io/v1',
    types: 'io.k8s.api.scheduling.v1',
    rows: [
      {
        kind: 'PriorityClass',
        plural: 'priorityclasses',
        scope: 'Cluster',
        short: ['pc'],
        strategy: clusterRules.priorityClassStrategy,
        columns: cluster.priorityClassColumns,
      },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    types: 'io.k8s.api.rbac.v1',
    rows: [
      rbac('Role', 'roles', undefined),
      rbac('RoleBinding', 'rolebindings', undefined),
      rbac('ClusterRole', 'clusterroles', 'Cluster'),
      rbac('ClusterRoleBinding', 'clusterrolebindings', 'Cluster'),
    ],
  },
  {
    apiVersion: 'networking.k8s.io/v1',
    types: 'io.k8s.api.networking.v1',
    rows: [
      {
        kind: 'Ingress',
        plural: 'ingresses',
        short: ['ing'],
        status: true,
        strategy: clusterRules.generationStrategy,
        columns: cluster.ingressColumns,
      },
      {
        kind: 'IngressClass',
        plural: 'ingressclasses',
        scope: 'Cluster',
        strategy: clusterRules.generationStrategy,
        columns: cluster.ingressClassColumns,
      },
      {
        kind: 'NetworkPolicy',
        plural: 'networkpolicies',
        short: ['netpol'],
        strategy: clusterRules.generationStrategy,
        columns: cluster.networkPolicyColumns,
      },
    ],
  },
  {
    apiVersion: 'node.k8s.io/v1',
    types: 'io.k8s.api.node.v1',
    rows: [{ kind: 'RuntimeClass', plural: 'runtimeclasses', scope: 'Cluster', columns: cluster.runtimeClassColumns }],
  },
  {
    apiVersion: 'discovery.k8s.io/v1',
    types: 'io.k8s.api.discovery.v1',
    rows: [
      {
        kind: 'EndpointSlice',
        plural: 'endpointslices',
        strategy: clusterRules.generationStrategy,
        columns: cluster.endpointSliceColumns,
      },
    ],
  },
  {
    apiVersion: 'events.k8s.io/v1',
    types: 'io.k8s.api.events.v1',
    rows: [
      {
        kind: 'Event',
        plural: 'events',
        short: ['ev'],
        columns: cluster.eventColumns,
        selectable: [
          'regarding.kind',
          'regarding.namespace',
          'regarding.name',
          'regarding.uid',
          'reason',
          'reportingController',
          'type',
        ],
        storage: eventsView,
      },
    ],
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    types: 'io.k8s.api.admissionregistration.v1',
    rows: [
      {
        kind: 'MutatingWebhookConfiguration',
        plural: 'mutatingwebhookconfigurations',
        scope: 'Cluster',
        categories: EXTENSIONS,
        strategy: clusterRules.generationStrategy,
        columns: cluster.webhookColumns,
      },
      {
        kind: 'ValidatingWebhookConfiguration',
        plural: 'validatingwebhookconfigurations',
        scope: 'Cluster',
        categories: EXTENSIONS,
        strategy: clusterRules.generationStrategy,
        columns: cluster.webhookColumns,
      },
    ],
  },
  {
    apiVersion: 'resource.k8s.io/v1',
    types: 'io.k8s.api.resource.v1',
    rows: [
      { kind: 'DeviceClass', plural: 'deviceclasses', scope: 'Cluster', strategy: clusterRules.generationStrategy },
      { kind: 'ResourceClaim', plural: 'resourceclaims', status: true },
      { kind: 'ResourceClaimTemplate', plural: 'resourceclaimtemplates' },
      {
        kind: 'ResourceSlice',
        plural: 'resourceslices',
        scope: 'Cluster',
        strategy: clusterRules.generationStrategy,
        selectable: ['spec.nodeName', 'spec.driver'],
      },
    ],
  },
  {
    apiVersion: 'apiextensions.k8s.io/v1',
    types: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1',
    rows: [
      {
        kind: 'CustomResourceDefinition',
        plural: 'customresourcedefinitions',
        scope: 'Cluster',
        short: ['crd', 'crds'],
        categories: EXTENSIONS,
        status: true,
        strategy: customResourceDefinitionStrategy,
        columns: cluster.definitionColumns,
      },
    ],
  },
];

/** A field selector compares text; false and 0 are what an absent flag or number reads as. */
function readField(path: string): (object: ApiObject) => string {
  const names = path.split('.');
  return (object) => {
    let value: unknown = object;
    for (const name of names)
      value = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
    if (path === 'source') return textAt(object, 'source', 'component') ?? textAt(object, 'reportingComponent') ?? '';
    if (value === undefined) return path === 'spec.unschedulable' || path === 'spec.hostNetwork' ? 'false' : '';
    return typeof value === 'object' ? '' : String(value);
  };
}

export function selectableFields(paths: readonly string[], namespaced: boolean): SelectableFields {
  const all = ['metadata.name', ...(namespaced ? ['metadata.namespace'] : []), ...paths];
  return Object.fromEntries(all.map((path) => [path, readField(path)]));
}

function resourceOf(apiVersion: string, types: string, row: Row): Resource {
  const slash = apiVersion.indexOf('/');
  const group = slash < 0 ? '' : apiVersion.slice(0, slash);
  const typeName = `${types}.${row.kind}`;
  return {
    group,
    version: apiVersion.slice(slash + 1),
    kind: row.kind,
    plural: row.plural,
    singular: row.kind.toLowerCase(),
    listKind: row.kind === 'Endpoints' ? 'EndpointsList' : `${row.kind}List`,
    namespaced: row.scope !== 'Cluster',
    shortNames: row.short ?? [],
    categories: row.categories ?? [],
    custom: false,
    hasStatus: row.status ?? false,
    scale: row.scale,
    actions: row.actions ?? [],
    // Namespaces are deleted one by one: a collection delete would take kube-system along.
    verbs: row.kind === 'Namespace' ? ALL_VERBS.filter((verb) => verb !== 'deletecollection') : ALL_VERBS,
    typeName,
    schema: undefined,
    shape: shapeNamed(typeName),
    strategy: row.strategy ?? clusterRules.plainStrategy,
    columns: row.columns ?? plainColumns,
    selectable: selectableFields(row.selectable ?? [], row.scope !== 'Cluster'),
    storage: row.storage ?? { group, plural: row.plural },
  };
}

export function builtinResources(): Resource[] {
  return TABLE.flatMap(({ apiVersion, types, rows }) => rows.map((row) => resourceOf(apiVersion, types, row)));
}
