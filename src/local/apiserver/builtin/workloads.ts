/** What makes, scales and protects pods. */
import { autoscalersView } from '../autoscalerConversion.ts';
import * as workloadColumns from '../columns/workloads.ts';
import type { ScalePaths } from '../resource.ts';
import { autoscalerStrategy, autoscalerVersion1Strategy, budgetStrategy } from '../strategies/scaling.ts';
import * as workloads from '../strategies/workloads.ts';
import type { GroupRows } from './row.ts';

const ALL = ['all'];
const SCALE: ScalePaths = {
  specReplicas: '.spec.replicas',
  statusReplicas: '.status.replicas',
  selector: '.spec.selector',
};

export const workloadTable: readonly GroupRows[] = [
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
      {
        kind: 'ControllerRevision',
        plural: 'controllerrevisions',
        strategy: workloads.controllerRevisionStrategy,
        columns: workloadColumns.controllerRevisionColumns,
      },
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
        strategy: budgetStrategy,
        columns: workloadColumns.budgetColumns,
        conditionalUpdate: true,
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
        strategy: autoscalerStrategy,
        columns: workloadColumns.autoscalerColumns,
      },
    ],
  },
  {
    apiVersion: 'autoscaling/v1',
    types: 'io.k8s.api.autoscaling.v1',
    rows: [
      {
        kind: 'HorizontalPodAutoscaler',
        plural: 'horizontalpodautoscalers',
        short: ['hpa'],
        categories: ALL,
        status: true,
        strategy: autoscalerVersion1Strategy,
        columns: workloadColumns.autoscalerColumns,
        storage: autoscalersView,
        storageKind: 'autoscaling/v2/HorizontalPodAutoscaler',
      },
    ],
  },
];
