import type { Counter, Gauge, Histogram, MetricsRegistry } from '../../kube/metrics.ts';
import { DURATION_BUCKETS } from '../metrics/durationBuckets.ts';

export interface DisruptionMetrics {
  readonly evaluation: Histogram;
  readonly eligible: Gauge;
  readonly timeouts: Counter;
  readonly failedValidations: Counter;
  readonly allowed: Gauge;
  readonly consuming: Gauge;
  readonly reversals: Counter;
  readonly score: Histogram;
  readonly moves: Counter;
  readonly backlog: Gauge;
}

export function disruptionMetrics(registry: MetricsRegistry): DisruptionMetrics {
  const timeouts = registry.counter({
    name: 'karpenter_voluntary_disruption_consolidation_timeouts_total',
    help: 'Consolidations that ran out of time. A pass here looks at every node, so it stays at 0.',
    labels: ['consolidation_type'],
  });
  for (const consolidationType of ['multi', 'single']) timeouts.inc({ consolidation_type: consolidationType }, 0);
  return {
    evaluation: registry.histogram({
      name: 'karpenter_voluntary_disruption_decision_evaluation_duration_seconds',
      help: 'How long a decision about disruption took, by reason and consolidation type.',
      labels: ['reason', 'consolidation_type'],
      buckets: DURATION_BUCKETS,
    }),
    eligible: registry.gauge({
      name: 'karpenter_voluntary_disruption_eligible_nodes',
      help: 'Nodes that may be disrupted, by reason.',
      labels: ['reason'],
    }),
    timeouts,
    failedValidations: registry.counter({
      name: 'karpenter_voluntary_disruption_failed_validations_total',
      help: 'Nodes that were chosen and were no candidates any more a little later, by consolidation type.',
      labels: ['consolidation_type'],
    }),
    allowed: registry.gauge({
      name: 'karpenter_nodepools_allowed_disruptions',
      help: 'Nodes of a NodePool that its budgets allow to be disrupted at once, by reason.',
      labels: ['nodepool', 'reason'],
    }),
    consuming: registry.gauge({
      name: 'karpenter_nodepools_nodes_consuming_budgets',
      help: 'Nodes of a NodePool that its budgets count as disrupted, by reason.',
      labels: ['nodepool', 'reason'],
    }),
    score: registry.histogram({
      name: 'karpenter_consolidation_score',
      help: 'What moves were worth to NodePools with the policy Balanced, by decision, NodePool and policy.',
      labels: ['decision', 'nodepool', 'policy'],
      buckets: [0.1, 0.25, 0.33, 0.5, 1, 2, 5, 10],
    }),
    moves: registry.counter({
      name: 'karpenter_consolidation_moves_total',
      help: 'Moves of consolidation that were approved or rejected, by decision, NodePool and policy.',
      labels: ['decision', 'nodepool', 'policy'],
    }),
    backlog: registry.gauge({
      name: 'nodewright_savings_backlog_dollars_per_hour',
      help: 'What could be saved on nodes of a NodePool, by what holds it.',
      labels: ['nodepool', 'blocker'],
    }),
    reversals: registry.counter({
      name: 'nodewright_consolidation_reversals_total',
      help: 'Nodes that were bought within an hour of a consolidation although there were no more pods than before it, by NodePool.',
      labels: ['nodepool'],
    }),
  };
}
