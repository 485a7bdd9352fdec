/**
 * Kubernetes' own kinds that the server offers, one row each: kind, plural, short names, and what is unusual about it. To
 * serve another kind, add its type in scripts/extract-kubernetes-types.ts, a row here, and its columns in columns/.
 */
import { newEventColumns } from '../columns/cluster.ts';
import { podRowConditions } from '../columns/pod.ts';
import type { Action, Resource, StorageView, Strategy } from '../resource.ts';
import { customResourceDefinitionStrategy } from '../strategies/customResourceDefinition.ts';
import {
  configMapStrategy,
  eventStrategy,
  leaseStrategy,
  roleBindingStrategy,
  roleStrategy,
  secretStrategy,
} from '../strategies/data.ts';
import { cronJobStrategy, jobStrategy } from '../strategies/jobs.ts';
import { limitRangeStrategy, quotaStrategy } from '../strategies/limits.ts';
import {
  endpointSliceStrategy,
  networkPolicyStrategy,
  mutatingWebhookStrategy,
  validatingWebhookStrategy,
} from '../strategies/networking.ts';
import { namespaceStrategy, nodeStrategy } from '../strategies/node.ts';
import { podStrategy } from '../strategies/pod.ts';
import * as scaling from '../strategies/scaling.ts';
import { serviceStrategy } from '../strategies/service.ts';
import * as storage from '../strategies/storage.ts';
import * as workloads from '../strategies/workloads.ts';
import { autoscalersView, eventsView } from '../storageViews.ts';

/** What a row leaves out has its usual value. */
interface Unusual extends Partial<Pick<Resource, 'categories' | 'scale' | 'actions' | 'verbs' | 'deprecation'>> {
  readonly scope?: 'Cluster';
  readonly status?: true;
  readonly strategy?: Strategy;
  readonly columns?: Resource['columns'];
  readonly rowConditions?: Resource['rowConditions'];
  /** A replace must name the version that it replaces. */
  readonly conditionalUpdate?: true;
  /** `group/version/Kind` of the stored form, when another than the served one. */
  readonly storageKind?: string;
  readonly selectable?: readonly string[];
  readonly storage?: StorageView;
}

interface Row extends Unusual {
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
}

/** All served kinds of one API version, with the prefix of their types' names in OpenAPI. */
interface GroupRows {
  readonly apiVersion: string;
  readonly types: string;
  readonly rows: readonly Row[];
}

const kind = (name: string, plural: string, shortNames: string, unusual: Unusual = {}): Row => ({
  ...unusual,
  kind: name,
  plural,
  shortNames: shortNames === '' ? [] : shortNames.split(','),
});
const group = (apiVersion: string, types: string, rows: readonly Row[]): GroupRows => ({ apiVersion, types, rows });

const ALL = { categories: ['all'] };
const EXTENSION = { categories: ['api-extensions'], scope: 'Cluster' } as const;
const CLUSTER = { scope: 'Cluster' } as const;
const STATUS = { status: true } as const;
const CONDITIONAL = { conditionalUpdate: true } as const;
const COUNTED: { strategy: Strategy } = { strategy: { tracksGeneration: true } };
const POLICY = { ...EXTENSION, ...CONDITIONAL, ...COUNTED };
const SCALE = {
  scale: { specReplicas: '.spec.replicas', statusReplicas: '.status.replicas', selector: '.spec.selector' },
};

