/** The kinds of the core group. */
import * as cluster from '../columns/cluster.ts';
import * as networking from '../columns/networking.ts';
import { podColumns } from '../columns/pod.ts';
import * as storage from '../columns/storage.ts';
import * as workloadColumns from '../columns/workloads.ts';
import type { Action, ScalePaths } from '../resource.ts';
import * as clusterRules from '../strategies/cluster.ts';
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
const FINALIZE: Action = { name: 'finalize', group: '', version: 'v1', kind: 'Namespace' };

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
        columns: networking.serviceColumns,
        selectable: ['spec.clusterIP', 'spec.type'],
      },
      { kind: 'Endpoints', plural: 'endpoints', short: ['ep'], columns: networking.endpointsColumns },
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
        columns: storage.volumeColumns,
      },
      {
        kind: 'PersistentVolumeClaim',
        plural: 'persistentvolumeclaims',
        short: ['pvc'],
        status: true,
        strategy: clusterRules.claimStrategy,
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
];
