/** A `Clock` whose minutes pass in seconds. */
import { SystemClock } from '../../../src/clock/systemClock.ts';

export class FastClock extends SystemClock {
  private readonly speed: number;
  private readonly start = super.now();

  constructor(speed: number) {
    super();
    this.speed = speed;
  }

  override now(): number {
    return this.start + (super.now() - this.start) * this.speed;
  }

  override monotonic(): number {
    return super.monotonic() * this.speed;
  }

  override after(milliseconds: number, action: () => void): () => void {
    return super.after(milliseconds / this.speed, action);
  }
}
