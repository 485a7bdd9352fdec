/**
 * What runs beside the API server on a control plane: the scheduler, the workload controllers, node lifecycle and
 * storage. In: the API and informers. Out: controllers for a manager.
 */
import { Kinds, type Pod } from '../api/kinds.ts';
import type { Clock } from '../clock/clock.ts';
import type { Random } from '../clock/random.ts';
import { KubeEventRecorder } from '../kube/eventRecorder.ts';
import type { Informer, Informers } from '../kube/informer.ts';
import type { Kube } from '../kube/kube.ts';
import type { Log } from '../kube/log.ts';
import type { Controller } from '../kube/runtime/controller.ts';
import { ControllerEvents } from './controllerEvents.ts';
import { eventExpiryController } from './eventExpiry.ts';
import type { MetricsApiOptions } from './metrics/metricsApi.ts';
import { nodeHealthController } from './nodeLifecycle/nodeHealth.ts';
import { podGarbageController } from './nodeLifecycle/podGarbage.ts';
import { taintEvictionController } from './nodeLifecycle/taintEviction.ts';
import { BY_NODE, schedulerController } from './scheduler/scheduler.ts';
import { attachDetachController, BY_VOLUME, byVolumeIndex, volumesReady } from './storage/attachDetach.ts';
import { BY_CLAIM, byClaimIndex } from './storage/claimIndex.ts';
import { csiNodeController } from './storage/csiNodes.ts';
import { volumeControllers } from './storage/volumeController.ts';
import { autoscalerController } from './workloads/autoscaler.ts';
import { cronJobController } from './workloads/cronJob.ts';
import { daemonSetController } from './workloads/daemonSet.ts';
import { deploymentController } from './workloads/deployment.ts';
import { BY_NAMESPACE, disruptionBudgetController } from './workloads/disruptionBudget.ts';
import { endpointsController } from './workloads/endpoints.ts';
import { jobController } from './workloads/job.ts';
import { BY_CONTROLLER, byControllerIndex } from './workloads/ownedObjects.ts';
import { podCompletionController } from './workloads/podCompletion.ts';
import { replicaSetController } from './workloads/replicaSet.ts';
import { statefulSetController } from './workloads/statefulSet.ts';

export interface ControlPlaneOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly informers: Informers;
  /** Where Azure keeps the cluster's disks: the beginning of their ids. */
  readonly resourceGroupId: string;
  /** Data disks that a VM size takes. */
  readonly dataDisks: (size: string) => number | undefined;
  /** Whether the kubelet of a node can speak. */
  readonly canReport: (node: string) => boolean;
  /** Controllers tell nothing of what they do, but for the scheduler. */
  readonly quiet: boolean;
}

export interface ControlPlane {
  readonly controllers: readonly Controller[];
  /** Whole pods, indexed by node, owner, namespace, claim and address. */
  readonly pods: Informer<Pod>;
  readonly podsAt: (address: string) => readonly Pod[];
  /** Whether all disks of a pod are on its node, so that its containers may start. */
  readonly volumesReady: (pod: Pod) => boolean;
  /** What is known of nodes, workloads and their load, for whoever measures. */
  readonly measured: Omit<MetricsApiOptions, 'clock' | 'canReport'>;
}

const BY_ADDRESS = 'status.podIP';

export function createControlPlane(options: ControlPlaneOptions): ControlPlane {
  const { kube, clock, random, log, informers } = options;
  const common = { kube, clock, random, log };
  const owned = { indexes: { [BY_CONTROLLER]: byControllerIndex } };
  const pods = informers.of(Kinds.Pod, {
    indexes: {
      [BY_NODE]: ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []),
      [BY_CONTROLLER]: byControllerIndex,
      [BY_NAMESPACE]: ({ metadata }) => [metadata.namespace ?? ''],
      [BY_CLAIM]: byClaimIndex,
      [BY_ADDRESS]: ({ status }) => (status?.podIP ? [status.podIP] : []),
    },
    // Kubelets and controllers need whole pods, not the trimmed ones of the engine.
    transform: (pod) => pod,
  });
  const nodes = informers.of(Kinds.Node);
  const replicaSets = informers.of(Kinds.ReplicaSet, owned);
  const deployments = informers.of(Kinds.Deployment);
  const statefulSets = informers.of(Kinds.StatefulSet);
  const revisions = informers.of(Kinds.ControllerRevision, owned);
  const jobs = informers.of(Kinds.Job, owned);
  const budgets = informers.of(Kinds.PodDisruptionBudget);
  const claims = informers.of(Kinds.PersistentVolumeClaim);
  const volumes = informers.of(Kinds.PersistentVolume);
  const storageClasses = informers.of(Kinds.StorageClass);
  const csiNodes = informers.of(Kinds.CSINode);
  const attachments = informers.of(Kinds.VolumeAttachment, { indexes: { [BY_VOLUME]: byVolumeIndex } });
  const storage = { claims, volumes, storageClasses, csiNodes };
  const events = new KubeEventRecorder({ ...common, component: 'default-scheduler' });
  const as = (component: string): { readonly events: ControllerEvents } => {
    const recorder = options.quiet ? undefined : new KubeEventRecorder({ ...common, component });
    return { events: new ControllerEvents(recorder, clock) };
  };
  const autoscalers = informers.of(Kinds.HorizontalPodAutoscaler);
  const sized = { deployments, replicaSets, statefulSets };

  const controllers = [
    schedulerController({
      ...common,
      events,
      pods,
      nodes,
      namespaces: informers.of(Kinds.Namespace),
      budgets,
      storage,
    }),
    deploymentController({ ...common, ...as('deployment-controller'), pods, replicaSets, deployments }),
    replicaSetController({ ...common, ...as('replicaset-controller'), pods, replicaSets }),
    statefulSetController({ ...common, ...as('statefulset-controller'), pods, statefulSets, revisions, claims }),
    daemonSetController({
      ...common,
      ...as('daemonset-controller'),
      pods,
      nodes,
      revisions,
      daemonSets: informers.of(Kinds.DaemonSet),
    }),
    jobController({ ...common, ...as('job-controller'), pods, jobs }),
    cronJobController({ ...common, ...as('cronjob-controller'), jobs, cronJobs: informers.of(Kinds.CronJob) }),
    podCompletionController({ ...common, pods, canReport: options.canReport }),
    autoscalerController({ ...common, ...as('horizontal-pod-autoscaler'), ...sized, pods, autoscalers }),
    disruptionBudgetController({ ...common, ...sized, pods, budgets }),
    endpointsController({ ...common, pods, services: informers.of(Kinds.Service) }),
    nodeHealthController({ ...common, ...as('node-controller'), nodes, leases: informers.of(Kinds.Lease) }),
    taintEvictionController({ ...common, ...as('taint-eviction-controller'), nodes, pods, byNode: BY_NODE }),
    podGarbageController({ ...common, nodes, pods, byNode: BY_NODE }),
    ...volumeControllers({
      ...common,
      ...storage,
      pods,
      nodes,
      attachments,
      resourceGroupId: options.resourceGroupId,
    }),
    attachDetachController({ ...common, pods, nodes, claims, volumes, attachments }),
    eventExpiryController(common),
    csiNodeController({ ...common, nodes, csiNodes, dataDisks: options.dataDisks }),
  ];
  const podsAt = (address: string): readonly Pod[] => pods.store.byIndex(BY_ADDRESS, address);
  return {
    controllers,
    pods,
    podsAt,
    volumesReady: (pod) => volumesReady(pod, { claims, volumes, attachments }),
    measured: { ...sized, pods, nodes, autoscalers },
  };
}
