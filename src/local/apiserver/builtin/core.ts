/** The kinds of the core group. */
import * as cluster from '../columns/cluster.ts';
import * as networking from '../columns/networking.ts';
import { podColumns, podRowConditions } from '../columns/pod.ts';
import * as storage from '../columns/storage.ts';
import * as workloadColumns from '../columns/workloads.ts';
import type { Action, ScalePaths } from '../resource.ts';
import { configMapStrategy, secretStrategy } from '../strategies/data.ts';
import { limitRangeStrategy, quotaStrategy } from '../strategies/limits.ts';
import { namespaceStrategy, nodeStrategy } from '../strategies/node.ts';
import { eventStrategy } from '../strategies/records.ts';
import { serviceStrategy } from '../strategies/service.ts';
import { claimStrategy, volumeStrategy } from '../strategies/storage.ts';
import { podStrategy } from '../strategies/pod.ts';
import * as workloads from '../strategies/workloads.ts';
import type { GroupRows } from './row.ts';

const ALL = ['all'];
const SCALE: ScalePaths = {
  specReplicas: '.spec.replicas',
  statusReplicas: '.status.replicas',
  selector: '.spec.selector',
};
const EVICTION: Action = { name: 'eviction', group: 'policy', version: 'v1', kind: 'Eviction' };
const BINDING: Action = { name: 'binding', group: '', version: 'v1', kind: 'Binding' };
const TOKEN: Action = { name: 'token', group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' };
const STATUS_VERBS = ['get', 'patch', 'update'];
const PROXY_VERBS = ['create', 'delete', 'get', 'patch', 'update'];
const core = (name: string, kind: string, verbs: readonly string[]): Action => ({
  name,
  group: '',
  version: 'v1',
  kind,
  verbs,
});
/** What a kubelet would answer. */
const NODE_ACTIONS = [core('proxy', 'NodeProxyOptions', PROXY_VERBS)];
const POD_ACTIONS: readonly Action[] = [
  core('attach', 'PodAttachOptions', ['create', 'get']),
  core('exec', 'PodExecOptions', ['create', 'get']),
  core('log', 'Pod', ['get']),
  core('portforward', 'PodPortForwardOptions', ['create', 'get']),
  core('proxy', 'PodProxyOptions', PROXY_VERBS),
  core('ephemeralcontainers', 'Pod', STATUS_VERBS),
  core('resize', 'Pod', STATUS_VERBS),
];
const FINALIZE: Action = { name: 'finalize', group: '', version: 'v1', kind: 'Namespace', verbs: ['update'] };

export const coreTable: readonly GroupRows[] = [
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
        actions: [EVICTION, BINDING, ...POD_ACTIONS],
        rowConditions: podRowConditions,
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
        strategy: nodeStrategy,
        columns: cluster.nodeColumns,
        actions: NODE_ACTIONS,
        selectable: ['spec.unschedulable'],
      },
      {
        kind: 'Namespace',
        plural: 'namespaces',
        scope: 'Cluster',
        short: ['ns'],
        status: true,
        // Namespaces are deleted one by one: a collection delete would take kube-system along.
        verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
        actions: [FINALIZE],
        strategy: namespaceStrategy,
        columns: cluster.namespaceColumns,
        selectable: ['status.phase'],
      },
      {
        kind: 'Service',
        plural: 'services',
        short: ['svc'],
        categories: ALL,
        status: true,
        strategy: serviceStrategy,
        actions: [core('proxy', 'ServiceProxyOptions', PROXY_VERBS)],
        columns: networking.serviceColumns,
        selectable: ['spec.clusterIP', 'spec.type'],
      },
      {
        kind: 'Endpoints',
        plural: 'endpoints',
        short: ['ep'],
        columns: networking.endpointsColumns,
        deprecation: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
      },
      {
        kind: 'ConfigMap',
        plural: 'configmaps',
        short: ['cm'],
        columns: cluster.configMapColumns,
        strategy: configMapStrategy,
      },
      {
        kind: 'Secret',
        plural: 'secrets',
        strategy: secretStrategy,
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
        strategy: eventStrategy,
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
        strategy: volumeStrategy,
        columns: storage.volumeColumns,
      },
      {
        kind: 'PersistentVolumeClaim',
        plural: 'persistentvolumeclaims',
        short: ['pvc'],
        status: true,
        strategy: claimStrategy,
        columns: storage.claimColumns,
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
      {
        kind: 'LimitRange',
        plural: 'limitranges',
        short: ['limits'],
        strategy: limitRangeStrategy,
        columns: cluster.limitRangeColumns,
      },
      {
        kind: 'ComponentStatus',
        plural: 'componentstatuses',
        scope: 'Cluster',
        short: ['cs'],
        verbs: ['get', 'list'],
        deprecation: 'v1 ComponentStatus is deprecated in v1.19+',
        columns: cluster.componentColumns,
      },
      { kind: 'Binding', plural: 'bindings', verbs: ['create'] },
      {
        kind: 'ResourceQuota',
        plural: 'resourcequotas',
        short: ['quota'],
        status: true,
        strategy: quotaStrategy,
        columns: cluster.quotaColumns,
      },
    ],
  },
];
