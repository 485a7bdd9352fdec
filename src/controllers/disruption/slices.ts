import type { Clock } from '../../clock/clock.ts';

/** Milliseconds for which work may block the thread. */
const SLICE = 20;

/** Runs work that yields regularly, and releases the thread whenever a time slice is used up. */
export async function inSlices<T>(work: Generator<void, T>, clock: Clock, signal: AbortSignal): Promise<T> {
  let since = clock.monotonic();
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (clock.monotonic() - since < SLICE) continue;
    await clock.sleep(0, signal);
    since = clock.monotonic();
  }
}
