import type { MetricOptions, MetricsRegistry } from '../../kube/metrics.ts';
import { noMetrics } from '../../kube/metrics.ts';

/** A metric declared by the program. */
export interface DeclaredMetric {
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
}

/** The metrics that `declare` registers, sorted by name. */
export function metricsDeclaredBy(declare: (registry: MetricsRegistry) => void): readonly DeclaredMetric[] {
  const known = new Map<string, DeclaredMetric>();
  const note = (type: DeclaredMetric['type'], { name, help, labels = [] }: MetricOptions): void => {
    known.set(name, { type, name, help, labels });
  };
  declare({
    counter: (options) => (note('counter', options), noMetrics.counter(options)),
    gauge: (options) => (note('gauge', options), noMetrics.gauge(options)),
    histogram: (options) => (note('histogram', options), noMetrics.histogram(options)),
    summary: (options) => (note('summary', options), noMetrics.summary(options)),
    beforeRead: () => () => {},
  });
  return [...known.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
}
