/** Creates a manager with all loops on the given ports, both for `run` and for `up`. */
import { Kinds } from '../../api/kinds.ts';
import { Labels, nodeClassLabelKey } from '../../api/labels.ts';
import type { InPlaceUpdates } from '../../azure/inPlaceUpdates.ts';
import type { AzureNodeClass } from '../../azure/nodeClass.ts';
import type { LearnedAllocatable } from '../../catalogue/learnedAllocatable.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Random } from '../../clock/random.ts';
import type { CloudProvider } from '../../cloud/cloudProvider.ts';
import { withoutReservations } from '../../cloud/withoutReservations.ts';
import { METHODS } from '../../disruption/methods.ts';
import { CapacityBuffers } from '../../controllers/capacity-buffer/capacityBuffers.ts';
import { capacityBufferController } from '../../controllers/capacity-buffer/controller.ts';
import { BufferReferences } from '../../controllers/capacity-buffer/resolution.ts';
import { clusterStateController } from '../../controllers/cluster-state/controller.ts';
import { createWorld } from '../../controllers/world/createWorld.ts';
import { disruptionController } from '../../controllers/disruption/controller.ts';
import { DisruptionQueue } from '../../controllers/disruption-queue/controller.ts';
import { EvictionQueue } from '../../controllers/eviction-queue/controller.ts';
import { instanceAllocatableController } from '../../controllers/instance-allocatable/controller.ts';
import { instanceGarbageCollectionController } from '../../controllers/instance-garbage-collection/controller.ts';
import { meteredCloud } from '../../controllers/world/meteredCloud.ts';
import { nodeHealthController } from '../../controllers/node-health/controller.ts';
import { nodeMetricsController } from '../../controllers/metrics-node/controller.ts';
import { nodePoolMetricsController } from '../../controllers/metrics-nodepool/controller.ts';
import { podMetricsController } from '../../controllers/metrics-pod/controller.ts';
import { nodeClaimConsistencyController } from '../../controllers/nodeclaim-consistency/controller.ts';
import { nodeClaimDisruptionController } from '../../controllers/nodeclaim-disruption/controller.ts';
import { nodeClaimExpirationController } from '../../controllers/nodeclaim-expiration/controller.ts';
import { nodeClaimGarbageCollectionController } from '../../controllers/nodeclaim-garbage-collection/controller.ts';
import { nodeClaimHydrationController } from '../../controllers/nodeclaim-hydration/controller.ts';
import { nodeClaimInPlaceUpdateController } from '../../controllers/nodeclaim-inplaceupdate/controller.ts';
import { nodeClaimLifecycleController } from '../../controllers/nodeclaim-lifecycle/controller.ts';
import { nodeClaimPodEventsController } from '../../controllers/nodeclaim-podevents/controller.ts';
import type { LifecycleTimeouts } from '../../controllers/nodeclaim-lifecycle/step.ts';
import { nodeClassHashController } from '../../controllers/nodeclass-hash/controller.ts';
import { nodeClassStatusController } from '../../controllers/nodeclass-status/controller.ts';
import { nodeClassTerminationController } from '../../controllers/nodeclass-termination/controller.ts';
import {
  networkInterfaceGarbageCollectionController,
  type Leftovers,
} from '../../controllers/networkinterface-garbage-collection/controller.ts';
import { nodeOverlayController } from '../../controllers/nodeoverlay/controller.ts';
import { overlaidCloud, OverlayStore } from '../../controllers/nodeoverlay/overlayCloud.ts';
import { nodePoolCounterController } from '../../controllers/nodepool-counter/controller.ts';
import { nodePoolHashController } from '../../controllers/nodepool-hash/controller.ts';
import { nodePoolReadinessController } from '../../controllers/nodepool-readiness/controller.ts';
import { nodePoolRegistrationHealthController } from '../../controllers/nodepool-registration-health/controller.ts';
import { nodePoolValidationController } from '../../controllers/nodepool-validation/controller.ts';
import { nodeTerminationController } from '../../controllers/node-termination/controller.ts';
import { DefaultSpread, type SpreadConstraint } from '../../controllers/planning/defaultSpread.ts';
import { Batcher } from '../../controllers/provisioner/batcher.ts';
import { PlacementHints, type PlacementHintsOptions } from '../../controllers/placement-hints/controller.ts';
import { Planner, type PlannerOptions } from '../../controllers/planning/planner.ts';
import { provisionerControllers } from '../../controllers/provisioner/controller.ts';
import { staticDeprovisioningController } from '../../controllers/static-deprovisioning/controller.ts';
import { statusConditionsController } from '../../controllers/status-conditions/controller.ts';
import { staticProvisioningController } from '../../controllers/static-provisioning/controller.ts';
import { userEditsController } from '../../controllers/user-edits/controller.ts';
import type { World } from '../../controllers/world/world.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Tracer } from '../../kube/trace.ts';
import type { Informers } from '../../kube/informer.ts';
import type { Kube } from '../../kube/kube.ts';
import type { Log } from '../../kube/log.ts';
import type { MetricsRegistry } from '../../kube/metrics.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { Manager, type ManagerOptions } from '../../kube/runtime/manager.ts';
import type { FeatureGates } from '../../options/featureGates.ts';

