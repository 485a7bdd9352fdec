/** Work on the controller's thread in short slices, with a turn of its loops in between. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds of one slice. */
const SLICE = 5;

/** Resolves at once while the slice lasts, and in another turn after it. */
export class Slices {
  /** Milliseconds of all slices together. */
  worked = 0;
  private began = performance.now();

  async pause(): Promise<void> {
    const took = performance.now() - this.began;
    if (took < SLICE) return;
    this.worked += took;
    await nextTurn();
    this.began = performance.now();
  }

  end(): number {
    this.worked += performance.now() - this.began;
    return this.worked;
  }
}
