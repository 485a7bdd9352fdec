/** A clock that is wrong while a clock-skew fault is on. */
import type { Clock } from '../../clock/clock.ts';
import type { Faults } from './faults.ts';

export class SkewedClock implements Clock {
  private readonly clock: Clock;
  private readonly faults: Faults;

  constructor(clock: Clock, faults: Faults) {
    this.clock = clock;
    this.faults = faults;
  }

  /** The time of day is off; durations are not, as on a host whose clock was set wrong. */
  now(): number {
    let skew = 0;
    for (const { order } of this.faults.list()) {
      if (order.kind === 'clock-skew') skew += order.numbers['by'] ?? 60_000;
    }
    return this.clock.now() + skew;
  }

  monotonic(): number {
    return this.clock.monotonic();
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return this.clock.sleep(milliseconds, signal);
  }

  after(milliseconds: number, action: () => void): () => void {
    return this.clock.after(milliseconds, action);
  }

  track<T>(work: Promise<T>): Promise<T> {
    return this.clock.track(work);
  }
}
