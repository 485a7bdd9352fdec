import type { Counter, MetricsRegistry } from '../../kube/metrics.ts';

export interface TerminationMetrics {
  readonly terminated: Counter;
  readonly drained: Counter;
}

export function terminationMetrics(registry: MetricsRegistry): TerminationMetrics {
  return {
    terminated: registry.counter({
      name: 'karpenter_nodes_terminated_total',
      help: 'Nodes that are gone.',
      labels: ['nodepool', 'zone'],
    }),
    drained: registry.counter({
      name: 'karpenter_nodes_drained_total',
      help: 'Nodes whose pods have all left.',
      labels: ['nodepool'],
    }),
  };
}
