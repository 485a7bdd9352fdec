import { InvariantError } from '../../errors/invariantError.ts';
import { setMaxListeners } from 'node:events';
import type { Clock } from '../../clock/clock.ts';
import type { Random } from '../../clock/random.ts';
import type { Kube } from '../kube.ts';
import { LeaderElector, type LeaderElectionOptions } from '../leaderElection.ts';
import type { Log } from '../log.ts';
import { noMetrics, type MetricsRegistry } from '../metrics.ts';
import type { Controller } from './controller.ts';
import { aborted, settlesWithin, StillRunningError } from './windDown.ts';

export interface ManagerOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics?: MetricsRegistry;
  readonly informers: RunningInformers;
  /** Absent: there is no other process. `kube` is a client used only for this. */
  readonly leaderElection?: Pick<LeaderElectionOptions, 'namespace' | 'identity'> & Partial<LeaderElectionOptions>;
  /** Whether a standby keeps its informers synced, so that it can work at once when it becomes leader. */
  readonly warmUp?: boolean;
  /** Milliseconds for all controllers together to stop. */
  readonly stopTimeout?: number;
  /** Publishes the controllers' final events; closed after them, while the API server is still reachable. */
  readonly events?: { close(): Promise<void> };
}

/** The interface of the informers needed by a manager. */
interface RunningInformers {
  run(signal: AbortSignal): Promise<void>;
  synced(signal?: AbortSignal): Promise<void>;
}

/**
 * Starts a process's components in order: informers, their first sync, leader election, controllers; stops them in
 * reverse order. `run` returns after a clean stop and rejects when the process should exit with an error.
 */
export class Manager {
  private readonly options: ManagerOptions;
  private readonly controllers: Controller[] = [];
  private readonly elector: LeaderElector | undefined;
  private state: 'new' | 'running' | 'ended' | 'failed' = 'new';
  private synced = false;

  constructor(options: ManagerOptions) {
    this.options = options;
    const { kube, clock, random, log, metrics = noMetrics, leaderElection } = options;
    if (leaderElection !== undefined) {
      this.elector = new LeaderElector({ kube, clock, random, log, metrics, ...leaderElection });
    }
  }

  add(controller: Controller): this {
    if (this.state !== 'new')
      throw new InvariantError(`${controller.name}: controllers are added before the manager runs`);
    if (this.controllers.some(({ name }) => name === controller.name)) {
      throw new InvariantError(`${controller.name}: a controller of this name was added already`);
    }
    this.controllers.push(controller);
    return this;
  }

  /** False when the process should be restarted. */
  healthy(): boolean {
    return this.state !== 'failed' && (this.elector?.healthy ?? true);
  }

  /** True when the informers have synced, also on a standby with `warmUp`. */
  ready(): boolean {
    return this.state === 'running' && (this.synced || (this.options.warmUp === false && !this.isLeader()));
  }

  isLeader(): boolean {
    return this.state === 'running' && (this.elector?.isLeader ?? true);
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.state !== 'new') throw new InvariantError('a manager runs once');
    this.state = 'running';
    try {
      await this.runAll(signal);
      this.state = 'ended';
    } catch (error) {
      this.state = 'failed';
      throw error;
    }
  }

  private async runAll(signal: AbortSignal): Promise<void> {
    const { warmUp = true, log } = this.options;
    // Aborts on stop or on the first failure of any part; `failure` distinguishes that from a clean stop.
    const stop = new AbortController();
    setMaxListeners(0, stop.signal);
    let failure: { readonly error: unknown } | undefined;
    const fail = (error: unknown): void => {
      failure ??= { error };
      stop.abort(error);
    };
    const onStop = (): void => stop.abort(signal.reason);
    signal.addEventListener('abort', onStop, { once: true });
    if (signal.aborted) onStop();
    const informers = new Informing(this.options.informers, fail);

    const work = async (leading: AbortSignal): Promise<void> => {
      if (!(await this.sync(informers, leading))) return;
      log.info('starting controllers', { count: this.controllers.length });
      await this.runControllers(leading, fail);
    };
    try {
      if (!warmUp || (await this.sync(informers, stop.signal))) {
        await (this.elector === undefined ? work(stop.signal) : this.elector.run(stop.signal, work));
      }
    } catch (error) {
      failure ??= { error };
    } finally {
      signal.removeEventListener('abort', onStop);
      await this.options.events?.close();
      await informers.stop();
    }
    if (failure !== undefined) throw failure.error;
  }

  /** False when stopped first. */
  private async sync(informers: Informing, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    informers.start();
    try {
      await this.options.informers.synced(signal);
      this.synced = true;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    return !signal.aborted;
  }

  private async runControllers(signal: AbortSignal, fail: (error: unknown) => void): Promise<void> {
    const { clock, log, stopTimeout = 10_000 } = this.options;
    setMaxListeners(0, signal);
    const running = new Set<string>();
    let stuck: StillRunningError | undefined;
    const all = this.controllers.map(async (controller) => {
      running.add(controller.name);
      try {
        await controller.run(signal);
        if (!signal.aborted) throw new InvariantError(`${controller.name}: ended without being stopped`);
      } catch (error) {
        log.error('controller failed', { controller: controller.name, error });
        // Rethrown below, so that the lease is not released but expires; after any other failure its controller has
        // ended.
        if (error instanceof StillRunningError) stuck = error;
        fail(error);
      } finally {
        running.delete(controller.name);
      }
    });
    const ended = Promise.all(all).then(() => undefined);
    await aborted(signal);
    if (!(await settlesWithin(clock, ended, stopTimeout))) {
      throw new StillRunningError(`controllers did not stop within ${stopTimeout} ms: ${[...running].join(', ')}`);
    }
    if (stuck !== undefined) throw stuck;
  }
}

/** The informers' lifetime: starts once and ends after everything that reads them. */
class Informing {
  private readonly informers: RunningInformers;
  private readonly onFailure: (error: unknown) => void;
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;

  constructor(informers: RunningInformers, onFailure: (error: unknown) => void) {
    this.informers = informers;
    this.onFailure = onFailure;
    setMaxListeners(0, this.stopping.signal);
  }

  start(): void {
    this.running ??= this.informers.run(this.stopping.signal).catch((error: unknown) => {
      if (!this.stopping.signal.aborted) this.onFailure(error);
    });
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }
}
