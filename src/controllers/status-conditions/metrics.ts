import type { Counter, Histogram, MetricsRegistry } from '../../kube/metrics.ts';

export interface ConditionMetrics {
  readonly transitions: Counter;
  readonly transitionSeconds: Histogram;
  readonly termination: Histogram;
}

/** Seconds, doubling from a half to two hours and a bit. */
const BUCKETS = Array.from({ length: 15 }, (_, power) => 0.5 * 2 ** power);

/** `kind` in lower case, as it stands in the names. */
export function conditionMetrics(registry: MetricsRegistry, kind: string): ConditionMetrics {
  return {
    transitions: registry.counter({
      name: `operator_${kind}_status_condition_transitions_total`,
      help: 'How often a condition has turned to a status.',
      labels: ['type', 'status', 'reason'],
    }),
    transitionSeconds: registry.histogram({
      name: `operator_${kind}_status_condition_transition_seconds`,
      help: 'How long a condition had been otherwise before it turned.',
      labels: ['type', 'status'],
      buckets: BUCKETS,
    }),
    termination: registry.histogram({
      name: `operator_${kind}_termination_duration_seconds`,
      help: 'From the deletion of an object until it was gone.',
      buckets: BUCKETS,
    }),
  };
}
