import type { Counter, MetricsRegistry } from '../../kube/metrics.ts';

/** Hints that were written, pods that the scheduler bound to the hinted node, and pods that it bound to another. */
export function hintsCounter(registry: MetricsRegistry): Counter {
  return registry.counter({
    name: 'nodewright_placement_hints_total',
    help: 'Placement hints, by outcome: written, followed by the scheduler, or lost to another node.',
    labels: ['outcome'],
  });
}