export interface EngineOptions {
  readonly kube: Kube;
  readonly cloud: CloudProvider;
  /** Updates the status of AKSNodeClasses; absent for other clouds. */
  readonly nodeClass?: AzureNodeClass;
  /** Removes leftovers of failed launches; absent for clouds without any. */
  readonly leftovers?: Leftovers;
  /** Updates tags and identities of running instances; absent for clouds without them. */
  readonly inPlaceUpdates?: InPlaceUpdates;
  /** Learns the allocatable resources of joined nodes; absent for clouds that know them. */
  readonly learned?: LearnedAllocatable;
  /** Refreshes the data about the cloud's offer. */
  readonly refreshes?: Controller;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: MetricsRegistry;
  /** Milliseconds. */
  readonly batchIdle: number;
  readonly batchMax: number;
  /** Time for a claim to launch and to join; default: Karpenter's. */
  readonly timeouts?: LifecycleTimeouts;
  readonly leaderElection?: ManagerOptions['leaderElection'];
  readonly warmUp?: boolean;
  /** Where decisions are recorded; default: a new ledger. */
  readonly ledger?: Ledger;
  /** Set when passes are traced. */
  readonly tracer?: Tracer;
  /** Default spread constraints, as configured in the cluster's scheduler. */
  readonly defaultSpread?: readonly SpreadConstraint[];
  /** Policies for preferences and minValues. */
  readonly policies?: PlannerOptions['policies'];
  /** Set when placement hints are on; names the schedulers that respect them. */
  readonly placementHints?: PlacementHintsOptions;
  /** Buys spare nodes where a scheduler without hints would leave pods waiting. */
  readonly keepsSlack?: boolean;
  /** Whether to export metrics and events of nodes, pools and conditions; default true. */
  readonly observeState?: boolean;
  /** Called with the world of the loops, for displays. */
  readonly onWorld?: (world: World) => void;
  /** Features are off by default, except reserved capacity. */
  readonly gates?: Partial<FeatureGates>;
}

/** Milliseconds; the minimum time for which a new node is kept for the pods for which it was bought. */
const MIN_NOMINATION = 10_000;

