import type { Clock } from '../../clock/clock.ts';
import type { Random } from '../../clock/random.ts';
import type { Log } from '../log.ts';
import type { MetricsRegistry } from '../metrics.ts';
import type { Backoff } from './backoff.ts';

/** A loop that runs until its signal aborts, then stops in order. Rejects when it cannot continue. */
export interface Controller {
  readonly name: string;
  run(signal: AbortSignal): Promise<void>;
}

/** When to reconcile again, in milliseconds; 0: at once. Absent: at the next event (or a singleton's next round). */
export interface ReconcileResult {
  readonly requeueAfter?: number;
}

/** Options common to all loops. */
export interface LoopOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics?: MetricsRegistry;
  /** Waits between consecutive failures. */
  readonly backoff?: Backoff;
  /** Milliseconds that running work may continue after a stop before its signal aborts. */
  readonly grace?: number;
}
