import { NodeClaimConditions } from '../../api/conditionTypes.ts';
import { findCondition } from '../../api/conditions.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { Labels } from '../../api/labels.ts';
import { firstPlanned } from '../../cloud/plannedOfferings.ts';
import { decisionOf, type Command } from '../../disruption/command.ts';
import { InvariantError } from '../../errors/invariantError.ts';
import { messageOf } from '../../errors/thrown.ts';
import { commandFailureText, type CommandFailure } from '../../ledger/commandText.ts';
import { disruptionRecord, type DisruptionEndRecord } from '../../ledger/disruptionRecord.ts';
import type { Controller, ReconcileResult } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { watch } from '../../kube/runtime/watch.ts';
import { isReschedulable } from '../../pods/podPredicates.ts';
import { deleteClaim } from '../claims/deleteClaim.ts';
import { launchRecord } from '../claims/launchRecord.ts';
import { settleAll } from '../world/settleAll.ts';
import type { World } from '../world/world.ts';
import { commandFields } from './commandFields.ts';
import * as publish from './events.ts';
import { LaunchPauses } from './launchPauses.ts';
import { clearDisrupted, hasMark, markDisrupted } from './marks.ts';
import { queueMetrics, type QueueMetrics } from './metrics.ts';
import { plannedPlaces } from './plannedPlaces.ts';
import { poolOf, Replacements, type WrittenReplacement } from './replacements.ts';
import { unfinishedCommands, type Leaving, type RunningCommand } from './runningCommand.ts';

const CONCURRENCY = 50;
/** Time limit of a command in milliseconds: grows with its candidates between two bounds. */
const MIN_TIME = 10 * 60_000;
const MAX_TIME = 60 * 60_000;
const TIME_PER_CANDIDATE = 80;
/**
 * Milliseconds for which a pool is paused when a bought replacement never became ready: the next one would probably
 * fail too.
 */
const REST_AFTER_TIMEOUT = 5 * 60_000;
/** Milliseconds for which planned places are kept for pods being evicted; then they are planned again. */
const DRAIN_TIME = 2 * 60_000;

/** A completed or failed command. */
type EndedCommand = Pick<RunningCommand, 'reason' | 'since'>;

/**
 * Executes commands: marks the nodes, creates replacements, waits until they are initialized, deletes the claims. What
 * cannot be completed is reverted. All state is in the API server, so `resume` can continue commands of an earlier
 * process.
 */
export class DisruptionQueue {
  readonly pauses: LaunchPauses;
  private readonly world: World;
  private readonly metrics: QueueMetrics;
  private readonly replacements: Replacements;
  private readonly commands = new Map<string, RunningCommand>();
  /** Commands by the claims that they remove, and by the claims that they wait for. */
  private readonly byLeaving = new Map<string, RunningCommand>();
  private readonly byAwaited = new Map<string, RunningCommand>();
  private readonly wakes = new Set<(id: string) => void>();
  private readonly endListeners = new Set<(ended: EndedCommand) => void>();

  constructor(world: World) {
    this.world = world;
    this.metrics = queueMetrics(world.metrics);
    this.replacements = new Replacements(world);
    this.pauses = new LaunchPauses(world.clock);
  }

  /** Whether a command is going to remove this claim's node. */
  has(claim: string): boolean {
    return this.byLeaving.has(claim);
  }

  /** Calls back whenever a command has completed or failed; the result unsubscribes. */
  onEnd(listener: (ended: EndedCommand) => void): () => void {
    this.endListeners.add(listener);
    return () => this.endListeners.delete(listener);
  }

  /**
   * Starts a command and returns its id. Resolves when the nodes are marked and replacements exist; the controller does
   * the rest. Rejects if that failed, with everything reverted.
   */
  async start(command: Command, signal: AbortSignal): Promise<string> {
    const { clock, random, log, cluster, ledger } = this.world;
    const { reason, consolidationType } = command;
    const wanted = command.candidates.map(({ view, pool }): Leaving => ({
      view,
      claim: view.claim,
      pool: pool.metadata.name,
      deleted: false,
    }));
    const busy = wanted.find(({ claim }) => this.has(claim.metadata.name));
    if (busy) throw new InvariantError(`NodeClaim ${busy.claim.metadata.name} is being disrupted already`);
    const id = random.uuid();
    log.info('disrupting node(s)', { 'command-id': id, reason, ...commandFields(command) });
    const leaving = await this.mark(wanted, command, signal);
    const candidates = leaving.map(({ claim }) => claim.metadata.name);
    const stamp = { id, consolidationType, replacements: command.replacements.length, candidates };
    let written: readonly WrittenReplacement[];
    try {
      written = await this.replacements.create(command.replacements, stamp, reason.toLowerCase(), signal);
      cluster.places.hold(id, plannedPlaces(cluster, command, written), clock.now() + MIN_TIME);
      const awaited = new Map(written.map(({ claim }) => [claim.metadata.name, claim]));
      const replacements = written.length;
      this.enqueue({ id, reason, consolidationType, since: clock.now(), leaving, awaited, replacements });
    } catch (error) {
      for (const replacement of command.replacements) this.pauses.failed(poolOf(replacement));
      await this.unmark(leaving);
      throw error;
    }
    this.count(command);
    ledger.append(disruptionRecord(id, command));
    for (const { replacement, claim } of written) {
      const record =
        replacement.kind === 'planned'
          ? launchRecord(claim.metadata.name, replacement.plan, { command: id })
          : undefined;
      if (record) ledger.append(record);
    }
    return id;
  }

