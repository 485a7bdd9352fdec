import type { Counter, MetricsRegistry } from '../../kube/metrics.ts';

/** Hints written, pods bound to the hinted node, and pods bound to another node. */
export function hintsCounter(registry: MetricsRegistry): Counter {
  return registry.counter({
    name: 'nodewright_placement_hints_total',
    help: 'Placement hints, by outcome: written, followed by the scheduler, or lost to another node.',
    labels: ['outcome'],
  });
}
