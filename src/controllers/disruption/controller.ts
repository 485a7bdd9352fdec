import type { NodePool } from '../../api/kinds/nodePool.ts';
import type { ClusterSnapshot } from '../../cluster/cluster.ts';
import { budgetsOf } from '../../disruption/budgets.ts';
import type { Command } from '../../disruption/command.ts';
import type { Kept } from '../../disruption/kept.ts';
import { candidatesFor, type DisruptionSettings, type Method, type Pass } from '../../disruption/method.ts';
import { patienceOf } from '../../disruption/settled.ts';
import type { Controller, ReconcileResult } from '../../kube/runtime/controller.ts';
import { isTerminating } from '../../pods/podPredicates.ts';
import { singleton } from '../../kube/runtime/singleton.ts';
import { watch } from '../../kube/runtime/watch.ts';
import { noTracer, traced, type Span } from '../../kube/trace.ts';
import type { DisruptionQueue } from '../disruption-queue/controller.ts';
import { poolOf } from '../disruption-queue/replacements.ts';
import { disruptionPass } from '../planning/disruptionPass.ts';
import type { Planner } from '../planning/planner.ts';
import { isManaged } from '../world/managed.ts';
import type { World } from '../world/world.ts';
import { ChangeMemo } from './changeMemo.ts';
import { DemandReturns } from './demandReturns.ts';
import * as publish from './events.ts';
import { disruptionMetrics, type DisruptionMetrics } from './metrics.ts';
import { Outlook } from './outlook.ts';
import { Reporter, tellsMore } from './reporter.ts';
import { SavingsCheck } from './savingsCheck.ts';
import { Settling } from './settling.ts';
import { inSlices } from './slices.ts';
import { Unrest } from './unrest.ts';
import { validate } from './validation.ts';

export interface DisruptionOptions {
  readonly planner: Planner;
  readonly queue: DisruptionQueue;
  /** In order: the first one that finds something ends the pass. */
  readonly methods: readonly Method[];
  readonly settings: DisruptionSettings;
}

/** Milliseconds between passes that find nothing to do. */
const INTERVAL = 10_000;
/** Milliseconds after which a decision that evicts pods is validated again. */
const SETTLE = 5_000;

/** Looks for nodes to disrupt, pass after pass, and hands commands to the queue. */
export function disruptionController(world: World, options: DisruptionOptions): Controller {
  const loop = new DisruptionLoop(world, options);
  return singleton({
    ...world,
    name: 'disruption',
    interval: INTERVAL,
    wakes: [
      watch(world.informers.nodeClaims),
      watch(world.informers.disruptionBudgets),
      { start: (wake) => options.queue.onEnd(() => wake('')) },
    ],
    reconcile: (signal) => loop.round(signal),
  });
}

/** The most informative cause per claim name. */
type Causes = Map<string, { kept: Kept; method: Method | undefined }>;

interface Taken {
  readonly snapshot: ClusterSnapshot;
  readonly pass: Pass;
  readonly kept: readonly Kept[];
}

interface Ran {
  /** Whether a command was started, or was decided and then failed validation. */
  readonly begun: boolean;
  /** When the decision may be executed, in milliseconds since 1970; undefined when nothing waits. */
  readonly again: number | undefined;
}

class DisruptionLoop {
  private readonly world: World;
  private readonly options: DisruptionOptions;
  private readonly metrics: DisruptionMetrics;
  private readonly reporter: Reporter;
  private readonly memo: ChangeMemo;
  private readonly unrest: Unrest;
  private readonly settling: Settling;
  private readonly savings = new SavingsCheck();
  private readonly returns: DemandReturns;
  private readonly outlook: Outlook;
  private isResumed = false;

  constructor(world: World, options: DisruptionOptions) {
    this.world = world;
    this.options = options;
    this.metrics = disruptionMetrics(world.metrics);
    this.reporter = new Reporter(world, this.metrics);
    this.outlook = new Outlook(world, this.metrics);
    options.queue.onEnd(({ reason, since }) => {
      if (reason === 'Drifted') this.outlook.driftEnded(world.clock.now() - since);
    });
    this.memo = new ChangeMemo(world.informers);
    this.unrest = new Unrest(world.clock, world.informers.pods);
    this.settling = new Settling(world.clock);
    this.returns = new DemandReturns({
      clock: world.clock,
      nodeClaims: world.informers.nodeClaims,
      pods: () => podCount(world.cluster.snapshot()),
      onReversal: (nodepool) => this.metrics.reversals.inc({ nodepool }),
      onReturn: () => this.savings.forget(),
    });
  }

