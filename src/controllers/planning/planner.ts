import type { NodePool } from '../../api/kinds/nodePool.ts';
import type { CloudProvider } from '../../cloud/cloudProvider.ts';
import type { ClusterSnapshot } from '../../cluster/cluster.ts';
import type { NodeView } from '../../cluster/nodeView.ts';
import type { Overlay, PoolOffer, Snapshot, Solution, SolveOptions } from '../../solver/problem.ts';
import { ask } from '../../solver/solve.ts';
import type { Resources } from '../../units/resources.ts';
import type { CapacityBuffers } from '../capacity-buffer/capacityBuffers.ts';
import { noTracer, traced, type Span } from '../../kube/trace.ts';
import type { World } from '../world/world.ts';
import { catalogues, type Catalogue } from './catalogues.ts';
import { ClusterModel } from './clusterModel.ts';
import { unseenDaemonNamespaces } from './daemons.ts';
import type { DefaultSpread } from './defaultSpread.ts';
import { currentDemand, type Demand } from './demand.ts';
import { defaultRequests } from './limitRanges.ts';
import { KnownVolumes } from './podVolumes.ts';
import { isUsable, unlaunchedNodes, usageAtMost } from './poolUse.ts';

export interface PlannerOptions {
  /** Set when capacity buffers are enabled. */
  readonly buffers?: CapacityBuffers;
  /** Set when pods without spread constraints are spread by default. */
  readonly defaultSpread?: DefaultSpread;
  /** Policies for preferences and minValues, and costs in addition to prices. */
  readonly policies?: Pick<
    SolveOptions,
    'preferencePolicy' | 'minValuesPolicy' | 'nodeOverheadCost' | 'maxPodsSharePerNode'
  >;
}

const NO_SPAN = noTracer.begin('');

/** The cluster at one moment, ready for questions. It does not change: later events give another moment. */
export interface Moment {
  readonly now: number;
  readonly snapshot: ClusterSnapshot;
  readonly demand: Demand;
  /** The requested pools with their instance types, in order of preference. */
  readonly catalogues: readonly Catalogue[];
  /** The usable pools among them, as offered to pods. */
  readonly offers: readonly PoolOffer[];
  /**
   * Asks about this moment, even after the model was carried forward. With `pools`: as if the pools had these specs.
   */
  ask(overlay: Overlay, options?: SolveOptions, pools?: readonly PoolOffer[]): Solution;
}

/**
 * Entry point for all loops that plan: one model of the cluster, carried from moment to moment. Loops share it;
 * switching between their moments costs time in proportion to the changes between them.
 */
export class Planner {
  readonly options: PlannerOptions;
  private readonly world: World;
  private readonly disks: KnownVolumes;
  private readonly model: ClusterModel;

  constructor(world: World, options: PlannerOptions = {}) {
    this.world = world;
    this.options = options;
    const { volumeClaims, volumes, storageClasses } = world.informers;
    this.disks = new KnownVolumes({
      claims: volumeClaims.store,
      volumes: volumes.store,
      classes: storageClasses.store,
    });
    this.model = new ClusterModel(world);
  }

  /**
   * `includes` chooses the pools whose instance types the caller needs; nodes are planned only for usable ones. Reading
   * the moment and asking about it are recorded as parts of the span.
   */
  async moment(
    cloud: CloudProvider,
    includes: (pool: NodePool) => boolean,
    signal: AbortSignal,
    span: Span = NO_SPAN,
  ): Promise<Moment> {
    const { cluster, clock, informers } = this.world;
    const found = await traced(
      span.child('catalogues'),
      () => catalogues(this.world, cloud, includes, signal),
      (all) => ({ pools: all.length }),
    );
    const reading = span.child('snapshot');
    // No await from here on, so that snapshot and usage belong together.
    const snapshot = cluster.snapshot();
    const demand = currentDemand(this.world, snapshot, this.options.buffers?.pods() ?? [], this.disks);
    const unlaunched = unlaunchedNodes(snapshot.nodes);
    const offers = this.offers(found, unlaunched);
    const quotas = cloud.quotas?.([...unlaunched.values()].flat().flatMap(({ claim }) => claim ?? []));
    reading.end({ nodes: snapshot.nodes.length, waiting: demand.waiting.length });
    let compiled: Snapshot | undefined;
    // Many questions with the same pools use one snapshot: the model is carried to it once.
    let other: { readonly pools: readonly PoolOffer[]; readonly snapshot: Snapshot } | undefined;
    const compile = (): Snapshot =>
      this.model.snapshot({
        snapshot,
        promised: demand.promised,
        offers,
        defaultRequests: defaultRequests(unseenDaemonNamespaces(cluster), informers.limitRanges.store),
        volumes: demand.volumes,
        ...(quotas && { quotas }),
        ...(this.options.defaultSpread && { defaultSpread: this.options.defaultSpread.forPass() }),
      });
    return {
      now: clock.now(),
      snapshot,
      demand,
      catalogues: found,
      offers,
      ask: (overlay, options, pools) => {
        const asking = span.child('ask');
        compiled ??= compile();
        if (pools === undefined) return this.ask(compiled, overlay, options, asking);
        if (other?.pools !== pools) other = { pools, snapshot: { ...compiled, pools } };
        return this.ask(other.snapshot, overlay, options, asking);
      },
    };
  }

  /** Free resources of the node after running pods and expected daemons. */
  freeOn(view: NodeView): Resources {
    const { cluster, informers } = this.world;
    return this.model.freeOn(view, defaultRequests(unseenDaemonNamespaces(cluster), informers.limitRanges.store));
  }

  private ask(snapshot: Snapshot, overlay: Overlay, options: SolveOptions | undefined, span: Span): Solution {
    const advancing = span.child('model advance');
    const model = this.model.advance(snapshot);
    advancing.end();
    const solution = ask(model, overlay, { ...this.options.policies, ...options });
    const { plannedNodes, unplaced } = solution;
    span.end({ pods: overlay.pods.length, planned_nodes: plannedNodes.length, unplaced: unplaced.length });
    return solution;
  }

  private offers(found: readonly Catalogue[], unlaunched: ReturnType<typeof unlaunchedNodes>): readonly PoolOffer[] {
    return found
      .filter(({ pool, instanceTypes }) => isUsable(pool) && instanceTypes.length > 0)
      .map(({ pool, instanceTypes }) => {
        const { name } = pool.metadata;
        const usage = this.world.cluster.poolUsage(name);
        return { pool, instanceTypes, used: usageAtMost(usage, unlaunched.get(name) ?? [], instanceTypes) };
      });
  }
}
