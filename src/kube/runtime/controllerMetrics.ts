import { noMetrics, type MetricsRegistry } from '../metrics.ts';
import type { WorkQueueObserver } from './workQueue.ts';

export type ReconcileOutcome = 'success' | 'requeue_after' | 'requeue' | 'error';

/** Metrics of one controller, under controller-runtime's names. */
export interface ControllerMetrics {
  readonly queue: WorkQueueObserver;
  /** One reconcile ended after `milliseconds`. */
  reconciled(outcome: ReconcileOutcome, milliseconds: number): void;
  /** The number of reconciles under way. */
  active(count: number): void;
  /** Reports how long the running work has taken so far; returns a function to unsubscribe. */
  watchWork(workingFor: () => readonly number[]): () => void;
}

const RECONCILE_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];
const QUEUE_BUCKETS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1_000];

/** Registers and reports the metrics of one controller. */
export function controllerMetrics(
  controller: string,
  concurrency: number,
  registry: MetricsRegistry = noMetrics,
): ControllerMetrics {
  const own = { controller };
  const queued = { name: controller, controller };
  const byController = (name: string, help: string) => ({
    name: `controller_runtime_${name}`,
    help,
    labels: ['controller'],
  });
  const byQueue = (name: string, help: string) => ({
    name: `workqueue_${name}`,
    help,
    labels: ['name', 'controller'],
  });

  const total = registry.counter({
    ...byController('reconcile_total', 'Reconciles, by outcome.'),
    labels: ['controller', 'result'],
  });
  const errors = registry.counter(byController('reconcile_errors_total', 'Failed reconciles.'));
  const time = registry.histogram({
    ...byController('reconcile_time_seconds', 'Duration of a reconcile in seconds.'),
    buckets: RECONCILE_BUCKETS,
  });
  const active = registry.gauge(byController('active_workers', 'Reconciles under way.'));
  registry.gauge(byController('max_concurrent_reconciles', 'Limit of concurrent reconciles.')).set(own, concurrency);

  const depth = registry.gauge(byQueue('depth', 'Keys waiting for a worker.'));
  const adds = registry.counter(byQueue('adds_total', 'Keys added.'));
  const retries = registry.counter(byQueue('retries_total', 'Keys added again after a failure.'));
  const waited = registry.histogram({
    ...byQueue('queue_duration_seconds', 'Seconds that a key waited for a worker.'),
    buckets: QUEUE_BUCKETS,
  });
  const worked = registry.histogram({
    ...byQueue('work_duration_seconds', 'Seconds that a worker spent on a key.'),
    buckets: QUEUE_BUCKETS,
  });

  const unfinished = registry.gauge(
    byQueue('unfinished_work_seconds', 'Seconds of work under way, summed over all workers.'),
  );
  const longest = registry.gauge(
    byQueue('longest_running_processor_seconds', 'Age in seconds of the longest-running reconcile.'),
  );

  return {
    watchWork: (workingFor) =>
      registry.beforeRead(() => {
        const seconds = workingFor().map((milliseconds) => milliseconds / 1_000);
        unfinished.set(
          queued,
          seconds.reduce((sum, each) => sum + each, 0),
        );
        longest.set(queued, Math.max(0, ...seconds));
      }),
    queue: {
      added: () => adds.inc(queued),
      depthChanged: (keys) => depth.set(queued, keys),
      retried: () => retries.inc(queued),
      started: (milliseconds) => waited.observe(queued, milliseconds / 1_000),
      finished: (milliseconds) => worked.observe(queued, milliseconds / 1_000),
    },
    reconciled(outcome, milliseconds) {
      total.inc({ controller, result: outcome });
      if (outcome === 'error') errors.inc(own);
      time.observe(own, milliseconds / 1_000);
    },
    active: (count) => active.set(own, count),
  };
}
