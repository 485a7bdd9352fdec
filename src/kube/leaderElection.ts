import { Kinds, type Lease } from '../api/kinds.ts';
import type { Clock } from '../clock/clock.ts';
import type { Random } from '../clock/random.ts';
import { isAlreadyExists, isConflict, isNotFound } from './errors.ts';
import type { Kube } from './kube.ts';
import { claimed, released } from './leaseRecord.ts';
import type { Log } from './log.ts';
import { noMetrics, type Gauge, type MetricsRegistry } from './metrics.ts';

export interface LeaderElectionOptions {
  /** Preferably a client of its own, so that throttling of the main one cannot cost leadership. */
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics?: MetricsRegistry;
  readonly name?: string;
  readonly namespace: string;
  /** This process's identity: see `leaderIdentity`. */
  readonly identity: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** How long a standby waits, by its own clock, after the last renewal it saw. */
  readonly leaseDuration?: number;
  /** How long a leader stays leader, by its own clock, after the start of its last successful renewal. */
  readonly renewDeadline?: number;
  /** Time between two attempts of leader and standby. */
  readonly retryPeriod?: number;
}

/** Why a leader's work was stopped: another process leads now, or may soon. */
export class LeadershipLostError extends Error {
  override readonly name = 'LeadershipLostError';

  constructor(lease: string, why: string) {
    super(`leadership lost: ${why} (lease ${lease})`);
  }
}

/** `<pod name>_<uuid>`: distinguishes two processes of one pod. */
export const leaderIdentity = (podName: string, random: Random): string => `${podName}_${random.uuid()}`;

/**
 * Leader election with a Lease: at most one process has `isLeader` true at any time, as long as clock rates differ by
 * less than `leaseDuration / renewDeadline`. Timestamps of the Lease are never compared with a local clock, and
 * durations use the monotonic clock, so wall clocks may be wrong or be changed.
 */
export class LeaderElector {
  private readonly options: LeaderElectionOptions;
  private readonly ref: { readonly name: string; readonly namespace: string };
  private readonly leaseName: string;
  private readonly leaseDuration: number;
  private readonly renewDeadline: number;
  private readonly retryPeriod: number;
  private readonly status: Gauge;
  /** The last Lease seen, and when its current content was first seen. */
  private observed: { readonly lease: Lease; readonly since: number } | undefined;
  private leadsUntil = Number.NEGATIVE_INFINITY;
  private lost = false;

  constructor(options: LeaderElectionOptions) {
    const { name = 'karpenter-leader-election', namespace, metrics = noMetrics } = options;
    this.options = options;
    this.ref = { name, namespace };
    this.leaseName = `${namespace}/${name}`;
    this.leaseDuration = options.leaseDuration ?? 15_000;
    this.renewDeadline = options.renewDeadline ?? 10_000;
    this.retryPeriod = options.retryPeriod ?? 2_000;
    if (this.leaseDuration <= this.renewDeadline || this.renewDeadline <= this.retryPeriod) {
      throw new RangeError('leader election needs lease duration > renew deadline > retry period');
    }
    this.status = metrics.gauge({
      name: 'leader_election_master_status',
      help: '1 when this process holds the lease, else 0.',
      labels: ['name'],
    });
  }

  /** Checked against the clock, so it is already false after a pause even if timers have not fired yet. */
  get isLeader(): boolean {
    return this.options.clock.monotonic() < this.leadsUntil;
  }

  /** False after leadership was lost: this process should exit. */
  get healthy(): boolean {
    return !this.lost;
  }