  /** Resumes commands that an earlier process started. */
  resume(): void {
    const { cluster, log } = this.world;
    for (const running of unfinishedCommands(cluster, (id) => this.commands.has(id))) {
      this.enqueue(running);
      log.info('resumed a disruption command', {
        'command-id': running.id,
        reason: running.reason,
        'disrupted-node-count': running.leaving.length,
        'replacement-node-count': running.replacements,
      });
    }
  }

  /** Removes marks that belong to no command, left by a process that died between two writes. */
  async sweep(): Promise<void> {
    const stray = this.world.cluster
      .snapshot()
      .nodes.filter((view) => view.claim && !view.deleting && !this.has(view.claim.metadata.name) && hasMark(view));
    await settleAll(stray, CONCURRENCY, (view) => clearDisrupted(this.world, view));
  }

  controller(): Controller {
    const { informers } = this.world;
    return reconciler({
      ...this.world,
      name: 'disruption.queue',
      concurrency: 100,
      watches: [
        { start: (enqueue) => (this.wakes.add(enqueue), () => this.wakes.delete(enqueue)) },
        watch(informers.nodeClaims, ({ object: { metadata } }) => {
          const running = this.byAwaited.get(metadata.name) ?? this.byLeaving.get(metadata.name);
          return running === undefined ? [] : [running.id];
        }),
      ],
      reconcile: async (id, { signal }) => {
        const running = this.commands.get(id);
        return running && this.advance(running, signal);
      },
    });
  }

  private async advance(running: RunningCommand, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const { cluster, clock, log, events } = this.world;
    for (const [name, created] of running.awaited) {
      const claim = cluster.claim(name);
      if (!isSame(claim, created)) return this.fail(running, { kind: 'replacement-deleted', claim: name });
      publish.launching(events, claim, running.reason);
      if (findCondition(claim, NodeClaimConditions.initialized)?.status !== 'True') {
        publish.waitingOnReadiness(events, claim);
      } else running.awaited.delete(name);
    }
    const end = running.since + this.timeLimit();
    if (running.awaited.size > 0) {
      // Spot nodes may be evicted, and users may delete claims: then nothing is left to replace.
      if (running.leaving.every(({ claim }) => !isSame(cluster.claim(claim.metadata.name), claim))) {
        return this.finish(running);
      }
      if (clock.now() >= end) return this.fail(running, { kind: 'timeout' }, REST_AFTER_TIMEOUT);
      return { requeueAfter: end - clock.now() };
    }
    try {
      const left = running.leaving.filter(({ deleted }) => !deleted);
      await settleAll(left, CONCURRENCY, (leaving) => this.remove(running, leaving, signal));
    } catch (error) {
      if (signal.aborted || clock.now() < end) throw error;
      return this.fail(running, { kind: 'timeout', problem: messageOf(error) });
    }
    for (const pool of poolsOf(running)) this.pauses.succeeded(pool);
    cluster.places.keepUntil(running.id, clock.now() + DRAIN_TIME);
    log.debug('command succeeded', { 'command-id': running.id });
    this.record(running, { outcome: 'done' });
    return this.finish(running);
  }

  private async remove({ reason }: RunningCommand, leaving: Leaving, signal: AbortSignal): Promise<void> {
    const { kube, cluster, events } = this.world;
    const { claim } = leaving;
    const view = cluster.viewOf(claim.metadata.name) ?? leaving.view;
    const pods = view.pods.filter(isReschedulable).length;
    if (await deleteClaim(kube, claim, signal)) {
      publish.terminating(events, view, reason);
      this.metrics.disrupted.count(claim, snakeCase(reason), pods);
    }
    leaving.deleted = true;
  }

