/** Leases, storage, roles, networking and the other groups. */
import * as cluster from '../columns/cluster.ts';
import * as server from '../columns/server.ts';
import * as networking from '../columns/networking.ts';
import * as storage from '../columns/storage.ts';
import { eventsView } from '../eventConversion.ts';
import { endpointSliceStrategy, networkPolicyStrategy } from '../strategies/networking.ts';
import { generationStrategy } from '../strategies/plain.ts';
import { leaseStrategy } from '../strategies/records.ts';
import { roleBindingStrategy, roleStrategy } from '../strategies/roles.ts';
import { priorityClassStrategy } from '../strategies/scaling.ts';
import { csiDriverStrategy, storageClassStrategy } from '../strategies/storage.ts';
import { customResourceDefinitionStrategy } from '../strategies/customResourceDefinition.ts';
import { webhookStrategy } from '../strategies/webhooks.ts';
import type { GroupRows, Row } from './row.ts';

const EXTENSIONS = ['api-extensions'];

const rbac = (kind: string, plural: string, scope: 'Cluster' | undefined): Row => ({
  kind,
  plural,
  ...(scope === undefined ? {} : { scope }),
  columns: kind.endsWith('Binding') ? cluster.bindingColumns : cluster.roleColumns,
  strategy: kind.endsWith('Binding') ? roleBindingStrategy : roleStrategy,
});

const policy = (kind: string, plural: string, storedVersion?: string): Row => ({
  kind,
  plural,
  scope: 'Cluster',
  categories: EXTENSIONS,
  strategy: generationStrategy,
  conditionalUpdate: true,
  ...(storedVersion === undefined ? {} : { storageKind: `admissionregistration.k8s.io/${storedVersion}/${kind}` }),
});