const READ_WRITE = ['get', 'patch', 'update'];
const PROXY = ['create', 'delete', 'get', 'patch', 'update'];
const action = (name: string, kind: string, verbs: readonly string[], group = '', version = 'v1'): Action => ({
  name,
  group,
  version,
  kind,
  verbs,
});
const POD_ACTIONS = [
  action('eviction', 'Eviction', ['create'], 'policy'),
  action('binding', 'Binding', ['create']),
  action('attach', 'PodAttachOptions', ['create', 'get']),
  action('exec', 'PodExecOptions', ['create', 'get']),
  action('log', 'Pod', ['get']),
  action('portforward', 'PodPortForwardOptions', ['create', 'get']),
  action('proxy', 'PodProxyOptions', PROXY),
  action('ephemeralcontainers', 'Pod', READ_WRITE),
  action('resize', 'Pod', READ_WRITE),
];
const POD_FIELDS = [
  ...['nodeName', 'restartPolicy', 'schedulerName', 'serviceAccountName', 'hostNetwork'].map((one) => `spec.${one}`),
  ...['phase', 'podIP', 'nominatedNodeName'].map((one) => `status.${one}`),
];
const REFERENCE = ['kind', 'namespace', 'name', 'uid'];
const EVENT_FIELDS = [
  ...[...REFERENCE, 'apiVersion', 'resourceVersion', 'fieldPath'].map((one) => `involvedObject.${one}`),
  'reason',
  'reportingComponent',
  'source',
  'type',
];
const NEW_EVENT_FIELDS = [...REFERENCE.map((one) => `regarding.${one}`), 'reason', 'reportingController', 'type'];

/** Namespaces are deleted one by one: a collection delete would take kube-system along. */
const NAMESPACE_VERBS = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];
const ENDPOINTS_DEPRECATION = 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice';
const OLD_POLICY = 'admissionregistration.k8s.io/v1beta1/MutatingAdmissionPolicy';

const CORE: readonly Row[] = [
  kind('Pod', 'pods', 'po', {
    ...ALL,
    ...STATUS,
    actions: POD_ACTIONS,
    rowConditions: podRowConditions,
    strategy: podStrategy,
    selectable: POD_FIELDS,
  }),
  kind('Node', 'nodes', 'no', {
    ...CLUSTER,
    ...STATUS,
    strategy: nodeStrategy,
    actions: [action('proxy', 'NodeProxyOptions', PROXY)],
    selectable: ['spec.unschedulable'],
  }),
  kind('Namespace', 'namespaces', 'ns', {
    ...CLUSTER,
    ...STATUS,
    verbs: NAMESPACE_VERBS,
    actions: [action('finalize', 'Namespace', ['update'])],
    strategy: namespaceStrategy,
    selectable: ['status.phase'],
  }),
  kind('Service', 'services', 'svc', {
    ...ALL,
    ...STATUS,
    strategy: serviceStrategy,
    actions: [action('proxy', 'ServiceProxyOptions', PROXY)],
    selectable: ['spec.clusterIP', 'spec.type'],
  }),
  kind('Endpoints', 'endpoints', 'ep', { deprecation: ENDPOINTS_DEPRECATION }),
  kind('ConfigMap', 'configmaps', 'cm', { strategy: configMapStrategy }),
  kind('Secret', 'secrets', '', { strategy: secretStrategy, selectable: ['type'] }),
  kind('ServiceAccount', 'serviceaccounts', 'sa', {
    actions: [action('token', 'TokenRequest', ['create'], 'authentication.k8s.io')],
  }),
  kind('Event', 'events', 'ev', { strategy: eventStrategy, selectable: EVENT_FIELDS }),
  kind('PersistentVolume', 'persistentvolumes', 'pv', { ...CLUSTER, ...STATUS, strategy: storage.volumeStrategy }),
  kind('PersistentVolumeClaim', 'persistentvolumeclaims', 'pvc', { ...STATUS, strategy: storage.claimStrategy }),
  kind('PodTemplate', 'podtemplates', '', { strategy: workloads.podTemplateStrategy }),
  kind('ReplicationController', 'replicationcontrollers', 'rc', {
    ...ALL,
    ...STATUS,
    ...SCALE,
    strategy: workloads.replicationControllerStrategy,
    selectable: ['status.replicas'],
  }),
  kind('LimitRange', 'limitranges', 'limits', { strategy: limitRangeStrategy }),
  kind('ComponentStatus', 'componentstatuses', 'cs', {
    ...CLUSTER,
    verbs: ['get', 'list'],
    deprecation: 'v1 ComponentStatus is deprecated in v1.19+',
  }),
  kind('Binding', 'bindings', '', { verbs: ['create'] }),
  kind('ResourceQuota', 'resourcequotas', 'quota', { ...STATUS, strategy: quotaStrategy }),
];

const AUTOSCALER = { ...ALL, ...STATUS };
const APPROVAL = action('approval', 'CertificateSigningRequest', READ_WRITE, 'certificates.k8s.io');

