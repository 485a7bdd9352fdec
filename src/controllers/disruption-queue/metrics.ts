import type { Counter, MetricsRegistry } from '../../kube/metrics.ts';
import { DisruptedCounter } from '../metrics/disruptedCounter.ts';

export interface QueueMetrics {
  readonly decisions: Counter;
  readonly decisionsByPool: Counter;
  readonly failures: Counter;
  readonly disrupted: DisruptedCounter;
}

export function queueMetrics(registry: MetricsRegistry): QueueMetrics {
  return {
    decisions: registry.counter({
      name: 'karpenter_voluntary_disruption_decisions_total',
      help: 'Disruption decisions that were started, by decision, reason and consolidation type.',
      labels: ['decision', 'reason', 'consolidation_type'],
    }),
    decisionsByPool: registry.counter({
      name: 'karpenter_voluntary_disruption_decisions_by_nodepool_total',
      help: 'Disruption decisions that were started, by NodePool, decision, reason and consolidation type.',
      labels: ['nodepool', 'decision', 'reason', 'consolidation_type'],
    }),
    failures: registry.counter({
      name: 'karpenter_voluntary_disruption_queue_failures_total',
      help: 'Replacements that did not become ready, by decision, reason and consolidation type.',
      labels: ['decision', 'reason', 'consolidation_type'],
    }),
    disrupted: new DisruptedCounter(registry),
  };
}