export const extensionTable: readonly GroupRows[] = [
  {
    apiVersion: 'apiregistration.k8s.io/v1',
    types: 'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1',
    rows: [
      {
        kind: 'APIService',
        plural: 'apiservices',
        scope: 'Cluster',
        categories: EXTENSIONS,
        status: true,
        columns: server.apiServiceColumns,
      },
    ],
  },
  {
    apiVersion: 'certificates.k8s.io/v1',
    types: 'io.k8s.api.certificates.v1',
    rows: [
      {
        kind: 'CertificateSigningRequest',
        plural: 'certificatesigningrequests',
        scope: 'Cluster',
        short: ['csr'],
        status: true,
        actions: [
          {
            name: 'approval',
            group: 'certificates.k8s.io',
            version: 'v1',
            kind: 'CertificateSigningRequest',
            verbs: ['get', 'patch', 'update'],
          },
        ],
        selectable: ['spec.signerName'],
      },
    ],
  },
  {
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    types: 'io.k8s.api.flowcontrol.v1',
    rows: [
      {
        kind: 'FlowSchema',
        plural: 'flowschemas',
        scope: 'Cluster',
        status: true,
        strategy: generationStrategy,
        columns: server.flowSchemaColumns,
      },
      {
        kind: 'PriorityLevelConfiguration',
        plural: 'prioritylevelconfigurations',
        scope: 'Cluster',
        status: true,
        strategy: generationStrategy,
        columns: server.priorityLevelColumns,
      },
    ],
  },
  {
    apiVersion: 'coordination.k8s.io/v1',
    types: 'io.k8s.api.coordination.v1',
    rows: [
      {
        kind: 'Lease',
        plural: 'leases',
        strategy: leaseStrategy,
        columns: cluster.leaseColumns,
        conditionalUpdate: true,
      },
    ],
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
        strategy: storageClassStrategy,
        columns: storage.storageClassColumns,
      },
      {
        kind: 'CSINode',
        plural: 'csinodes',
        scope: 'Cluster',
        columns: storage.csiNodeColumns,
        conditionalUpdate: true,
      },
      {
        kind: 'CSIDriver',
        plural: 'csidrivers',
        scope: 'Cluster',
        strategy: csiDriverStrategy,
        columns: storage.csiDriverColumns,
        conditionalUpdate: true,
      },
      {
        kind: 'CSIStorageCapacity',
        plural: 'csistoragecapacities',
        columns: storage.csiStorageCapacityColumns,
        conditionalUpdate: true,
      },
      {
        kind: 'VolumeAttachment',
        plural: 'volumeattachments',
        scope: 'Cluster',
        status: true,
        columns: storage.volumeAttachmentColumns,
        conditionalUpdate: true,
      },
      {
        kind: 'VolumeAttributesClass',
        plural: 'volumeattributesclasses',
        scope: 'Cluster',
        short: ['vac'],
        columns: storage.volumeAttributesClassColumns,
      },
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
        strategy: priorityClassStrategy,
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
        strategy: generationStrategy,
        columns: networking.ingressColumns,
      },
      {
        kind: 'IngressClass',
        plural: 'ingressclasses',
        scope: 'Cluster',
        strategy: generationStrategy,
        columns: networking.ingressClassColumns,
      },
      {
        kind: 'NetworkPolicy',
        plural: 'networkpolicies',
        short: ['netpol'],
        strategy: networkPolicyStrategy,
        columns: networking.networkPolicyColumns,
      },
      {
        kind: 'IPAddress',
        plural: 'ipaddresses',
        scope: 'Cluster',
        short: ['ip'],
        strategy: generationStrategy,
        columns: networking.ipAddressColumns,
      },
      {
        kind: 'ServiceCIDR',
        plural: 'servicecidrs',
        scope: 'Cluster',
        status: true,
        strategy: generationStrategy,
        columns: networking.serviceCidrColumns,
      },
    ],
  },
  {
    apiVersion: 'node.k8s.io/v1',
    types: 'io.k8s.api.node.v1',
    rows: [
      {
        kind: 'RuntimeClass',
        plural: 'runtimeclasses',
        scope: 'Cluster',
        columns: cluster.runtimeClassColumns,
        conditionalUpdate: true,
      },
    ],
  },
  {
    apiVersion: 'discovery.k8s.io/v1',
    types: 'io.k8s.api.discovery.v1',
    rows: [
      {
        kind: 'EndpointSlice',
        plural: 'endpointslices',
        strategy: endpointSliceStrategy,
        columns: networking.endpointSliceColumns,
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
        columns: cluster.newEventColumns,
        storageKind: '/v1/Event',
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
      policy('MutatingAdmissionPolicy', 'mutatingadmissionpolicies', 'v1beta1'),
      policy('MutatingAdmissionPolicyBinding', 'mutatingadmissionpolicybindings', 'v1beta1'),
      { ...policy('ValidatingAdmissionPolicy', 'validatingadmissionpolicies'), status: true },
      policy('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings'),
      {
        kind: 'MutatingWebhookConfiguration',
        plural: 'mutatingwebhookconfigurations',
        scope: 'Cluster',
        categories: EXTENSIONS,
        strategy: webhookStrategy,
        columns: cluster.webhookColumns,
        conditionalUpdate: true,
      },
      {
        kind: 'ValidatingWebhookConfiguration',
        plural: 'validatingwebhookconfigurations',
        scope: 'Cluster',
        categories: EXTENSIONS,
        strategy: webhookStrategy,
        columns: cluster.webhookColumns,
        conditionalUpdate: true,
      },
    ],
  },
  {
    apiVersion: 'resource.k8s.io/v1',
    types: 'io.k8s.api.resource.v1',
    rows: [
      { kind: 'DeviceClass', plural: 'deviceclasses', scope: 'Cluster', strategy: generationStrategy },
      { kind: 'ResourceClaim', plural: 'resourceclaims', status: true, columns: cluster.resourceClaimColumns },
      { kind: 'ResourceClaimTemplate', plural: 'resourceclaimtemplates' },
      {
        kind: 'ResourceSlice',
        plural: 'resourceslices',
        scope: 'Cluster',
        strategy: generationStrategy,
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
        conditionalUpdate: true,
        storageKind: 'apiextensions.k8s.io/v1beta1/CustomResourceDefinition',
      },
    ],
  },
];
