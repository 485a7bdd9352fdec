import { Kinds, type Pod } from '../../api/kinds.ts';
import { isProvisionable } from '../../cluster/podPredicates.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { singleton } from '../../kube/runtime/singleton.ts';
import { keyOf, refOf, watch } from '../../kube/runtime/watch.ts';
import type { NewNode, Solution } from '../../solver/problem.ts';
import { solve } from '../../solver/solve.ts';
import type { World } from '../world.ts';
import { Batcher } from './batcher.ts';
import * as publish from './events.ts';
import { provisionerMetrics } from './metrics.ts';
import { nodeClaimDraft } from './nodeClaimDraft.ts';
import { buildProblem, byPreference, isUsable, type PoolCatalogue } from './problem.ts';

export interface ProvisionerOptions {
  /** Milliseconds. */
  readonly batchIdle: number;
  readonly batchMax: number;
}

/** How often a pod that still waits asks again. */
const RETRIGGER = 10_000;
/** NodeClaims written at once. */
const CREATE_CONCURRENCY = 50;

/** Turns pods that nobody can place into NodeClaims, one solve per batch. */
export function provisionerControllers(world: World, options: ProvisionerOptions): readonly Controller[] {
  const { clock, informers } = world;
  const batcher = new Batcher({ clock, idle: options.batchIdle, max: options.batchMax });
  const provisioner = new Provisioner(world, Math.max(2 * options.batchMax, 10_000));
  return [
    reconciler({
      ...world,
      name: 'provisioner.trigger.pod',
      concurrency: 10,
      watches: [watch(informers.pods, ({ object }) => (isProvisionable(object) ? [keyOf(object)] : []))],
      reconcile: async (key) => {
        const pod = informers.pods.store.get(refOf(key));
        if (!pod || !isProvisionable(pod)) return undefined;
        batcher.trigger(pod.metadata.uid ?? key);
        return { requeueAfter: RETRIGGER };
      },
    }),
    singleton({
      ...world,
      name: 'provisioner',
      reconcile: async (signal) => {
        await batcher.wait(signal);
        await provisioner.pass(signal);
        return { requeueAfter: 0 };
      },
    }),
  ];
}

class Provisioner {
  readonly #world: World;
  /** How long a pod is left to a machine that has come up for it. */
  readonly #nominationPeriod: number;
  readonly #metrics: ReturnType<typeof provisionerMetrics>;

  constructor(world: World, nominationPeriod: number) {
    this.#world = world;
    this.#nominationPeriod = nominationPeriod;
    this.#metrics = provisionerMetrics(world.metrics);
  }

  async pass(signal: AbortSignal): Promise<void> {
    const { cluster, clock, log } = this.#world;
    const catalogues = await this.#catalogues(signal);
    // From here on nothing is awaited until the solution stands: the snapshot cannot grow old.
    const start = clock.now();
    const snapshot = cluster.snapshot();
    const waiting: Pod[] = [];
    const promised = new Map<string, Pod[]>();
    for (const pod of snapshot.pendingPods) {
      const claim = cluster.promisedClaim(pod, start);
      if (claim === undefined) waiting.push(pod);
      else promised.set(claim, [...(promised.get(claim) ?? []), pod]);
    }
    if (waiting.length === 0) return;
    const solution = solve(buildProblem(snapshot, waiting, promised, catalogues));
    this.#metrics.schedulingDuration.observe({ controller: 'provisioner' }, (clock.now() - start) / 1000);
    this.#metrics.unschedulablePods.set({ controller: 'provisioner' }, solution.unplaced.length);
    log.info('computed a plan for pending pods', {
      pods: waiting.length,
      newNodes: solution.newNodes.length,
      onExistingNodes: solution.onExisting.reduce((sum, { pods }) => sum + pods.length, 0),
      unplaced: solution.unplaced.length,
      pricePerHour: solution.pricePerHour,
    });
    this.#announce(solution);
    await this.#createAll(solution.newNodes, signal);
  }

  /** Instance types of every usable pool. A pool whose types cannot be had is left out of this pass. */
  async #catalogues(signal: AbortSignal): Promise<PoolCatalogue[]> {
    const { informers, cloud, log, events } = this.#world;
    const pools = [...informers.nodePools.store.list()].filter(isUsable).sort(byPreference);
    const catalogues = await Promise.all(
      pools.map(async (pool): Promise<PoolCatalogue[]> => {
        try {
          const instanceTypes = await cloud.instanceTypes(pool, signal);
          if (instanceTypes.length > 0) return [{ pool, instanceTypes }];
          publish.noCompatibleInstanceTypes(events, pool);
        } catch (error) {
          signal.throwIfAborted();
          log.error('cannot list the instance types of a NodePool; it is left out of this pass', {
            NodePool: pool.metadata.name,
            error,
          });
        }
        return [];
      }),
    );
    return catalogues.flat();
  }

  #announce({ onExisting, unplaced }: Solution): void {
    const { events, cluster, clock } = this.#world;
    for (const { node, pods } of onExisting) {
      for (const pod of pods) publish.nominated(events, pod, `node/${node}`);
    }
    const until = clock.now() + this.#nominationPeriod;
    const views = new Map(cluster.snapshot().nodes.map((view) => [view.name, view]));
    for (const { node, pods } of onExisting) {
      const claim = views.get(node)?.claim?.metadata.name;
      if (claim) cluster.promise(pods, claim, until);
    }
    for (const { pod, reason } of unplaced) publish.failedScheduling(events, pod, reason);
  }

  async #createAll(nodes: readonly NewNode[], signal: AbortSignal): Promise<void> {
    const queue = [...nodes];
    const errors: unknown[] = [];
    const work = async (): Promise<void> => {
      for (let node = queue.shift(); node && !signal.aborted; node = queue.shift()) {
        try {
          await this.#create(node, signal);
        } catch (error) {
          errors.push(error);
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(CREATE_CONCURRENCY, nodes.length) }, work));
    if (errors.length > 0)
      throw new AggregateError(errors, `${errors.length} of ${nodes.length} NodeClaims were not created`);
  }

  async #create(node: NewNode, signal: AbortSignal): Promise<void> {
    const { kube, cluster, clock, random, log, events } = this.#world;
    const draft = nodeClaimDraft(node, () => random.next());
    const claim = await kube.create(Kinds.NodeClaim, draft, { signal });
    const { name } = claim.metadata;
    // In the picture at once, not when the watch brings it: the next pass must not buy for these pods again.
    cluster.setClaim(claim);
    cluster.promise(node.pods, name, clock.now() + this.#nominationPeriod);
    const [first] = node.alternatives;
    this.#metrics.created.inc({
      reason: 'provisioned',
      nodepool: node.pool.metadata.name,
      min_values_relaxed: 'false',
    });
    log.info('created nodeclaim', {
      NodeClaim: name,
      NodePool: node.pool.metadata.name,
      requests: draft.spec.resources?.requests,
      'instance-types': node.alternatives
        .slice(0, 5)
        .map(({ instanceType }) => instanceType.name)
        .join(', '),
      pricePerHour: first?.pricePerHour,
      pods: node.pods.length,
    });
    for (const pod of node.pods) publish.nominated(events, pod, `nodeclaim/${name}`);
  }
}
