/** Keeps the process of `up` alive after an unhandled rejection or exception: logs and counts it. */
import type { Log } from '../../kube/log.ts';
import type { Counter } from '../../kube/metrics.ts';

export interface SurvivalOptions {
  readonly log: Log;
  readonly failures: Counter;
  /** Called when there are too many to be accidental. */
  readonly giveUp: (error: unknown) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** More per minute indicate a permanent failure. */
const MOST_PER_MINUTE = 100;
const MINUTE = 60_000;
const EVENTS = ['unhandledRejection', 'uncaughtException'] as const;

/** Returns a function to unregister. */
export function surviveFailures({ log, failures, giveUp, now }: SurvivalOptions): () => void {
  let since = now();
  let count = 0;
  const handlers = EVENTS.map((event) => {
    const handle = (error: unknown): void => {
      if (now() - since > MINUTE) [since, count] = [now(), 0];
      count++;
      failures.inc({ event });
      log.error('a failure had no handler; going on', { event, error });
      if (count > MOST_PER_MINUTE) giveUp(error);
    };
    process.on(event, handle);
    return () => process.off(event, handle);
  });
  return () => handlers.forEach((remove) => remove());
}
