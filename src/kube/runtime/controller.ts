import type { Clock } from '../../clock/clock.ts';
import type { Random } from '../../clock/random.ts';
import type { Log } from '../log.ts';
import type { MetricsRegistry } from '../metrics.ts';
import type { Backoff } from './backoff.ts';

/** A loop that runs until its signal aborts, then ends in good order. Rejects when it cannot go on. */
export interface Controller {
  readonly name: string;
  run(signal: AbortSignal): Promise<void>;
}

/** When to look again, in milliseconds; 0 is at once. Absent: at the next event (or a singleton's next round). */
export interface ReconcileResult {
  readonly requeueAfter?: number;
}

/** What every kind of loop is made with. */
export interface LoopOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics?: MetricsRegistry;
  /** Waits between failures in a row. */
  readonly backoff?: Backoff;
  /** Milliseconds that running work has, after a stop, before its signal aborts. */
  readonly grace?: number;
}
