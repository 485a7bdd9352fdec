import { InvariantError } from '../../errors/invariantError.ts';
import type { Pod } from '../../api/kinds.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import { Taints } from '../../api/labels.ts';
import { podList } from '../../ledger/podList.ts';
import { podKey } from '../../pods/podKey.ts';
import { isProvisionable, isTerminal } from '../../pods/podPredicates.ts';
import { hasTaint } from '../../pods/taints.ts';
import type { InformerEvent } from '../../kube/informer.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { singleton } from '../../kube/runtime/singleton.ts';
import { keyOf, refOf, watch } from '../../kube/runtime/watch.ts';
import { noTracer, traced, type Span } from '../../kube/trace.ts';
import type { PlannedNode, Solution, SolveOptions } from '../../solver/problem.ts';
import { isVirtual } from '../capacity-buffer/virtualPods.ts';
import type { World } from '../world/world.ts';
import { Announcer } from './announcer.ts';
import type { Batcher } from './batcher.ts';
import { Backlog, effectiveZones } from './backlog.ts';
import { ClaimWriter } from '../claims/claimWriter.ts';
import type { Catalogue } from '../planning/catalogues.ts';
import type { Demand } from '../planning/demand.ts';
import type { Moment, Planner } from '../planning/planner.ts';
import * as publish from './events.ts';
import { followablePlan } from './followablePlan.ts';
import { provisionerMetrics } from './metrics.ts';
import { priceOf, SecondLook, type Look } from './secondLook.ts';
import { spareNodes } from './spareNodes.ts';
import { launchRecord } from '../claims/launchRecord.ts';
import { nodeClaimDraft } from '../claims/nodeClaimDraft.ts';
import { isUsable } from '../planning/poolUse.ts';

export interface ProvisionerOptions {
  /** Triggers passes. */
  readonly batcher: Batcher;
  /** Milliseconds for which pods stay nominated to a node that has come up for them. */
  readonly nominationPeriod: number;
  /** Shared with the other loops that plan. */
  readonly planner: Planner;
  /** Buys spare nodes where a scheduler without hints would leave pods waiting. */
  readonly keepsSlack?: boolean;
  /** Prefers plans for which all hints can be written. */
  readonly tellsScheduler?: boolean;
}

const CONTROLLER = { controller: 'provisioner' };
/** How often a pending pod is planned again. */
const RETRIGGER = 10_000;
/** Milliseconds after which pods that may still find room are checked again. */
const LOOK_AGAIN = 1_000;

/** Plans pods that the scheduler could not place, one plan per batch, and creates NodeClaims. */
export function provisionerControllers(world: World, options: ProvisionerOptions): readonly Controller[] {
  const { clock, cluster, informers, podTimes } = world;
  const { batcher } = options;
  const provisioner = new Provisioner(world, options);
  return [
    reconciler({
      ...world,
      name: 'provisioner.trigger.pod',
      concurrency: 10,
      watches: [
        watch(informers.pods, ({ type, object }) => {
          if (type === 'deleted' || isTerminal(object)) podTimes.forget(object.metadata.uid ?? '');
          return type !== 'deleted' && isProvisionable(object) ? [keyOf(object)] : [];
        }),
      ],
      reconcile: async (key) => {
        const pod = cluster.pod(refOf(key));
        if (!pod || !isProvisionable(pod)) return undefined;
        const { uid = key } = pod.metadata;
        if (podTimes.acknowledge(uid, clock.now())) batcher.trigger(uid);
        else batcher.remind(uid);
        return { requeueAfter: RETRIGGER };
      },
    }),
    reconciler({
      ...world,
      name: 'provisioner.trigger.node',
      concurrency: 10,
      watches: [watch(informers.nodes)],
      reconcile: async (name) => {
        const node = cluster.node(name);
        if (!node || !hasTaint(node.spec?.taints ?? [], Taints.disrupted)) return undefined;
        batcher.trigger(node.metadata.uid ?? name);
        return { requeueAfter: RETRIGGER };
      },
    }),
    reconciler({
      ...world,
      name: 'provisioner.trigger.nodepool',
      concurrency: 1,
      watches: [watch(informers.nodePools, (event) => (becameUsable(event) ? [event.object.metadata.name] : []))],
      // When a pool becomes usable, pending pods are planned at once.
      reconcile: async (name) => {
        if (world.cluster.snapshot().pendingPods.length > 0) batcher.trigger(name);
      },
    }),
    singleton({
      ...world,
      name: 'provisioner',
      reconcile: async (signal) => {
        const opened = await batcher.wait(signal);
        const span = (world.tracer ?? noTracer).begin('provisioning', opened);
        span.child('batch', opened).end();
        const isOver = await traced(span, () => provisioner.pass(signal, span));
        if (!isOver) clock.after(LOOK_AGAIN, () => batcher.remind('second look'));
        return { requeueAfter: 0 };
      },
    }),
  ];
}