  async round(signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const { queue, planner } = this.options;
    const { cluster, clock } = this.world;
    if (!this.isResumed) queue.resume();
    this.isResumed = true;
    await queue.sweep();
    const budgets = budgetsOf(this.pools(), cluster.snapshot().nodes, clock.now());
    this.reporter.budgets(budgets);
    const virtual = planner.options.buffers?.pods() ?? [];
    if (this.memo.holds(cluster.snapshot(), budgets, virtual, clock.now())) return undefined;
    const span = (this.world.tracer ?? noTracer).begin('disruption');
    return traced(span, () => this.pass(span, signal));
  }

  private async pass(span: Span, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const { methods } = this.options;
    const { clock } = this.world;
    const taken = await this.take(span, signal);
    const causes: Causes = new Map();
    note(causes, taken.kept, undefined);
    const eligible = new Map<string, number>();
    let wait = INTERVAL;
    let isComplete = true;
    for (const method of methods) {
      const { candidates, kept } = candidatesFor(method, taken.pass);
      note(causes, kept, method);
      const reason = method.reason.toLowerCase();
      eligible.set(reason, Math.max(eligible.get(reason) ?? 0, candidates.length));
      this.metrics.eligible.set({ reason }, eligible.get(reason) ?? 0);
      if (candidates.length === 0) continue;
      const unrest =
        method.reason === 'Underutilized' ? this.unrest.wait() || this.settling.wait(taken.pass.candidates) : 0;
      if (unrest > 0) {
        wait = Math.min(wait, unrest);
        isComplete = false;
        continue;
      }
      try {
        const { begun, again } = await traced(
          span.child(`method ${method.name}`),
          () => this.run(method, candidates, taken, causes, span, signal),
          (ran) => ({ candidates: candidates.length, begun: ran.begun }),
        );
        if (begun) return { requeueAfter: 0 };
        if (again !== undefined) {
          wait = Math.min(wait, Math.max(0, again - clock.now()));
          isComplete = false;
        }
      } catch (error) {
        signal.throwIfAborted();
        // The remaining methods may still find something.
        isComplete = false;
        this.world.log.error('a disruption method failed', { method: method.name, error });
      }
    }
    this.reporter.kept(causes);
    this.outlook.passed(
      taken.pass,
      [...causes.values()].map(({ kept }) => kept),
    );
    if (isComplete)
      this.memo.nothingToDo(
        taken.snapshot,
        [...causes.values()].map(({ kept }) => kept),
        clock.now(),
      );
    return { requeueAfter: wait };
  }

  /** Runs the method and starts what it decides. */
  private async run(
    method: Method,
    candidates: Pass['candidates'],
    taken: Taken,
    causes: Causes,
    span: Span,
    signal: AbortSignal,
  ): Promise<Ran> {
    const { clock, log, events } = this.world;
    const since = clock.monotonic();
    const { commands, kept, coverage } = await inSlices(method.decide(candidates, taken.pass), clock, signal);
    const labels = { reason: method.reason.toLowerCase(), consolidation_type: method.consolidationType };
    this.metrics.evaluation.observe(labels, (clock.monotonic() - since) / 1000);
    if (coverage.evaluated < coverage.of)
      log.info('not every node was evaluated', { method: method.name, ...coverage });
    note(causes, kept, method);
    if (method.reason === 'Underutilized') this.weigh(commands, kept);
    const possible = commands.filter((command) => this.pausedUntil(command) === undefined);
    if (possible.length === 0) {
      const pauses = commands.flatMap((command) => this.pausedUntil(command) ?? []);
      return { begun: false, again: pauses.length === 0 ? undefined : Math.min(...pauses) };
    }
    if (method.reason === 'Underutilized') {
      this.savings.conclude(taken.pass);
      const again = this.savings.heldBackUntil(possible, taken.pass);
      if (again !== undefined) return { begun: false, again };
    }
    this.unrest.reset();
    if (method.reason === 'Drifted') return { begun: await this.start(possible, signal), again: undefined };
    for (const command of possible) {
      if (command.replacements.length > 0) publish.consolidationCandidate(events, command);
      publish.consolidationApproved(events, command, (name) => this.world.informers.nodePools.store.get({ name }));
    }
    await clock.sleep(settleTime(possible), signal);
    const again = await this.take(span, signal);
    const isUnchanged = again.snapshot === taken.snapshot;
    const { valid, rejected, dropped } = await inSlices(
      validate(method, possible, again.pass, isUnchanged),
      clock,
      signal,
    );
    if (dropped > 0) {
      this.metrics.failedValidations.inc({ consolidation_type: method.consolidationType }, dropped);
    }
    for (const { command, reason } of rejected) {
      if (method.reason === 'Underutilized') publish.consolidationRejected(events, command, reason);
      log.info('a decision is no longer valid', { method: method.name, reason, nodes: command.candidates.length });
    }
    if (method.reason === 'Underutilized') this.savings.begin(valid, again.pass);
    this.returns.begin(valid);
    await this.start(valid, signal);
    return { begun: true, again: undefined };
  }

