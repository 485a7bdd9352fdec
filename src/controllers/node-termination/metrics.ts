import type { Counter, Histogram, MetricsRegistry } from '../../kube/metrics.ts';

export interface TerminationMetrics {
  readonly terminated: Counter;
  readonly drained: Counter;
  readonly duration: Histogram;
  readonly lifetime: Histogram;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Seconds; from a quarter of an hour to thirty days. */
const LIFETIME_BUCKETS: readonly number[] = [
  ...[15, 30, 45].map((minutes) => minutes * MINUTE),
  ...[1, 2, 4, 6, 8, 10, 12, 16, 20].map((hours) => hours * HOUR),
  ...[1, 2, 3, 5, 10, 15, 20, 25, 30].map((days) => days * DAY),
];

export function terminationMetrics(registry: MetricsRegistry): TerminationMetrics {
  return {
    terminated: registry.counter({
      name: 'karpenter_nodes_terminated_total',
      help: 'Terminated nodes.',
      labels: ['nodepool', 'zone'],
    }),
    drained: registry.counter({
      name: 'karpenter_nodes_drained_total',
      help: 'Drained nodes.',
      labels: ['nodepool'],
    }),
    duration: registry.summary({
      name: 'karpenter_nodes_termination_duration_seconds',
      help: 'Seconds from the deletion of a Node until its finalizer was removed.',
      labels: ['nodepool'],
    }),
    lifetime: registry.histogram({
      name: 'karpenter_nodes_lifetime_duration_seconds',
      help: 'Lifetime of nodes in seconds, from creation to termination.',
      labels: ['nodepool'],
      buckets: LIFETIME_BUCKETS,
    }),
  };
}
