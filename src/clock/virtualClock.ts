import { InvariantError } from '../errors/invariantError.ts';
import type { Clock } from './clock.ts';
import { sleepBy } from './sleep.ts';
import { TimerHeap, type Timer } from './timerHeap.ts';

export interface VirtualClockOptions {
  /** Turns of the event loop without activity after which the simulation counts as idle. */
  readonly quietTurns?: number;
  /** Real milliseconds that tracked work may take before the clock throws. */
  readonly stallTimeout?: number;
}

export interface RunOptions {
  /** Limit on moments to visit. */
  readonly maxSteps?: number;
  /** Virtual time at which waiting for a condition fails. */
  readonly deadline?: number;
}

const DEFAULT_MAX_STEPS = 1_000_000;
const MAX_TURNS_WHILE_BUSY = 1_000_000;

/**
 * A clock that advances only when all work is done, driven by `advance` or `runUntil`. Timers fire in order of due
 * time, then insertion, each moment after the work of the previous one is idle; so a run depends only on its inputs and
 * not on the computer.
 * Idle means: no tracked work is pending and the event loop has turned a few times without a new timer, a cancellation
 * or a change in tracked work.
 */
export class VirtualClock implements Clock {
  private readonly timers = new TimerHeap();
  private readonly quietTurns: number;
  private readonly stallTimeout: number;
  private current: number;
  private sequence = 0;
  private activity = 0;
  private tracked = 0;
  private onSettled: (() => void)[] = [];
  private driven = false;

  constructor(start: number | Date = 0, options: VirtualClockOptions = {}) {
    this.current = Number(start);
    this.quietTurns = options.quietTurns ?? 4;
    this.stallTimeout = options.stallTimeout ?? 30_000;
  }

  now(): number {
    return this.current;
  }

  monotonic(): number {
    return this.current;
  }

  /** Timers that have not fired yet. */
  get pendingTimers(): number {
    return this.timers.size;
  }

  /** Tracked work that has not settled yet. */
  get pendingWork(): number {
    return this.tracked;
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return sleepBy((delay, action) => this.after(delay, action), milliseconds, signal);
  }

  after(milliseconds: number, action: () => void): () => void {
    if (Number.isNaN(milliseconds)) throw new RangeError('a timer needs a number of milliseconds, not NaN');
    const due = this.current + Math.max(0, milliseconds);
    const timer: Timer = { due, sequence: this.sequence++, action, slot: -1 };
    this.timers.add(timer);
    this.activity++;
    return () => {
      if (this.timers.remove(timer)) this.activity++;
    };
  }

  track<T>(work: Promise<T>): Promise<T> {
    this.tracked++;
    this.activity++;
    const settled = (): void => {
      this.tracked--;
      this.activity++;
      this.wake();
    };
    work.then(settled, settled);
    return work;
  }

  /**
   * For a server that delays its answer to a tracked request in virtual time (an injected delay): while `wait` is
   * pending, one piece of tracked work does not block the clock. Otherwise the two would wait for each other.
   */
  yieldTo<T>(wait: Promise<T>): Promise<T> {
    this.tracked--;
    this.activity++;
    this.wake();
    const settled = (): void => {
      this.tracked++;
      this.activity++;
    };
    wait.then(settled, settled);
    return wait;
  }

  /** Resolves when all work is idle at the current moment. */
  async idle(): Promise<void> {
    let seen = -1;
    for (let quiet = 0, turns = 0; quiet < this.quietTurns; turns++) {
      if (turns > MAX_TURNS_WHILE_BUSY) {
        throw new InvariantError(`virtual clock: still busy at ${this.stamp()} after ${MAX_TURNS_WHILE_BUSY} turns`);
      }
      if (this.tracked > 0) await this.nextSettlement();
      else await new Promise((resolve) => setImmediate(resolve));
      quiet = this.tracked <= 0 && this.activity === seen ? quiet + 1 : 0;
      seen = this.activity;
    }
  }

  /** Advances by `milliseconds`, running everything that is due in them. */
  advance(milliseconds: number, options: Pick<RunOptions, 'maxSteps'> = {}): Promise<void> {
    return this.runUntil(this.current + milliseconds, options);
  }

  /**
   * Runs until a moment, or until a condition is true while idle. Throws when the condition can no longer become true
   * (nothing is scheduled), at the deadline, or after `maxSteps` moments.
   */
  async runUntil(goal: number | (() => boolean), options: RunOptions = {}): Promise<void> {
    if (this.driven) throw new InvariantError('virtual clock: another advance or runUntil is under way');
    this.driven = true;
    try {
      await (typeof goal === 'number' ? this.runTo(goal, options) : this.runWhile(goal, options));
    } finally {
      this.driven = false;
    }
  }

  private async runTo(end: number, options: RunOptions): Promise<void> {
    const steps = this.stepCounter(options);
    await this.idle();
    for (let next = this.timers.peek(); next !== undefined && next.due <= end; next = this.timers.peek()) {
      steps();
      await this.step(next.due);
    }
    this.current = Math.max(this.current, end);
  }

  private async runWhile(condition: () => boolean, options: RunOptions): Promise<void> {
    const steps = this.stepCounter(options);
    const { deadline = Number.POSITIVE_INFINITY } = options;
    await this.idle();
    while (!condition()) {
      const next = this.timers.peek();
      if (next === undefined) {
        throw new InvariantError(
          `virtual clock: nothing is left to happen at ${this.stamp()} and the condition does not hold`,
        );
      }
      if (next.due > deadline) {
        throw new InvariantError(
          `virtual clock: the condition does not hold at the deadline ${new Date(deadline).toISOString()}`,
        );
      }
      steps();
      await this.step(next.due);
    }
  }

  /** Fires timers due at `moment`; timers added for the same moment fire in the next step. */
  private async step(moment: number): Promise<void> {
    this.current = Math.max(this.current, moment);
    const boundary = this.sequence;
    for (let timer = this.timers.peek(); timer !== undefined; timer = this.timers.peek()) {
      if (timer.due > moment || timer.sequence >= boundary) break;
      this.timers.remove(timer);
      timer.action();
    }
    await this.idle();
  }

  private stepCounter({ maxSteps = DEFAULT_MAX_STEPS }: RunOptions): () => void {
    let steps = 0;
    return () => {
      if (++steps <= maxSteps) return;
      throw new InvariantError(
        `virtual clock: gave up at ${this.stamp()} after ${maxSteps} steps, with ${this.timers.size} timers pending; ` +
          'either something re-arms itself without end or maxSteps is too small',
      );
    };
  }

  /** Waits, in real time, for one piece of tracked work to settle. */
  private nextSettlement(): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = setTimeout(() => {
        reject(
          new Error(
            `virtual clock: ${this.tracked} tracked works have not settled at ${this.stamp()} in ` +
              `${this.stallTimeout} ms of real time; does one of them wait for virtual time? (see yieldTo)`,
          ),
        );
      }, this.stallTimeout);
      this.onSettled.push(() => {
        clearTimeout(giveUp);
        resolve();
      });
    });
  }

  private wake(): void {
    const waiting = this.onSettled;
    this.onSettled = [];
    for (const resolve of waiting) resolve();
  }

  private stamp(): string {
    return new Date(this.current).toISOString();
  }
}