  /** Counts approvals and rejections by pools with the policy Balanced. */
  private weigh(commands: readonly Command[], kept: readonly Kept[]): void {
    const { moves, score } = this.metrics;
    for (const { candidates, scores = [] } of commands) {
      for (const pool of new Set(candidates.map((each) => each.pool))) {
        moves.inc({ decision: 'approved', nodepool: pool.metadata.name, policy: policyOf(pool) });
      }
      for (const each of scores) {
        score.observe({ decision: 'approved', nodepool: each.pool, policy: 'Balanced' }, each.score);
      }
    }
    for (const { cause, nodePool = '' } of kept) {
      if (cause.kind !== 'balanced-score') continue;
      const labels = { decision: 'rejected', nodepool: nodePool, policy: 'Balanced' };
      moves.inc(labels);
      score.observe(labels, cause.score);
    }
  }

  /** Starts them in parallel; returns whether any started. */
  private async start(commands: readonly Command[], signal: AbortSignal): Promise<boolean> {
    const { log } = this.world;
    const begun = await Promise.allSettled(commands.map((command) => this.options.queue.start(command, signal)));
    signal.throwIfAborted();
    for (const outcome of begun) {
      if (outcome.status === 'rejected')
        log.error('a disruption command could not be started', { error: outcome.reason as unknown });
    }
    return begun.some(({ status }) => status === 'fulfilled');
  }

  /** Until when the pool is paused because its replacements did not become ready recently. */
  private pausedUntil({ replacements }: Command): number | undefined {
    const pauses = replacements.flatMap((replacement) => this.options.queue.pauses.until(poolOf(replacement)) ?? []);
    return pauses.length === 0 ? undefined : Math.max(...pauses);
  }

  private async take(span: Span, signal: AbortSignal): Promise<Taken> {
    const { planner, queue, settings } = this.options;
    const { cluster, cloud, informers } = this.world;
    const moment = await planner.moment(cloud, () => true, signal, span);
    const { pass, kept } = disruptionPass(moment, {
      cluster,
      podBudgets: informers.disruptionBudgets.store.list(),
      settings,
      isQueued: (claim) => queue.has(claim),
      failedUntil: (pool, alternative) => queue.pauses.offeringUntil(pool, alternative),
      pausedUntil: (pool) => queue.pauses.until(pool),
      calmFor: (pool) => this.returns.calmFor(pool),
    });
    return { snapshot: moment.snapshot, pass, kept };
  }

  private pools(): readonly NodePool[] {
    const { informers, cloud } = this.world;
    return [...informers.nodePools.store.list()].filter(({ spec }) =>
      isManaged(spec.template.spec.nodeClassRef, cloud),
    );
  }
}

/** Nodes without a pod event for their pool's consolidateAfter have already been quiet that long. */
function settleTime(commands: readonly Command[]): number {
  const pools = new Set(commands.flatMap(({ candidates }) => candidates.map(({ pool }) => pool)));
  const patience = [...pools].map(({ spec }) => patienceOf(spec.disruption.consolidateAfter));
  return Math.max(0, SETTLE - Math.min(...patience));
}

const policyOf = ({ spec }: NodePool): string => spec.disruption.consolidationPolicy ?? 'WhenEmptyOrUnderutilized';

const podCount = ({ nodes, pendingPods }: ClusterSnapshot): number =>
  nodes.reduce((sum, { pods }) => sum + pods.filter((pod) => !isTerminating(pod)).length, pendingPods.length);

function note(causes: Causes, all: readonly Kept[], method: Method | undefined): void {
  for (const kept of all) {
    const name = kept.nodeClaim;
    if (name !== undefined && tellsMore(kept.cause, causes.get(name)?.kept.cause)) causes.set(name, { kept, method });
  }
}
