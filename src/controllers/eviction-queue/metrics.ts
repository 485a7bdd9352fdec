import type { Counter, MetricsRegistry } from '../../kube/metrics.ts';

export interface EvictionMetrics {
  readonly requests: Counter;
  readonly drained: Counter;
}

export function evictionMetrics(registry: MetricsRegistry): EvictionMetrics {
  return {
    requests: registry.counter({
      name: 'karpenter_pods_eviction_requests_total',
      help: 'Eviction requests, by HTTP status code.',
      labels: ['code'],
    }),
    drained: registry.counter({
      name: 'karpenter_pods_drained_total',
      help: 'Pods evicted or deleted from a node, by reason.',
      labels: ['reason'],
    }),
  };
}