  /** Fails a command: its nodes stay. Replacements that have launched stay too, as ordinary nodes. */
  private async fail(running: RunningCommand, failure: CommandFailure, rest?: number): Promise<undefined> {
    const why = commandFailureText(failure);
    const { log, cluster } = this.world;
    const decision = running.replacements > 0 ? 'replace' : 'delete';
    this.metrics.failures.inc(
      { decision, reason: snakeCase(running.reason), consolidation_type: running.consolidationType },
      running.awaited.size,
    );
    for (const pool of poolsOf(running)) this.pauses.failed(pool, rest);
    for (const claim of running.awaited.values()) {
      const tried = firstPlanned(claim);
      if (tried) this.pauses.offeringFailed(claim.metadata.labels?.[Labels.nodePool] ?? '', tried);
    }
    const staying = running.leaving.filter(({ deleted }) => !deleted);
    for (const { claim } of staying) cluster.unmarkForDeletion(claim.metadata.name);
    cluster.places.release(running.id);
    this.record(running, { outcome: 'taken-back', problem: why });
    this.finish(running);
    log.error('failed terminating nodes while executing a disruption command', {
      'command-id': running.id,
      reason: running.reason,
      error: why,
      'disrupted-nodes': running.leaving.map(({ view }) => view.name),
    });
    await this.unmark(staying);
    return undefined;
  }

  private enqueue(running: RunningCommand): void {
    this.commands.set(running.id, running);
    for (const { claim } of running.leaving) {
      this.byLeaving.set(claim.metadata.name, running);
      // Only after the replacements exist: otherwise the provisioner would plan for the pods again.
      this.world.cluster.markForDeletion(claim.metadata.name);
    }
    for (const name of running.awaited.keys()) this.byAwaited.set(name, running);
    for (const wake of this.wakes) wake(running.id);
  }

  private finish(running: RunningCommand): undefined {
    this.commands.delete(running.id);
    for (const { claim } of running.leaving) this.byLeaving.delete(claim.metadata.name);
    for (const [name, of] of this.byAwaited) if (of === running) this.byAwaited.delete(name);
    for (const listener of this.endListeners) listener(running);
    return undefined;
  }

  /** Marks as many nodes as possible. A command with replacements needs all of its nodes. */
  private async mark(
    wanted: readonly Leaving[],
    { reason, replacements }: Command,
    signal: AbortSignal,
  ): Promise<readonly Leaving[]> {
    signal.throwIfAborted();
    const marked = new Set<Leaving>();
    try {
      await settleAll(wanted, CONCURRENCY, async (each) => {
        await markDisrupted(this.world, each.view, reason);
        marked.add(each);
      });
    } catch (error) {
      if (replacements.length > 0 || marked.size === 0) {
        await this.unmark(wanted);
        throw error;
      }
    }
    return wanted.filter((each) => marked.has(each));
  }

  /** Marks that cannot be removed now are left to the sweep. */
  private async unmark(leaving: readonly Leaving[]): Promise<void> {
    const { cluster, log } = this.world;
    try {
      await settleAll(leaving, CONCURRENCY, async ({ claim }) => {
        const view = cluster.viewOf(claim.metadata.name);
        if (view) await clearDisrupted(this.world, view);
      });
    } catch (error) {
      log.debug('marks of a disruption command stay until the next sweep', { error });
    }
  }

  private count(command: Command): void {
    const { reason, consolidationType, candidates } = command;
    const series = {
      decision: decisionOf(command),
      reason: reason.toLowerCase(),
      consolidation_type: consolidationType,
    };
    this.metrics.decisions.inc(series);
    for (const nodepool of new Set(candidates.map(({ pool }) => pool.metadata.name))) {
      this.metrics.decisionsByPool.inc({ nodepool, ...series });
    }
  }

  private record({ id, reason, leaving }: RunningCommand, end: Pick<DisruptionEndRecord, 'outcome' | 'problem'>): void {
    const nodes = leaving.map(({ view }) => view.name);
    this.world.ledger.append({ kind: 'disruption-end', command: id, reason, nodes, ...end });
  }

  private timeLimit(): number {
    return Math.min(MAX_TIME, Math.max(MIN_TIME, TIME_PER_CANDIDATE * this.byLeaving.size));
  }
}

function isSame(now: NodeClaim | undefined, then: NodeClaim): now is NodeClaim {
  return now?.metadata.uid === then.metadata.uid && now?.metadata.deletionTimestamp === undefined;
}

const poolsOf = ({ leaving }: RunningCommand): ReadonlySet<string> => new Set(leaving.map(({ pool }) => pool));

const snakeCase = (text: string): string => text.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, '_').toLowerCase();
