/** The control plane without the API server: the scheduler, workload, node lifecycle and storage controllers. */
import type { Pod } from '../api/kinds.ts';
import { KubeEventRecorder } from '../kube/eventRecorder.ts';
import type { Informers } from '../kube/informer.ts';
import type { Controller } from '../kube/runtime/controller.ts';
import { BY_ADDRESS, clusterInformers } from './clusterInformers.ts';
import { ControllerEvents } from './controllerEvents.ts';
import type { ControlPlaneContext, LoopContext } from './controlLoop.ts';
import { eventExpiryController } from './eventExpiry.ts';
import { nodeHealthController } from './nodeLifecycle/nodeHealth.ts';
import { podGarbageController } from './nodeLifecycle/podGarbage.ts';
import { taintEvictionController } from './nodeLifecycle/taintEviction.ts';
import { schedulerController } from './scheduler/scheduler.ts';
import { attachDetachController, volumesReady } from './storage/attachDetach.ts';
import { csiNodeController } from './storage/csiNodes.ts';
import { volumeControllers } from './storage/volumeController.ts';
import { autoscalerController } from './workloads/autoscaler.ts';
import { cronJobController } from './workloads/cronJob.ts';
import { daemonSetController } from './workloads/daemonSet.ts';
import { deploymentController } from './workloads/deployment.ts';
import { disruptionBudgetController } from './workloads/disruptionBudget.ts';
import { endpointsController } from './workloads/endpoints.ts';
import { jobControllers } from './workloads/job.ts';
import { podCompletionController } from './workloads/podCompletion.ts';
import { replicaSetController } from './workloads/replicaSet.ts';
import { statefulSetController } from './workloads/statefulSet.ts';

export interface ControlPlaneOptions extends LoopContext {
  readonly informers: Informers;
  /** Id of the resource group of the cluster's disks: the prefix of their ids. */
  readonly resourceGroupId: string;
  /** Returns the maximum number of data disks of a VM size. */
  readonly dataDisks: (size: string) => number | undefined;
  /** Whether the kubelet of a node reports. */
  readonly canReport: (node: string) => boolean;
  /** Only the scheduler records events. */
  readonly quiet: boolean;
}

// The return type is inferred from the parts.
export function createControlPlane(options: ControlPlaneOptions) {
  const { kube, clock, random, log } = options;
  const informers = clusterInformers(options.informers);
  const recorderOf = (component: string): KubeEventRecorder =>
    new KubeEventRecorder({ kube, clock, random, log, component });
  const eventsOf = (component: string): ControllerEvents =>
    new ControllerEvents(options.quiet ? undefined : recorderOf(component), clock);
  const context: ControlPlaneContext = { kube, clock, random, log, informers, eventsOf };
  const controllers: readonly Controller[] = [
    schedulerController(context, recorderOf('default-scheduler')),
    deploymentController(context),
    replicaSetController(context),
    statefulSetController(context),
    daemonSetController(context),
    ...jobControllers(context),
    cronJobController(context),
    podCompletionController(context, options.canReport),
    autoscalerController(context),
    disruptionBudgetController(context),
    endpointsController(context),
    nodeHealthController(context),
    taintEvictionController(context),
    podGarbageController(context),
    ...volumeControllers(context, options.resourceGroupId),
    attachDetachController(context),
    eventExpiryController(context),
    csiNodeController(context, options.dataDisks),
  ];
  return {
    controllers,
    informers,
    /** Untrimmed pods. */
    pods: informers.pods,
    podsAt: (address: string): readonly Pod[] => informers.pods.store.byIndex(BY_ADDRESS, address),
    /** Whether all disks of a pod are attached to its node, so that its containers may start. */
    volumesReady: (pod: Pod): boolean => volumesReady(pod, informers),
  };
}
