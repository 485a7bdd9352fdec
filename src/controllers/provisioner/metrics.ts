import type { Counter, Gauge, Histogram, MetricsRegistry } from '../../kube/metrics.ts';
import { DURATION_BUCKETS } from '../durationBuckets.ts';

export interface ProvisionerMetrics {
  readonly created: Counter;
  readonly schedulingDuration: Histogram;
  readonly unschedulablePods: Gauge;
}

export function provisionerMetrics(registry: MetricsRegistry): ProvisionerMetrics {
  return {
    created: registry.counter({
      name: 'karpenter_nodeclaims_created_total',
      help: 'NodeClaims that were created, by why and for which NodePool.',
      labels: ['reason', 'nodepool', 'min_values_relaxed'],
    }),
    schedulingDuration: registry.histogram({
      name: 'karpenter_scheduler_scheduling_duration_seconds',
      help: 'How long a scheduling simulation took.',
      labels: ['controller'],
      buckets: DURATION_BUCKETS,
    }),
    unschedulablePods: registry.gauge({
      name: 'karpenter_scheduler_unschedulable_pods_count',
      help: 'Pods that the last pass found no place for.',
      labels: ['controller'],
    }),
  };
}
