import { InvariantError } from '../../errors/invariantError.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Random } from '../../clock/random.ts';
import { backoffDelay, type Backoff } from './backoff.ts';

/** Observes the queue; methods are called synchronously and must not throw. */
export interface WorkQueueObserver {
  /** A key was added that was not waiting already. */
  added(): void;
  depthChanged(depth: number): void;
  retried(): void;
  /** A worker received a key after `waited` milliseconds in the queue. */
  started(waited: number): void;
  /** A worker finished a key after `worked` milliseconds. */
  finished(worked: number): void;
}

export interface WorkQueueOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly backoff?: Backoff;
  readonly observer?: WorkQueueObserver;
}

export interface WorkerOptions<K extends string> {
  readonly concurrency: number;
  /** Must not reject: the caller handles failures, not the queue. */
  readonly handle: (key: K) => Promise<void>;
}

interface RateLimitedOptions {
  readonly atLeast?: number | undefined;
  readonly backoff?: Backoff;
}

const DEFAULT_BACKOFF: Backoff = { base: 100, max: 60_000 };

/**
 * Work queue of distinct keys. A key is processed by at most one worker at a time, in order of arrival; a key added
 * while it is processed is queued once more afterwards. Bounded by the number of keys.
 */
export class WorkQueue<K extends string = string> {
  private readonly clock: Clock;
  private readonly random: Random;
  private readonly backoff: Backoff;
  private readonly observer: WorkQueueObserver | undefined;
  private readonly waiting = new Fifo<K>();
  /** Keys that need work, with their start time; those not in `processing` are in `waiting` too. */
  private readonly dirty = new Map<K, number>();
  /** Keys being processed, with their start time. */
  private readonly processing = new Map<K, number>();
  private readonly delayed = new Map<K, { readonly due: number; readonly cancel: () => void }>();
  private readonly failureCounts = new Map<K, number>();
  private workers: { readonly options: WorkerOptions<K>; readonly onDrained: () => void } | undefined;
  private shuttingDown = false;

  constructor({ clock, random, backoff = DEFAULT_BACKOFF, observer }: WorkQueueOptions) {
    this.clock = clock;
    this.random = random;
    this.backoff = backoff;
    this.observer = observer;
  }

  /** Number of keys waiting for a worker, without delayed ones. */
  get depth(): number {
    return this.waiting.size;
  }

  /** Number of keys being processed. */
  get inProgress(): number {
    return this.processing.size;
  }

  /** Keys being processed. */
  keysInProgress(): K[] {
    return [...this.processing.keys()];
  }

  /** Milliseconds for which each worker has been processing its key. */
  workingFor(): readonly number[] {
    const now = this.clock.monotonic();
    return [...this.processing.values()].map((since) => now - since);
  }

  add(key: K): void {
    if (this.shuttingDown || this.dirty.has(key)) return;
    this.dirty.set(key, this.clock.monotonic());
    this.observer?.added();
    if (this.processing.has(key)) return;
    this.push(key);
    this.dispatch();
  }

  /** Adds the key after a delay; of several delays for one key, the earliest end counts. */
  addAfter(key: K, milliseconds: number): void {
    if (this.shuttingDown) return;
    if (milliseconds <= 0) {
      this.add(key);
      return;
    }
    const due = this.clock.monotonic() + milliseconds;
    const earlier = this.delayed.get(key);
    if (earlier !== undefined && earlier.due <= due) return;
    earlier?.cancel();
    const cancel = this.clock.after(milliseconds, () => {
      this.delayed.delete(key);
      this.add(key);
    });
    this.delayed.set(key, { due, cancel });
  }

  /**
   * Adds after this key's backoff, which doubles until `forget`. `atLeast`: a minimum wait demanded by the server;
   * `backoff`: used in place of the queue's.
   */
  addRateLimited(key: K, { atLeast = 0, backoff = this.backoff }: RateLimitedOptions = {}): void {
    const failures = this.failures(key);
    this.failureCounts.set(key, failures + 1);
    this.observer?.retried();
    this.addAfter(key, Math.max(atLeast, backoffDelay(backoff, failures, this.random)));
  }

  /** Resets the key's backoff after a success. */
  forget(key: K): void {
    this.failureCounts.delete(key);
  }

  /** Consecutive failures. */
  failures(key: K): number {
    return this.failureCounts.get(key) ?? 0;
  }

  /** Hands out keys until the queue is shut down and the last handler has returned. */
  process(options: WorkerOptions<K>): Promise<void> {
    if (this.workers !== undefined) throw new InvariantError('work queue: it has its workers already');
    if (!(options.concurrency >= 1)) throw new RangeError('work queue: concurrency must be 1 or more');
    return new Promise((resolve) => {
      this.workers = { options, onDrained: resolve };
      this.dispatch();
    });
  }

  /**
   * Accepts no more keys and drops delayed ones. Waiting keys are still processed (`drain`) or dropped (`drop`);
   * `process` resolves when all is done.
   */
  shutDown(remaining: 'drain' | 'drop'): void {
    this.shuttingDown = true;
    for (const { cancel } of this.delayed.values()) cancel();
    this.delayed.clear();
    if (remaining === 'drop') {
      this.waiting.clear();
      this.dirty.clear();
      this.observer?.depthChanged(0);
    }
    this.dispatch();
  }

  private push(key: K): void {
    this.waiting.push(key);
    this.observer?.depthChanged(this.waiting.size);
  }

  private dispatch(): void {
    if (this.workers === undefined) return;
    const { options, onDrained } = this.workers;
    while (this.processing.size < options.concurrency) {
      const key = this.waiting.shift();
      if (key === undefined) break;
      this.observer?.depthChanged(this.waiting.size);
      this.start(key, options);
    }
    if (this.shuttingDown && this.processing.size === 0 && this.waiting.size === 0) onDrained();
  }

  private start(key: K, { handle }: WorkerOptions<K>): void {
    const started = this.clock.monotonic();
    this.observer?.started(started - (this.dirty.get(key) ?? started));
    this.dirty.delete(key);
    this.processing.set(key, started);
    // In a microtask: a handler never runs inside the caller of `add`.
    void Promise.resolve(key)
      .then(handle)
      .finally(() => {
        this.observer?.finished(this.clock.monotonic() - started);
        this.processing.delete(key);
        if (this.dirty.has(key)) this.push(key);
        this.dispatch();
      });
  }
}

/** First in, first out, with constant cost per operation. */
class Fifo<T> {
  private items: T[] = [];
  private head = 0;

  get size(): number {
    return this.items.length - this.head;
  }

  push(item: T): void {
    this.items.push(item);
  }

  shift(): T | undefined {
    if (this.size === 0) return undefined;
    const item = this.items[this.head++];
    if (this.head > 1_024 && this.head * 2 > this.items.length) {
      this.items = this.items.slice(this.head);
      this.head = 0;
    }
    return item;
  }

  clear(): void {
    this.items = [];
    this.head = 0;
  }
}
