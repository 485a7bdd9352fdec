import type { Counter, Histogram, MetricsRegistry } from '../../kube/metrics.ts';

export interface LifecycleMetrics {
  readonly nodesCreated: Counter;
  readonly disrupted: Counter;
  readonly terminated: Counter;
  readonly terminationDuration: Histogram;
}

const doubling = (count: number): number[] => Array.from({ length: count }, (_, power) => 2 ** power);

export function lifecycleMetrics(registry: MetricsRegistry): LifecycleMetrics {
  return {
    nodesCreated: registry.counter({
      name: 'karpenter_nodes_created_total',
      help: 'Nodes that have registered.',
      labels: ['nodepool', 'zone'],
    }),
    disrupted: registry.counter({
      name: 'karpenter_nodeclaims_disrupted_total',
      help: 'NodeClaims that were given up or disrupted, by reason.',
      labels: ['reason', 'nodepool', 'capacity_type', 'consolidation_policy', 'termination_mode'],
    }),
    terminated: registry.counter({
      name: 'karpenter_nodeclaims_terminated_total',
      help: 'NodeClaims that are gone with their instance.',
      labels: ['nodepool', 'capacity_type', 'zone'],
    }),
    terminationDuration: registry.histogram({
      name: 'karpenter_nodeclaims_termination_duration_seconds',
      help: 'From the deletion of a NodeClaim until it was gone.',
      labels: ['nodepool'],
      buckets: doubling(12),
    }),
  };
}