  /**
   * Waits to become leader, then runs `work` and keeps the lease. When `signal` aborts, so does the signal given to
   * `work`; the lease is released as soon as `work` has ended. It is not released when `work` fails, because parts of
   * it may still be running. Rejects with LeadershipLostError when the lease is lost.
   */
  async run(signal: AbortSignal, work: (leading: AbortSignal) => Promise<void>): Promise<void> {
    this.status.set({ name: this.ref.name }, 0);
    if (!(await this.acquire(signal))) return;
    this.status.set({ name: this.ref.name }, 1);
    const leading = new AbortController();
    const onStop = (): void => leading.abort(signal.reason);
    signal.addEventListener('abort', onStop, { once: true });
    const renewal = this.keepRenewing((error) => {
      this.lost = true;
      this.leadsUntil = Number.NEGATIVE_INFINITY;
      this.options.log.error(error.message, { lease: this.leaseName });
      leading.abort(error);
    });
    try {
      if (signal.aborted) onStop();
      await work(leading.signal);
    } finally {
      signal.removeEventListener('abort', onStop);
      await renewal.stop();
      this.status.set({ name: this.ref.name }, 0);
    }
    await this.release();
    if (leading.signal.reason instanceof LeadershipLostError) throw leading.signal.reason;
  }

  /** True when won, false when `signal` aborted first. */
  private async acquire(signal: AbortSignal): Promise<boolean> {
    const { clock, random, log, identity } = this.options;
    log.info('waiting to become leader', { lease: this.leaseName, identity });
    while (!signal.aborted) {
      try {
        await this.bounded((bounded) => this.tryAcquire(bounded), signal);
        if (this.isLeader) {
          log.info('became leader', { lease: this.leaseName, identity });
          return true;
        }
        // Jitter separates standbys that wake together; it is small so that a released lease is taken soon.
        await clock.sleep(this.retryPeriod * (1 + 0.2 * random.next()), signal);
      } catch (error) {
        if (signal.aborted) break;
        log.error('lease could not be acquired; trying again', { lease: this.leaseName, error });
        await clock.sleep(this.retryPeriod * (1 + 0.2 * random.next()), signal).catch(() => undefined);
      }
    }
    return false;
  }

  private async tryAcquire(signal: AbortSignal): Promise<void> {
    const { kube, clock, identity } = this.options;
    const start = clock.monotonic();
    try {
      const lease = await kube.get(Kinds.Lease, this.ref, { signal });
      this.observe(lease);
      const holder = lease.spec?.holderIdentity ?? '';
      if (holder !== '' && holder !== identity && clock.monotonic() < this.takeOverTime()) return;
      this.won(await kube.replace(Kinds.Lease, this.claimed(lease), { signal }), start);
    } catch (error) {
      if (isNotFound(error)) await this.tryCreate(start, signal);
      // Another candidate was faster.
      else if (!isConflict(error)) throw error;
    }
  }

