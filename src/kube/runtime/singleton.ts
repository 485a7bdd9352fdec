import { isConflict } from '../errors.ts';
import type { Log } from '../log.ts';
import { backoffDelay, type Backoff } from './backoff.ts';
import type { Controller, LoopOptions, ReconcileResult } from './controller.ts';
import { controllerMetrics, type ControllerMetrics, type ReconcileOutcome } from './controllerMetrics.ts';
import type { Watch } from './watch.ts';
import { aborted, WindDown } from './windDown.ts';

export interface SingletonOptions extends LoopOptions {
  /** Runs one round; `signal` aborts when it must end. */
  readonly reconcile: (signal: AbortSignal) => Promise<ReconcileResult | undefined | void>;
  /** Milliseconds between rounds unless a round says otherwise; default 10 s. */
  readonly interval?: number;
  /** Watches whose events end the wait before the next round, whatever the key. */
  readonly wakes?: readonly Watch[];
}

/**
 * Minimum milliseconds before a round triggered by an event, and the minimum as a multiple of the last round's
 * duration.
 */
const SHORTEST_REST = 1_000;
const REST_FACTOR = 9;

const DEFAULT_INTERVAL = 10_000;
const DEFAULT_BACKOFF: Backoff = { base: 100, max: 60_000, jitter: 0.1 };

/** A loop without keys: runs round after round, with growing waits after errors. */
export function singleton(options: SingletonOptions): Controller {
  return { name: options.name, run: (signal) => run(options, signal) };
}

async function run(options: SingletonOptions, stop: AbortSignal): Promise<void> {
  if (stop.aborted) return;
  const { name, clock, grace } = options;
  const windDown = new WindDown(clock, grace);
  const alarm = new Alarm();
  const unwatch = (options.wakes ?? []).map((watch) => watch.start(() => alarm.ring()));
  const rounds = doRounds(options, controllerMetrics(name, 1, options.metrics), alarm, windDown.signal, stop);
  await aborted(stop);
  for (const end of unwatch) end();
  await windDown.finish(rounds, stop.reason, () => `${name}: still in a round after being stopped`);
}

async function doRounds(
  options: SingletonOptions,
  metrics: ControllerMetrics,
  alarm: Alarm,
  signal: AbortSignal,
  stop: AbortSignal,
): Promise<void> {
  const { clock, name, interval = DEFAULT_INTERVAL } = options;
  const log = options.log.with({ controller: name });
  let failures = 0;
  while (!stop.aborted) {
    const start = clock.monotonic();
    alarm.reset();
    let wait = interval;
    try {
      const round = await doRound(options, metrics, log, signal, failures);
      failures = round.failed ? failures + 1 : 0;
      ({ wait } = round);
    } catch (error) {
      // The failure is not in the round but around it, such as in a metric: no reason to end the process.
      log.error('round could not be recorded', { error });
    }
    if (stop.aborted) return;
    const rest = Math.min(wait, Math.max(SHORTEST_REST, REST_FACTOR * (clock.monotonic() - start)));
    // Rejected by the stop; the loop condition handles it.
    await clock.sleep(rest, stop).catch(() => undefined);
    if (!alarm.hasRung && rest < wait) {
      await clock.sleep(wait - rest, AbortSignal.any([stop, alarm.signal])).catch(() => undefined);
    }
  }
}

async function doRound(
  options: SingletonOptions,
  metrics: ControllerMetrics,
  log: Log,
  signal: AbortSignal,
  failures: number,
): Promise<{ readonly failed: boolean; readonly wait: number }> {
  const { clock, random, interval = DEFAULT_INTERVAL, backoff = DEFAULT_BACKOFF } = options;
  const start = clock.monotonic();
  let outcome: ReconcileOutcome;
  let wait: number;
  metrics.active(1);
  try {
    const result = await options.reconcile(signal);
    wait = result?.requeueAfter ?? interval;
    outcome = result?.requeueAfter === undefined ? 'success' : 'requeue_after';
  } catch (error) {
    wait = backoffDelay(backoff, failures, random);
    outcome = isConflict(error) ? 'requeue' : 'error';
    if (signal.aborted || isConflict(error)) log.debug('round not finished', { error });
    else log.error('round failed', { error, failures: failures + 1, retryInMilliseconds: wait });
  }
  metrics.reconciled(outcome, clock.monotonic() - start);
  metrics.active(0);
  return { failed: outcome === 'requeue' || outcome === 'error', wait };
}

/** Aborts its signal when triggered. */
class Alarm {
  private bell = new AbortController();

  get hasRung(): boolean {
    return this.bell.signal.aborted;
  }

  get signal(): AbortSignal {
    return this.bell.signal;
  }

  ring(): void {
    this.bell.abort();
  }

  reset(): void {
    if (this.hasRung) this.bell = new AbortController();
  }
}
