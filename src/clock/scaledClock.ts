import type { Clock } from './clock.ts';

/** A clock that runs `speed` times as fast as the underlying one, from `start`, or from its creation. */
export class ScaledClock implements Clock {
  private readonly clock: Clock;
  private readonly speed: number;
  private readonly start: number;
  private readonly monotonicStart: number;

  constructor(clock: Clock, speed: number, start: number = clock.now()) {
    this.clock = clock;
    this.speed = speed;
    this.start = start;
    this.monotonicStart = clock.monotonic();
  }

  now(): number {
    return Math.round(this.start + (this.clock.monotonic() - this.monotonicStart) * this.speed);
  }

  monotonic(): number {
    return this.clock.monotonic() * this.speed;
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return this.clock.sleep(milliseconds / this.speed, signal);
  }

  after(milliseconds: number, action: () => void): () => void {
    return this.clock.after(milliseconds / this.speed, action);
  }

  track<T>(work: Promise<T>): Promise<T> {
    return this.clock.track(work);
  }
}
