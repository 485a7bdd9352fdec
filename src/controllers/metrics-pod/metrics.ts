import type { Gauge, Histogram, MetricsRegistry } from '../../kube/metrics.ts';
import { DURATION_BUCKETS } from '../metrics/durationBuckets.ts';

export interface PodMetrics {
  readonly state: Gauge;
  readonly startup: Histogram;
  readonly unstarted: Gauge;
  readonly bound: Histogram;
  readonly unbound: Gauge;
  readonly provisioningBound: Histogram;
  readonly provisioningUnbound: Gauge;
  readonly provisioningStartup: Histogram;
  readonly provisioningUnstarted: Gauge;
  readonly undecided: Gauge;
}

const IDENTITY = ['name', 'namespace'];
const STATE = [
  ...IDENTITY,
  'owner',
  'node',
  'scheduled',
  'nodepool',
  'zone',
  'arch',
  'capacity_type',
  'instance_type',
  'phase',
  'ready',
  'managed',
];

export function podMetrics(registry: MetricsRegistry): PodMetrics {
  const gauge = (name: string, help: string): Gauge =>
    registry.gauge({ name: `karpenter_pods_${name}`, help, labels: IDENTITY });
  const histogram = (name: string, help: string): Histogram =>
    registry.histogram({ name: `karpenter_pods_${name}`, help, buckets: DURATION_BUCKETS });
  return {
    state: registry.gauge({
      name: 'karpenter_pods_state',
      help: 'Always 1; the labels describe the pod.',
      labels: STATE,
    }),
    startup: registry.summary({
      name: 'karpenter_pods_startup_duration_seconds',
      help: 'Seconds from the creation of a pod until it was ready.',
    }),
    unstarted: gauge('unstarted_time_seconds', 'Seconds since the creation of a pod that is not ready yet.'),
    bound: histogram('bound_duration_seconds', 'Seconds from the creation of a pod until it was bound.'),
    unbound: gauge('unbound_time_seconds', 'Seconds since the creation of a pod that is not bound yet.'),
    provisioningBound: histogram(
      'provisioning_bound_duration_seconds',
      'Seconds from the first plan that places a pod until it was bound.',
    ),
    provisioningUnbound: gauge(
      'provisioning_unbound_time_seconds',
      'Seconds since the first plan that places a pod which is not bound yet.',
    ),
    provisioningStartup: histogram(
      'provisioning_startup_duration_seconds',
      'Seconds from the first plan that places a pod until it was ready.',
    ),
    provisioningUnstarted: gauge(
      'provisioning_unstarted_time_seconds',
      'Seconds since the first plan that places a pod which is not ready yet.',
    ),
    undecided: gauge(
      'provisioning_scheduling_undecided_time_seconds',
      'Seconds since a pending pod without a decision was first seen.',
    ),
  };
}
