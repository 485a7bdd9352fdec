/** Runs work on the controller's thread in short slices, with a turn of its event loop in between. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds of one slice. */
const SLICE = 5;

/** Resolves at once during a slice, otherwise in the next turn of the event loop. */
export class Slices {
  /** Total milliseconds of all slices. */
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