export function createEngine(options: EngineOptions): Manager {
  const { kube, clock, random, log, metrics, leaderElection, warmUp, ledger, gates = {} } = options;
  const overlays = gates.nodeOverlay ? new OverlayStore() : undefined;
  const sold = gates.reservedCapacity === false ? withoutReservations(options.cloud) : options.cloud;
  const cloud = overlays ? overlaidCloud(sold, overlays) : sold;
  const { world, informers, recorder } = createWorld({
    kube,
    cloud,
    clock,
    random,
    log,
    metrics,
    ...(overlays && { overlays }),
    ...(ledger && { ledger }),
    ...(options.tracer && { tracer: options.tracer }),
  });
  options.onWorld?.(world);
  /** The world of a loop that calls the cloud: counts its calls under its name. */
  const as = (controller: string): World => ({ ...world, cloud: meteredCloud(cloud, { metrics, clock, controller }) });
  const manager = new Manager({
    kube,
    clock,
    random,
    log,
    metrics,
    informers,
    events: recorder,
    ...(leaderElection && { leaderElection }),
    ...(warmUp !== undefined && { warmUp }),
  });
  const batcher = new Batcher({ clock, idle: options.batchIdle, max: options.batchMax });
  const buffers = gates.capacityBuffer ? capacityBuffers(world, informers, batcher) : undefined;
  const planner = new Planner(world, {
    ...(buffers && { buffers: buffers.capacity }),
    ...(options.defaultSpread?.length && { defaultSpread: new DefaultSpread(options.defaultSpread, informers) }),
    ...(options.policies && { policies: options.policies }),
  });
  const evictions = new EvictionQueue(world);
  const hints =
    options.placementHints &&
    new PlacementHints(world, { ...options.placementHints, freeOn: (view) => planner.freeOn(view) });
  const disruptions = new DisruptionQueue(world);
  const controllers: readonly Controller[] = [
    ...provisionerControllers(as('provisioner'), {
      batcher,
      nominationPeriod: Math.max(2 * options.batchMax, MIN_NOMINATION),
      planner,
      ...(options.keepsSlack && { keepsSlack: true }),
      ...(hints && { tellsScheduler: true }),
    }),
    ...(buffers ? [buffers.controller] : []),
    nodeClaimLifecycleController(as('nodeclaim.lifecycle'), {
      ...(options.timeouts && { timeouts: options.timeouts }),
      ...(hints && { hooks: [hints.hook()] }),
    }),
    ...(hints ? [hints.controller()] : []),
    nodeClaimDisruptionController(as('nodeclaim.disruption')),
    disruptionController(as('disruption'), {
      planner,
      queue: disruptions,
      methods: METHODS,
      settings: {
        spotToSpot: gates.spotToSpotConsolidation ?? false,
        minValuesPolicy: options.policies?.minValuesPolicy ?? 'Strict',
      },
    }),
    disruptions.controller(),
    nodeClaimExpirationController(world),
    userEditsController(world),
    nodeClaimGarbageCollectionController(as('nodeclaim.garbagecollection')),
    instanceGarbageCollectionController(as('instance.garbagecollection')),
    ...(options.refreshes ? [options.refreshes] : []),
    ...(options.learned ? [instanceAllocatableController(world, options.learned)] : []),
    ...(options.leftovers ? [networkInterfaceGarbageCollectionController(world, options.leftovers)] : []),
    nodeClaimConsistencyController(world),
    nodeClaimHydrationController(world),
    nodeClaimPodEventsController(world),
    nodeTerminationController(as('node.termination'), evictions),
    evictions.controller(),
    nodePoolReadinessController(world),
    nodePoolValidationController(world),
    nodePoolHashController(world),
    nodePoolCounterController(world),
    nodePoolRegistrationHealthController(world),
    ...(gates.nodeRepair ? [nodeHealthController(world)] : []),
    ...(gates.staticCapacity ? [staticProvisioningController(world), staticDeprovisioningController(world)] : []),
    ...(overlays
      ? [
          nodeOverlayController(world, {
            overlays: informers.of(Kinds.NodeOverlay),
            store: overlays,
            cloud: meteredCloud(sold, { metrics, clock, controller: 'nodeoverlay' }),
          }),
        ]
      : []),
    clusterStateController(world),
    ...(options.observeState === false ? [] : stateObservers(world, informers, buffers !== undefined)),
    ...(options.nodeClass ? nodeClassControllers(world, informers, options.nodeClass) : []),
    ...(options.inPlaceUpdates
      ? [nodeClaimInPlaceUpdateController(world, informers.of(Kinds.AKSNodeClass), options.inPlaceUpdates)]
      : []),
  ];
  for (const controller of controllers) manager.add(controller);
  return manager;
}

/** Metrics and events of the cluster's state, which can be disabled in very large clusters. */
function stateObservers(world: World, informers: Informers, withBuffers: boolean): readonly Controller[] {
  const { nodeClaims, nodePools, nodes, nodeClasses } = world.informers;
  const classes = world.cloud.nodeClasses.map(({ group, kind }) => nodeClassLabelKey(group, kind));
  const labels = [...classes, Labels.nodePool];
  return [
    nodeMetricsController(world),
    nodePoolMetricsController(world),
    podMetricsController(world),
    statusConditionsController(world, Kinds.NodeClaim, nodeClaims, { labels, shared: true }),
    statusConditionsController(world, Kinds.NodePool, nodePools, { shared: true }),
    statusConditionsController(world, Kinds.Node, nodes, { labels: [...labels, Labels.initialized] }),
    ...nodeClasses.map(({ kind, informer }) => statusConditionsController(world, kind, informer, { shared: true })),
    ...(withBuffers
      ? [statusConditionsController(world, Kinds.CapacityBuffer, informers.of(Kinds.CapacityBuffer), { shared: true })]
      : []),
  ];
}

function capacityBuffers(
  world: World,
  informers: Informers,
  batcher: Batcher,
): { readonly capacity: CapacityBuffers; readonly controller: Controller } {
  const buffers = informers.of(Kinds.CapacityBuffer);
  const references = new BufferReferences(informers);
  const capacity = new CapacityBuffers({ kube: world.kube, clock: world.clock, buffers });
  const trigger = (element: string): void => batcher.trigger(element);
  return { capacity, controller: capacityBufferController(world, { buffers, references, capacity, trigger }) };
}

function nodeClassControllers(world: World, informers: Informers, nodeClass: AzureNodeClass): readonly Controller[] {
  const nodeClasses = informers.of(Kinds.AKSNodeClass);
  return [
    nodeClassStatusController(world, informers, nodeClass),
    nodeClassHashController(world, nodeClasses),
    nodeClassTerminationController(world, nodeClasses),
  ];
}
