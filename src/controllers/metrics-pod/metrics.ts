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
    state: registry.gauge({ name: 'karpenter_pods_state', help: 'Always 1; the labels say it all.', labels: STATE }),
    startup: registry.summary({
      name: 'karpenter_pods_startup_duration_seconds',
      help: 'From the creation of a pod until it was ready.',
    }),
    unstarted: gauge('unstarted_time_seconds', 'How long a pod has been waiting to run.'),
    bound: histogram('bound_duration_seconds', 'From the creation of a pod until it had a node.'),
    unbound: gauge('unbound_time_seconds', 'How long a pod has been waiting for a node.'),
    provisioningBound: histogram(
      'provisioning_bound_duration_seconds',
      'From the first plan with a place for a pod until it had a node.',
    ),
    provisioningUnbound: gauge(
      'provisioning_unbound_time_seconds',
      'How long ago the first plan with a place for a pod was made that has no node yet.',
    ),
    provisioningStartup: histogram(
      'provisioning_startup_duration_seconds',
      'From the first plan with a place for a pod until it was ready.',
    ),
    provisioningUnstarted: gauge(
      'provisioning_unstarted_time_seconds',
      'How long ago the first plan with a place for a pod was made that does not run yet.',
    ),
    undecided: gauge(
      'provisioning_scheduling_undecided_time_seconds',
      'How long ago a pod was first seen about which nothing is decided yet.',
    ),
  };
}