  private async tryCreate(start: number, signal: AbortSignal): Promise<void> {
    const { kube, labels } = this.options;
    const metadata = { ...this.ref, ...(labels === undefined ? {} : { labels: { ...labels } }) };
    try {
      this.won(await kube.create(Kinds.Lease, this.claimed({ metadata }), { signal }), start);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }

  /** Renews until stopped; calls `onLost` once when renewal did not succeed in time or another holder is seen. */
  private keepRenewing(onLost: (error: LeadershipLostError) => void): { stop(): Promise<void> } {
    const { clock } = this.options;
    const renewing = new AbortController();
    const lose = (why: string): void => {
      if (renewing.signal.aborted) return;
      renewing.abort();
      onLost(new LeadershipLostError(this.leaseName, why));
    };
    const watchdog = (): (() => void) =>
      clock.after(this.leadsUntil - clock.monotonic(), () => lose(`not renewed within ${this.renewDeadline} ms`));

    const loop = async (): Promise<void> => {
      let disarm = watchdog();
      let lastAttempt = clock.monotonic();
      while (!renewing.signal.aborted) {
        // At a constant pace: after a slow attempt the next one follows at once.
        const pause = Math.max(0, this.retryPeriod - (clock.monotonic() - lastAttempt));
        const woke = await clock.sleep(pause, renewing.signal).then(
          () => true,
          () => false,
        );
        if (!woke) break;
        if (!this.isLeader) {
          lose(`not renewed within ${this.renewDeadline} ms`);
          break;
        }
        lastAttempt = clock.monotonic();
        const holder = await this.renewOnce(renewing.signal);
        if (holder !== undefined) lose(`${holder} holds it now`);
        disarm();
        // Set again even after a failure: it fires at once if the time is over.
        if (!renewing.signal.aborted) disarm = watchdog();
      }
      disarm();
    };
    const looping = loop();
    return {
      stop: () => {
        renewing.abort();
        return looping;
      },
    };
  }

  /** Never throws; returns another holder if there is one. */
  private async renewOnce(signal: AbortSignal): Promise<string | undefined> {
    try {
      return await this.bounded((bounded) => this.tryRenew(bounded), signal);
    } catch (error) {
      if (!signal.aborted) {
        this.options.log.error('lease could not be renewed; trying again', { lease: this.leaseName, error });
      }
      return undefined;
    }
  }

  private async tryRenew(signal: AbortSignal): Promise<string | undefined> {
    const { kube, clock, identity } = this.options;
    const start = clock.monotonic();
    if (this.observed !== undefined) {
      try {
        this.won(await kube.replace(Kinds.Lease, this.claimed(this.observed.lease), { signal }), start);
        return undefined;
      } catch (error) {
        if (isNotFound(error)) return await this.tryCreate(start, signal).then(() => undefined);
        if (!isConflict(error)) throw error;
      }
    }
    const lease = await kube.get(Kinds.Lease, this.ref, { signal });
    this.observe(lease);
    const holder = lease.spec?.holderIdentity ?? '';
    if (holder !== '' && holder !== identity) return holder;
    this.won(await kube.replace(Kinds.Lease, this.claimed(lease), { signal }), start);
    return undefined;
  }

  /** Clears the lease so that a standby gets it at its next attempt. */
  private async release(): Promise<void> {
    const { kube, clock, log, identity } = this.options;
    this.leadsUntil = Number.NEGATIVE_INFINITY;
    try {
      await this.bounded(async (signal) => {
        const lease = await kube.get(Kinds.Lease, this.ref, { signal });
        if (lease.spec?.holderIdentity !== identity) return;
        await kube.replace(Kinds.Lease, released(lease, clock.now()), { signal });
        log.info('lease released', { lease: this.leaseName, identity });
      });
    } catch (error) {
      log.error('lease could not be released; it will run out by itself', { lease: this.leaseName, error });
    }
  }

  private won(lease: Lease, start: number): void {
    this.observe(lease);
    // An answer that arrives after the loss must not restore leadership.
    if (!this.lost) this.leadsUntil = start + this.renewDeadline;
  }

  private observe(lease: Lease): void {
    const seen = this.observed;
    const unchanged = seen !== undefined && JSON.stringify(seen.lease.spec) === JSON.stringify(lease.spec);
    this.observed = { lease, since: unchanged ? seen.since : this.options.clock.monotonic() };
  }

  private takeOverTime(): number {
    if (this.observed === undefined) return Number.POSITIVE_INFINITY;
    const seconds = this.observed.lease.spec?.leaseDurationSeconds ?? 0;
    return this.observed.since + (seconds > 0 ? seconds * 1_000 : this.leaseDuration);
  }

  private claimed(lease: Lease): Lease {
    const { identity, clock } = this.options;
    return claimed(lease, identity, this.leaseDuration, clock.now());
  }

  /** Runs one attempt with a timeout, so that a hanging request leaves time for another try. */
  private async bounded<T>(attempt: (signal: AbortSignal) => Promise<T>, stop?: AbortSignal): Promise<T> {
    const limit = this.renewDeadline / 2;
    const attempting = new AbortController();
    const onStop = (): void => attempting.abort(stop?.reason);
    if (stop?.aborted) onStop();
    stop?.addEventListener('abort', onStop, { once: true });
    const cancel = this.options.clock.after(limit, () => {
      attempting.abort(new Error(`the API server did not answer within ${limit} ms`));
    });
    try {
      return await attempt(attempting.signal);
    } finally {
      cancel();
      stop?.removeEventListener('abort', onStop);
    }
  }
}
