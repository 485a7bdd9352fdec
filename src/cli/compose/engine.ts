/**
 * Puts the loops together. In: the ports and a cloud. Out: a manager that runs all of them, for `run` against a cluster
 * and for `up` against the local world alike.
 */
import { Kinds } from '../../api/kinds.ts';
import type { AzureNodeClass } from '../../azure/nodeClass.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Random } from '../../clock/random.ts';
import type { CloudProvider } from '../../cloud/cloudProvider.ts';
import { createWorld } from '../../controllers/createWorld.ts';
import { EvictionQueue } from '../../controllers/eviction-queue/controller.ts';
import { nodeClaimLifecycleController } from '../../controllers/nodeclaim-lifecycle/controller.ts';
import { nodeClassHashController } from '../../controllers/nodeclass-hash/controller.ts';
import { nodeClassStatusController } from '../../controllers/nodeclass-status/controller.ts';
import { nodeClassTerminationController } from '../../controllers/nodeclass-termination/controller.ts';
import { nodePoolCounterController } from '../../controllers/nodepool-counter/controller.ts';
import { nodePoolHashController } from '../../controllers/nodepool-hash/controller.ts';
import { nodePoolReadinessController } from '../../controllers/nodepool-readiness/controller.ts';
import { nodePoolValidationController } from '../../controllers/nodepool-validation/controller.ts';
import { nodeTerminationController } from '../../controllers/node-termination/controller.ts';
import { provisionerControllers } from '../../controllers/provisioner/controller.ts';
import type { Kube } from '../../kube/kube.ts';
import type { Log } from '../../kube/log.ts';
import type { MetricsRegistry } from '../../kube/metrics.ts';
import { Manager, type ManagerOptions } from '../../kube/runtime/manager.ts';

export interface EngineOptions {
  readonly kube: Kube;
  readonly cloud: CloudProvider;
  /** Resolves AKSNodeClasses; absent for clouds that have none. */
  readonly nodeClass?: AzureNodeClass;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: MetricsRegistry;
  /** Milliseconds. */
  readonly batchIdle: number;
  readonly batchMax: number;
  readonly leaderElection?: ManagerOptions['leaderElection'];
  readonly warmUp?: boolean;
}

export function createEngine(options: EngineOptions): Manager {
  const { kube, cloud, clock, random, log, metrics, leaderElection, warmUp } = options;
  const { world, informers } = createWorld({ kube, cloud, clock, random, log, metrics });
  const volumeAttachments = informers.of(Kinds.VolumeAttachment);
  const manager = new Manager({
    kube,
    clock,
    random,
    log,
    metrics,
    informers,
    ...(leaderElection && { leaderElection }),
    ...(warmUp !== undefined && { warmUp }),
  });
  const evictions = new EvictionQueue(world);
  const controllers = [
    ...provisionerControllers(world, options),
    nodeClaimLifecycleController(world),
    nodeTerminationController(world, { evictions, volumeAttachments }),
    evictions.controller(),
    nodePoolReadinessController(world),
    nodePoolValidationController(world),
    nodePoolHashController(world),
    nodePoolCounterController(world),
  ];
  for (const controller of controllers) manager.add(controller);
  if (options.nodeClass) {
    const nodeClasses = informers.of(Kinds.AKSNodeClass);
    manager.add(nodeClassStatusController(world, nodeClasses, options.nodeClass));
    manager.add(nodeClassHashController(world, nodeClasses));
    manager.add(nodeClassTerminationController(world, nodeClasses));
  }
  return manager;
}
