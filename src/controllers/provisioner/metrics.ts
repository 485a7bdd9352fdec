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
      help: 'How long a scheduling simulation took.',
      labels: ['controller'],
      buckets: DURATION_BUCKETS,
    }),
    decisionDuration: registry.histogram({
      name: 'karpenter_pods_scheduling_decision_duration_seconds',
      help: 'From the first sight of a pod that nobody could place to the first decision about it.',
      buckets: DURATION_BUCKETS,
    }),
    unschedulablePods: registry.gauge({
      name: 'karpenter_scheduler_unschedulable_pods_count',
      help: 'Pods that the last pass found no place for.',
      labels: ['controller'],
    }),
    ignoredPods: registry.gauge({
      name: 'karpenter_scheduler_ignored_pods_count',
      help: 'Pods that wait but are left out of provisioning.',
    }),
  };
}

/** Shared by all loops that create NodeClaims. */
export function createdCounter(registry: MetricsRegistry): Counter {
  return registry.counter({
    name: 'karpenter_nodeclaims_created_total',
    help: 'NodeClaims that were created, by why and for which NodePool.',
    labels: ['reason', 'nodepool', 'min_values_relaxed'],
  });
}