/** Whether the pool became usable, or its spec changed. */
function becameUsable(event: InformerEvent<NodePool>): boolean {
  if (event.type === 'deleted' || !isUsable(event.object)) return false;
  if (event.type === 'added') return true;
  return !isUsable(event.old) || event.old.metadata.generation !== event.object.metadata.generation;
}

class Provisioner {
  private readonly world: World;
  private readonly options: ProvisionerOptions;
  private readonly metrics: ReturnType<typeof provisionerMetrics>;
  private readonly backlog: Backlog;
  private readonly claims: ClaimWriter;
  private readonly announcer: Announcer;
  private readonly secondLook: SecondLook;
  private plans = 0;

  constructor(world: World, options: ProvisionerOptions) {
    this.world = world;
    this.options = options;
    this.metrics = provisionerMetrics(world.metrics);
    this.backlog = new Backlog(world.metrics, world.random);
    this.claims = new ClaimWriter(world);
    this.announcer = new Announcer(world);
    this.secondLook = new SecondLook(world.cluster.places);
  }

  /** False when planned nodes need not be bought yet. */
  async pass(signal: AbortSignal, span: Span): Promise<boolean> {
    const { cloud, clock, events } = this.world;
    const closed = clock.monotonic();
    const moment = await this.options.planner.moment(cloud, isUsable, signal, span);
    const { demand, catalogues } = moment;
    for (const { pool, instanceTypes } of catalogues) {
      if (instanceTypes.length === 0) publish.noCompatibleInstanceTypes(events, pool);
    }
    // No await from here until the solution is done, so that the moment stays current.
    const start = clock.monotonic();
    this.announceIgnored(demand);
    const { waiting } = demand;
    if (waiting.length === 0) return true;
    const solving = clock.monotonic();
    const { solution, isOver } = this.solutionFor(moment, waiting);
    // Measures both the whole pass and the planning in it, as Karpenter does.
    for (const since of [solving, start]) {
      this.metrics.schedulingDuration.observe(CONTROLLER, (clock.monotonic() - since) / 1000);
    }
    const podOf = podsByKey(waiting);
    const spare = this.options.keepsSlack === true ? this.spareFor(moment, solution, podOf) : [];
    const bought = [...solution.plannedNodes, ...spare];
    const sparePrice = priceOf(spare);
    this.metrics.unschedulablePods.set(
      CONTROLLER,
      solution.unplaced.filter(({ pod }) => !isVirtual(podOf(pod))).length,
    );
    for (const { metadata } of waiting) this.observeDecision(metadata.uid ?? '');
    this.observePlan(demand, solution, podOf);
    // Everything waits for a second look: nothing to report yet.
    if (!isOver && bought.length + solution.onExisting.length + solution.unplaced.length === 0) return false;
    this.announcer.plan({
      pods: waiting.length,
      plannedNodes: bought.length,
      onExistingNodes: solution.onExisting.reduce((sum, { pods }) => sum + pods.length, 0),
      unplaced: solution.unplaced.length,
      pricePerHour: solution.pricePerHour + sparePrice,
      milliseconds: Math.round(clock.monotonic() - closed),
      ...(spare.length > 0 && { spare: { nodes: spare.length, pricePerHour: sparePrice } }),
    });
    const plan = `provisioning/${++this.plans}`;
    this.announce(plan, solution, podOf);
    await this.reportBuffers(solution, podOf);
    const offerOf = new Map(catalogues.map((offer) => [offer.pool.metadata.name, offer]));
    const write = async (node: PlannedNode): Promise<void> => {
      const offer = offerOf.get(node.pool);
      if (offer) await this.create(plan, node, offer, node.pods.map(podOf), signal);
    };
    await traced(
      span.child('claims'),
      () => this.claims.writeAll(bought, write),
      () => ({ claims: bought.length }),
    );
    return isOver;
  }

  private solutionFor(moment: Moment, waiting: readonly Pod[]): Look {
    const overhead = this.options.planner.options.policies?.nodeOverheadCost ?? 0;
    const ask = (pods: readonly Pod[], { nodeOverheadCost = 0, ...options }: SolveOptions = {}): Solution =>
      moment.ask({ pods }, { ...options, nodeOverheadCost: overhead + nodeOverheadCost, explainChoices: true });
    const cheapest = ask(waiting);
    if (this.options.tellsScheduler !== true) return { solution: cheapest, isOver: true };
    return this.secondLook.at(followablePlan(cheapest, waiting, ask), podsByKey(waiting), moment.now);
  }

