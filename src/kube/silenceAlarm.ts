/** Aborts its signal when a connection is silent for too long. Call `heard()` whenever data arrives. */
import type { Clock } from '../clock/clock.ts';

export class SilenceError extends Error {
  override readonly name = 'SilenceError';
}

/** Aborts its signal when nothing has been heard for longer than the limit, or when the outer signal does. */
export class SilenceAlarm {
  /** Set once the limit was exceeded. */
  rang: SilenceError | undefined;
  private readonly clock: Clock;
  private readonly outer: AbortSignal;
  private readonly controller = new AbortController();
  private readonly forward = (): void => this.controller.abort(this.outer.reason);
  private silenceLimit: number;
  private lastHeard: number;
  private cancel: () => void;

  constructor(clock: Clock, outer: AbortSignal, limit: number) {
    this.silenceLimit = limit;
    this.clock = clock;
    this.outer = outer;
    this.lastHeard = clock.now();
    this.cancel = clock.after(limit, () => this.check());
    outer.addEventListener('abort', this.forward, { once: true });
    if (outer.aborted) this.forward();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  set limit(limit: number) {
    if (limit === this.silenceLimit) return;
    this.silenceLimit = limit;
    this.cancel();
    this.check();
  }

  heard(): void {
    this.lastHeard = this.clock.now();
  }

  stop(): void {
    this.cancel();
    this.outer.removeEventListener('abort', this.forward);
  }

  /** One timer for many events: it is reset only when it fires. */
  private check(): void {
    const left = this.lastHeard + this.silenceLimit - this.clock.now();
    if (left > 0) {
      this.cancel = this.clock.after(left, () => this.check());
      return;
    }
    this.rang = new SilenceError(`the watch was silent for ${Math.round(this.silenceLimit / 1000)} s; connecting anew`);
    this.controller.abort(this.rang);
  }
}
