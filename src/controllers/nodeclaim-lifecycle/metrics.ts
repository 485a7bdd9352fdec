import type { Counter, Histogram, MetricsRegistry } from '../../kube/metrics.ts';
import { DisruptedCounter } from '../metrics/disruptedCounter.ts';

export interface LifecycleMetrics {
  readonly nodesCreated: Counter;
  readonly disrupted: DisruptedCounter;
  readonly terminated: Counter;
  readonly terminationDuration: Histogram;
  readonly instanceTerminationDuration: Histogram;
}

const doubling = (count: number): number[] => Array.from({ length: count }, (_, power) => 2 ** power);

export function lifecycleMetrics(registry: MetricsRegistry): LifecycleMetrics {
  return {
    nodesCreated: registry.counter({
      name: 'karpenter_nodes_created_total',
      help: 'Registered nodes.',
      labels: ['nodepool', 'zone'],
    }),
    disrupted: new DisruptedCounter(registry),
    terminated: registry.counter({
      name: 'karpenter_nodeclaims_terminated_total',
      help: 'Terminated NodeClaims.',
      labels: ['nodepool', 'capacity_type', 'zone'],
    }),
    terminationDuration: registry.histogram({
      name: 'karpenter_nodeclaims_termination_duration_seconds',
      help: 'Seconds from the deletion of a NodeClaim until it was removed.',
      labels: ['nodepool'],
      buckets: doubling(12),
    }),
    instanceTerminationDuration: registry.histogram({
      name: 'karpenter_nodeclaims_instance_termination_duration_seconds',
      help: 'Seconds from the deletion of a NodeClaim until its instance was gone.',
      labels: ['nodepool'],
      buckets: doubling(11),
    }),
  };
}
