import type { Counter, Gauge, Histogram, MetricsRegistry } from '../../kube/metrics.ts';
import { DURATION_BUCKETS } from '../metrics/durationBuckets.ts';

export interface ProvisionerMetrics {
  readonly schedulingDuration: Histogram;
  readonly decisionDuration: Histogram;
  readonly unschedulablePods: Gauge;
  readonly ignoredPods: Gauge;
}

export function provisionerMetrics(registry: MetricsRegistry): ProvisionerMetrics {
  return {
    schedulingDuration: registry.histogram({
      name: 'karpenter_scheduler_scheduling_duration_seconds',
      help: 'Duration of a scheduling simulation in seconds.',
      labels: ['controller'],
      buckets: DURATION_BUCKETS,
    }),
    decisionDuration: registry.histogram({
      name: 'karpenter_pods_scheduling_decision_duration_seconds',
      help: 'Seconds from the first sight of a pending pod to the first decision about it.',
      buckets: DURATION_BUCKETS,
    }),
    unschedulablePods: registry.gauge({
      name: 'karpenter_scheduler_unschedulable_pods_count',
      help: 'Pods that the last pass could not schedule.',
      labels: ['controller'],
    }),
    ignoredPods: registry.gauge({
      name: 'karpenter_scheduler_ignored_pods_count',
      help: 'Pending pods that provisioning ignores.',
    }),
  };
}

/** Shared by all loops that create NodeClaims. */
export function createdCounter(registry: MetricsRegistry): Counter {
  return registry.counter({
    name: 'karpenter_nodeclaims_created_total',
    help: 'Created NodeClaims, by reason and NodePool.',
    labels: ['reason', 'nodepool', 'min_values_relaxed'],
  });
}
