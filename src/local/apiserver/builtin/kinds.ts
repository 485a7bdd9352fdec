/**
 * The built-in kinds that the server serves. `kinds.json` has a row for each, with its properties and table columns;
 * this file has the rules of those that need some. To serve another kind, add its type to
 * scripts/extract-kubernetes-types.ts and a row to `kinds.json`.
 */
import { podRowConditions } from '../columns/pod.ts';
import type { ColumnRow } from '../columns/column.ts';
import type { Action, Resource, StorageView, Strategy } from '../resource.ts';
import { autoscalersView, eventsView } from '../storageViews.ts';
import { customResourceDefinitionStrategy } from '../strategies/customResourceDefinition.ts';
import * as data from '../strategies/data.ts';
import * as jobs from '../strategies/jobs.ts';
import * as limits from '../strategies/limits.ts';
import * as networking from '../strategies/networking.ts';
import { namespaceStrategy, nodeStrategy } from '../strategies/node.ts';
import { podStrategy } from '../strategies/pod.ts';
import * as scaling from '../strategies/scaling.ts';
import { serviceStrategy } from '../strategies/service.ts';
import * as storage from '../strategies/storage.ts';
import * as workloads from '../strategies/workloads.ts';
import kinds from './kinds.json' with { type: 'json' };

/** A row of `kinds.json`; absent members have the usual values. */
interface Row {
  readonly kind: string;
  readonly plural: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly scope?: string;
  readonly status?: boolean;
  /** Has the scale subresource, with the usual paths. */
  readonly scaled?: boolean;
  readonly actions?: readonly Action[];
  readonly verbs?: readonly string[];
  readonly deprecation?: string;
  /** A replace must have a resourceVersion. */
  readonly conditionalUpdate?: boolean;
  readonly tracksGeneration?: boolean;
  /** `group/version/Kind` of the stored form, if different from the served one. */
  readonly storageKind?: string;
  readonly selectable?: readonly string[];
  readonly columns?: readonly ColumnRow[];
}

/** All served kinds of one API version; `types` is the prefix of the names of their types in OpenAPI. */
interface GroupRows {
  readonly apiVersion: string;
  readonly types: string;
  readonly kinds: readonly Row[];
}

export const builtinKinds: readonly GroupRows[] = kinds;

/** Strategies by kind, or by API version and kind where versions differ. */
export const strategies: Readonly<Record<string, Strategy>> = {
  ConfigMap: data.configMapStrategy,
  ControllerRevision: workloads.controllerRevisionStrategy,
  CronJob: jobs.cronJobStrategy,
  CSIDriver: storage.csiDriverStrategy,
  ClusterRole: data.roleStrategy,
  ClusterRoleBinding: data.roleBindingStrategy,
  CustomResourceDefinition: customResourceDefinitionStrategy,
  DaemonSet: workloads.daemonSetStrategy,
  Deployment: workloads.deploymentStrategy,
  EndpointSlice: networking.endpointSliceStrategy,
  'v1/Event': data.eventStrategy,
  'autoscaling/v1/HorizontalPodAutoscaler': scaling.autoscalerVersion1Strategy,
  'autoscaling/v2/HorizontalPodAutoscaler': scaling.autoscalerStrategy,
  Job: jobs.jobStrategy,
  Lease: data.leaseStrategy,
  LimitRange: limits.limitRangeStrategy,
  MutatingWebhookConfiguration: networking.mutatingWebhookStrategy,
  Namespace: namespaceStrategy,
  NetworkPolicy: networking.networkPolicyStrategy,
  Node: nodeStrategy,
  PersistentVolume: storage.volumeStrategy,
  PersistentVolumeClaim: storage.claimStrategy,
  Pod: podStrategy,
  PodDisruptionBudget: scaling.budgetStrategy,
  PodTemplate: workloads.podTemplateStrategy,
  PriorityClass: scaling.priorityClassStrategy,
  ReplicaSet: workloads.replicaSetStrategy,
  ReplicationController: workloads.replicationControllerStrategy,
  ResourceQuota: limits.quotaStrategy,
  Role: data.roleStrategy,
  RoleBinding: data.roleBindingStrategy,
  Secret: data.secretStrategy,
  Service: serviceStrategy,
  StatefulSet: workloads.statefulSetStrategy,
  StorageClass: storage.storageClassStrategy,
  ValidatingWebhookConfiguration: networking.validatingWebhookStrategy,
};

/** Storage views of kinds whose served and stored forms differ. */
export const storageViews: Readonly<Record<string, StorageView>> = {
  'autoscaling/v1/HorizontalPodAutoscaler': autoscalersView,
  'events.k8s.io/v1/Event': eventsView,
};

export const rowConditions: Readonly<Record<string, Resource['rowConditions']>> = { Pod: podRowConditions };