export const builtinKinds: readonly GroupRows[] = [
  group('v1', 'io.k8s.api.core.v1', CORE),
  group('apps/v1', 'io.k8s.api.apps.v1', [
    kind('Deployment', 'deployments', 'deploy', {
      ...ALL,
      ...STATUS,
      ...SCALE,
      strategy: workloads.deploymentStrategy,
    }),
    kind('ReplicaSet', 'replicasets', 'rs', { ...ALL, ...STATUS, ...SCALE, strategy: workloads.replicaSetStrategy }),
    kind('DaemonSet', 'daemonsets', 'ds', { ...ALL, ...STATUS, strategy: workloads.daemonSetStrategy }),
    kind('StatefulSet', 'statefulsets', 'sts', {
      ...ALL,
      ...STATUS,
      ...SCALE,
      strategy: workloads.statefulSetStrategy,
    }),
    kind('ControllerRevision', 'controllerrevisions', '', { strategy: workloads.controllerRevisionStrategy }),
  ]),
  group('batch/v1', 'io.k8s.api.batch.v1', [
    kind('Job', 'jobs', '', { ...ALL, ...STATUS, strategy: jobStrategy, selectable: ['status.successful'] }),
    kind('CronJob', 'cronjobs', 'cj', { ...ALL, ...STATUS, strategy: cronJobStrategy }),
  ]),
  group('policy/v1', 'io.k8s.api.policy.v1', [
    kind('PodDisruptionBudget', 'poddisruptionbudgets', 'pdb', {
      ...STATUS,
      ...CONDITIONAL,
      strategy: scaling.budgetStrategy,
    }),
  ]),
  group('autoscaling/v2', 'io.k8s.api.autoscaling.v2', [
    kind('HorizontalPodAutoscaler', 'horizontalpodautoscalers', 'hpa', {
      ...AUTOSCALER,
      strategy: scaling.autoscalerStrategy,
    }),
  ]),
  group('autoscaling/v1', 'io.k8s.api.autoscaling.v1', [
    kind('HorizontalPodAutoscaler', 'horizontalpodautoscalers', 'hpa', {
      ...AUTOSCALER,
      strategy: scaling.autoscalerVersion1Strategy,
      storage: autoscalersView,
      storageKind: 'autoscaling/v2/HorizontalPodAutoscaler',
    }),
  ]),
  group('apiregistration.k8s.io/v1', 'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1', [
    kind('APIService', 'apiservices', '', { ...EXTENSION, ...STATUS }),
  ]),
  group('certificates.k8s.io/v1', 'io.k8s.api.certificates.v1', [
    kind('CertificateSigningRequest', 'certificatesigningrequests', 'csr', {
      ...CLUSTER,
      ...STATUS,
      actions: [APPROVAL],
      selectable: ['spec.signerName'],
    }),
  ]),
  group('flowcontrol.apiserver.k8s.io/v1', 'io.k8s.api.flowcontrol.v1', [
    kind('FlowSchema', 'flowschemas', '', { ...CLUSTER, ...STATUS, ...COUNTED }),
    kind('PriorityLevelConfiguration', 'prioritylevelconfigurations', '', { ...CLUSTER, ...STATUS, ...COUNTED }),
  ]),
  group('coordination.k8s.io/v1', 'io.k8s.api.coordination.v1', [
    kind('Lease', 'leases', '', { ...CONDITIONAL, strategy: leaseStrategy }),
  ]),
  group('storage.k8s.io/v1', 'io.k8s.api.storage.v1', [
    kind('StorageClass', 'storageclasses', 'sc', { ...CLUSTER, strategy: storage.storageClassStrategy }),
    kind('CSINode', 'csinodes', '', { ...CLUSTER, ...CONDITIONAL }),
    kind('CSIDriver', 'csidrivers', '', { ...CLUSTER, ...CONDITIONAL, strategy: storage.csiDriverStrategy }),
    kind('CSIStorageCapacity', 'csistoragecapacities', '', CONDITIONAL),
    kind('VolumeAttachment', 'volumeattachments', '', { ...CLUSTER, ...STATUS, ...CONDITIONAL }),
    kind('VolumeAttributesClass', 'volumeattributesclasses', 'vac', CLUSTER),
  ]),
  group('scheduling.k8s.io/v1', 'io.k8s.api.scheduling.v1', [
    kind('PriorityClass', 'priorityclasses', 'pc', { ...CLUSTER, strategy: scaling.priorityClassStrategy }),
  ]),
  group('rbac.authorization.k8s.io/v1', 'io.k8s.api.rbac.v1', [
    kind('Role', 'roles', '', { strategy: roleStrategy }),
    kind('RoleBinding', 'rolebindings', '', { strategy: roleBindingStrategy }),
    kind('ClusterRole', 'clusterroles', '', { ...CLUSTER, strategy: roleStrategy }),
    kind('ClusterRoleBinding', 'clusterrolebindings', '', { ...CLUSTER, strategy: roleBindingStrategy }),
  ]),
  group('networking.k8s.io/v1', 'io.k8s.api.networking.v1', [
    kind('Ingress', 'ingresses', 'ing', { ...STATUS, ...COUNTED }),
    kind('IngressClass', 'ingressclasses', '', { ...CLUSTER, ...COUNTED }),
    kind('NetworkPolicy', 'networkpolicies', 'netpol', { strategy: networkPolicyStrategy }),
    kind('IPAddress', 'ipaddresses', 'ip', { ...CLUSTER, ...COUNTED }),
    kind('ServiceCIDR', 'servicecidrs', '', { ...CLUSTER, ...STATUS, ...COUNTED }),
  ]),
  group('node.k8s.io/v1', 'io.k8s.api.node.v1', [
    kind('RuntimeClass', 'runtimeclasses', '', { ...CLUSTER, ...CONDITIONAL }),
  ]),
  group('discovery.k8s.io/v1', 'io.k8s.api.discovery.v1', [
    kind('EndpointSlice', 'endpointslices', '', { strategy: endpointSliceStrategy }),
  ]),
  group('events.k8s.io/v1', 'io.k8s.api.events.v1', [
    kind('Event', 'events', 'ev', {
      columns: newEventColumns,
      storageKind: '/v1/Event',
      selectable: NEW_EVENT_FIELDS,
      storage: eventsView,
    }),
  ]),
  group('admissionregistration.k8s.io/v1', 'io.k8s.api.admissionregistration.v1', [
    kind('MutatingAdmissionPolicy', 'mutatingadmissionpolicies', '', { ...POLICY, storageKind: OLD_POLICY }),
    kind('MutatingAdmissionPolicyBinding', 'mutatingadmissionpolicybindings', '', {
      ...POLICY,
      storageKind: `${OLD_POLICY}Binding`,
    }),
    kind('ValidatingAdmissionPolicy', 'validatingadmissionpolicies', '', { ...POLICY, ...STATUS }),
    kind('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings', '', POLICY),
    kind('MutatingWebhookConfiguration', 'mutatingwebhookconfigurations', '', {
      ...POLICY,
      strategy: mutatingWebhookStrategy,
    }),
    kind('ValidatingWebhookConfiguration', 'validatingwebhookconfigurations', '', {
      ...POLICY,
      strategy: validatingWebhookStrategy,
    }),
  ]),
  group('resource.k8s.io/v1', 'io.k8s.api.resource.v1', [
    kind('DeviceClass', 'deviceclasses', '', { ...CLUSTER, ...COUNTED }),
    kind('ResourceClaim', 'resourceclaims', '', STATUS),
    kind('ResourceClaimTemplate', 'resourceclaimtemplates', ''),
    kind('ResourceSlice', 'resourceslices', '', {
      ...CLUSTER,
      ...COUNTED,
      selectable: ['spec.nodeName', 'spec.driver'],
    }),
  ]),
  group('apiextensions.k8s.io/v1', 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1', [
    kind('CustomResourceDefinition', 'customresourcedefinitions', 'crd,crds', {
      ...EXTENSION,
      ...STATUS,
      ...CONDITIONAL,
      strategy: customResourceDefinitionStrategy,
      storageKind: 'apiextensions.k8s.io/v1beta1/CustomResourceDefinition',
    }),
  ]),
];
