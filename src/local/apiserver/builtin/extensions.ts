/** Leases, storage, roles, networking and the other groups. */
import * as cluster from '../columns/cluster.ts';
import * as networking from '../columns/networking.ts';
import * as storage from '../columns/storage.ts';
import { eventsView } from '../eventConversion.ts';
import * as clusterRules from '../strategies/cluster.ts';
import { customResourceDefinitionStrategy } from '../strategies/customResourceDefinition.ts';
import type { GroupRows, Row } from './row.ts';

const EXTENSIONS = ['api-extensions'];

const rbac = (kind: string, plural: string, scope: 'Cluster' | undefined): Row => ({
  kind,
  plural,
  ...(scope === undefined ? {} : { scope }),
  columns: kind.endsWith('Binding') ? cluster.bindingColumns : cluster.roleColumns,
  strategy: kind.endsWith('Binding') ? clusterRules.roleBindingStrategy : clusterRules.plainStrategy,
});

export const extensionTable: readonly GroupRows[] = [
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
        columns: storage.storageClassColumns,
      },
      { kind: 'CSINode', plural: 'csinodes', scope: 'Cluster', columns: storage.csiNodeColumns },
      { kind: 'CSIDriver', plural: 'csidrivers', scope: 'Cluster', columns: storage.csiDriverColumns },
      { kind: 'CSIStorageCapacity', plural: 'csistoragecapacities' },
      {
        kind: 'VolumeAttachment',
        plural: 'volumeattachments',
        scope: 'Cluster',
        status: true,
        columns: storage.volumeAttachmentColumns,
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
        columns: networking.ingressColumns,
      },
      {
        kind: 'IngressClass',
        plural: 'ingressclasses',
        scope: 'Cluster',
        strategy: clusterRules.generationStrategy,
        columns: networking.ingressClassColumns,
      },
      {
        kind: 'NetworkPolicy',
        plural: 'networkpolicies',
        short: ['netpol'],
        strategy: clusterRules.generationStrategy,
        columns: networking.networkPolicyColumns,
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