  /** Plans as if no existing node had room: the scheduler may have filled them with other pods. */
  private spareFor(moment: Moment, { plannedNodes }: Solution, podOf: PodOf): readonly PlannedNode[] {
    const pods = plannedNodes.flatMap((node) => node.pods.map(podOf)).filter((pod) => !isVirtual(pod));
    const closedNodes = new Set(moment.snapshot.nodes.map(({ name }) => name));
    return spareNodes(
      plannedNodes,
      pods,
      moment.offers,
      (left) => moment.ask({ pods: left, closedNodes }).plannedNodes,
    );
  }

  private announceIgnored({ ignored }: Demand): void {
    this.metrics.ignoredPods.set({}, ignored.length);
    for (const { pod } of ignored) this.observeDecision(pod.metadata.uid ?? '');
    this.announcer.objections(ignored);
  }

  private announce(plan: string, { onExisting, unplaced }: Solution, podOf: PodOf): void {
    const { cluster, clock } = this.world;
    const until = clock.now() + this.options.nominationPeriod;
    const chosen = new Set(onExisting.map(({ node }) => node));
    const views = new Map(
      cluster.snapshot().nodes.flatMap((view) => (chosen.has(view.name) ? [[view.name, view]] : [])),
    );
    for (const { node, pods } of onExisting) {
      const real = pods.map(podOf).filter((pod) => !isVirtual(pod));
      if (real.length === 0) continue;
      const claim = views.get(node)?.claim?.metadata.name;
      cluster.places.hold(plan, [{ target: node, pods: real }], until);
      this.announcer.nomination(real, { ...(claim && { nodeClaim: claim }), node });
    }
    const refused = unplaced.map(({ pod, reason }) => ({ pod: podOf(pod), reason }));
    this.announcer.refusals(refused.filter(({ pod }) => !isVirtual(pod)));
  }

  private async reportBuffers({ onExisting, plannedNodes, unplaced }: Solution, podOf: PodOf): Promise<void> {
    const others = [...plannedNodes.flatMap(({ pods }) => pods), ...unplaced.map(({ pod }) => pod)];
    await this.options.planner.options.buffers?.report({
      fitted: onExisting.flatMap(({ pods }) => pods.map(podOf)),
      others: others.map(podOf),
    });
  }

  private async create(
    plan: string,
    node: PlannedNode,
    { pool, instanceTypes }: Catalogue,
    pods: readonly Pod[],
    signal: AbortSignal,
  ): Promise<void> {
    const { cluster, clock, random, overlays } = this.world;
    const names = node.alternatives.map(({ instanceType }) => instanceType);
    const overlaid = overlays?.touched(node.pool, names);
    const real = pods.filter((pod) => !isVirtual(pod));
    const draft = nodeClaimDraft(node, { pool, instanceTypes }, () => random.next(), { ...overlaid, pods: real });
    const claim = await this.claims.write(pool, draft, 'provisioned', signal);
    const { name } = claim.metadata;
    const until = clock.now() + this.options.nominationPeriod;
    cluster.places.hold(plan, [{ target: name, pods: real }], until);
    const record = launchRecord(name, node, { pods: podList(pods.map(podKey)) });
    if (record) this.announcer.launch(record);
    if (real.length > 0) this.announcer.nomination(real, { nodeClaim: name });
  }

  private observePlan({ waiting, volumes }: Demand, solution: Solution, podOf: PodOf): void {
    const { clock, podTimes } = this.world;
    for (const { pods } of [...solution.plannedNodes, ...solution.onExisting]) {
      for (const pod of pods) podTimes.place(podOf(pod).metadata.uid ?? '', clock.now());
    }
    this.backlog.show(solution.unplaced.length, effectiveZones(waiting, volumes));
  }

  private observeDecision(uid: string): void {
    const waited = this.world.podTimes.decide(uid, this.world.clock.now());
    if (waited !== undefined) this.metrics.decisionDuration.observe({}, waited / 1000);
  }
}

/** The waiting pod for a key in a solution. */
type PodOf = (key: string) => Pod;

function podsByKey(waiting: readonly Pod[]): PodOf {
  const byKey = new Map(waiting.map((pod) => [podKey(pod), pod]));
  return (key) => {
    const pod = byKey.get(key);
    if (pod === undefined) throw new InvariantError(`the solution names pod ${key}, which does not wait`);
    return pod;
  };
}
