import { isConflict, KubeError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Controller, LoopOptions, ReconcileResult } from './controller.ts';
import { controllerMetrics, type ControllerMetrics, type ReconcileOutcome } from './controllerMetrics.ts';
import type { Watch } from './watch.ts';
import { aborted, WindDown } from './windDown.ts';
import { WorkQueue } from './workQueue.ts';

export interface ReconcilerOptions<K extends string> extends LoopOptions {
  /** Maximum number of keys reconciled concurrently; default 1. */
  readonly concurrency?: number;
  /** Sources of keys. */
  readonly watches: readonly Watch<K>[];
  /** Brings one key to its desired state, independent of the event. Never runs concurrently for the same key. */
  readonly reconcile: (key: K, context: ReconcileContext) => Promise<ReconcileResult | undefined | void>;
}

export interface ReconcileContext {
  /** Aborts when the work must end. */
  readonly signal: AbortSignal;
  /** Carries the key, the controller and an id of this run. */
  readonly log: Log;
  /** Consecutive failures before this run. */
  readonly failures: number;
}

/** A conflict ends as soon as the informer delivers the other write, so it is retried sooner than other failures. */
const CONFLICT_BACKOFF = { base: 50, max: 5_000 };

/**
 * A reconcile loop over keys from watches. Each key is reconciled once per change, again after `requeueAfter`, and with
 * growing waits after an error.
 */
export function reconciler<K extends string = string>(options: ReconcilerOptions<K>): Controller {
  return { name: options.name, run: (signal) => run(options, signal) };
}

async function run<K extends string>(options: ReconcilerOptions<K>, stop: AbortSignal): Promise<void> {
  if (stop.aborted) return;
  const { name, clock, random, backoff, concurrency = 1, grace, watches } = options;
  const metrics = controllerMetrics(name, concurrency, options.metrics);
  const queue = new WorkQueue<K>({
    clock,
    random,
    ...(backoff === undefined ? {} : { backoff }),
    observer: metrics.queue,
  });
  const windDown = new WindDown(clock, grace);
  const worked = queue.process({
    concurrency,
    handle: async (key) => {
      try {
        await reconcileOne(options, queue, metrics, windDown.signal, key);
      } catch (error) {
        // The failure is not in the reconcile but around it, such as in a metric: no reason to end the process.
        queue.addRateLimited(key);
        options.log.error('reconcile could not be recorded', { controller: name, object: key, error });
      }
    },
  });
  const unwatchWork = metrics.watchWork(() => queue.workingFor());
  const unwatch = watches.map((watch) => watch.start((key) => queue.add(key)));
  await aborted(stop);
  for (const end of [...unwatch, unwatchWork]) end();
  queue.shutDown('drop');
  await windDown.finish(
    worked,
    stop.reason,
    () => `${name}: still working on ${queue.keysInProgress().slice(0, 10).join(', ')} after being stopped`,
  );
}

async function reconcileOne<K extends string>(
  options: ReconcilerOptions<K>,
  queue: WorkQueue<K>,
  metrics: ControllerMetrics,
  signal: AbortSignal,
  key: K,
): Promise<void> {
  const { clock, random, name } = options;
  const start = clock.monotonic();
  metrics.active(queue.inProgress);
  let outcome: ReconcileOutcome = 'success';
  let log: Log | undefined;
  const context: ReconcileContext = {
    signal,
    failures: queue.failures(key),
    // Created lazily: most runs log nothing.
    get log() {
      return (log ??= options.log.with({ object: key, controller: name, reconcileID: random.uuid() }));
    },
  };
  try {
    const result = await options.reconcile(key, context);
    queue.forget(key);
    if (result?.requeueAfter !== undefined) {
      outcome = 'requeue_after';
      queue.addAfter(key, result.requeueAfter);
    }
  } catch (error) {
    outcome = retry(queue, key, error, context.log, signal);
  }
  metrics.reconciled(outcome, clock.monotonic() - start);
  metrics.active(queue.inProgress - 1);
}

function retry<K extends string>(
  queue: WorkQueue<K>,
  key: K,
  error: unknown,
  log: Log,
  signal: AbortSignal,
): ReconcileOutcome {
  if (signal.aborted) {
    log.debug('stopped before it was done', { error });
    return 'requeue';
  }
  if (isConflict(error)) {
    // A concurrent write was first; the informer will deliver it.
    queue.addRateLimited(key, { backoff: CONFLICT_BACKOFF });
    log.debug('the object changed meanwhile; trying again', { error });
    return 'requeue';
  }
  queue.addRateLimited(key, { atLeast: error instanceof KubeError ? error.retryAfter : undefined });
  log.error('reconcile failed', { error, failures: queue.failures(key) });
  return 'error';
}
