import type { Counter, Gauge, Histogram, MetricOptions, MetricsRegistry } from '../../src/kube/metrics.ts';

type Labels = Readonly<Record<string, string>>;

/** Test support: the metrics port on a map. Labels that were not declared are an error, as they are in Prometheus. */
export class RecordedMetrics implements MetricsRegistry {
  private readonly series = new Map<string, number>();
  private readonly observations = new Map<string, number[]>();
  private readonly refreshes = new Set<() => void>();
  /** Moments since when, of series that show the time since then. */
  private readonly moments = new Map<string, number>();
  private readonly now: () => number;

  constructor(now: () => number = () => 0) {
    this.now = now;
  }

  counter(options: MetricOptions): Counter {
    return {
      inc: (labels = {}, value = 1) => {
        const key = seriesKey(options, labels);
        this.series.set(key, (this.series.get(key) ?? 0) + value);
      },
    };
  }

  gauge(options: MetricOptions): Gauge {
    return {
      set: (labels, value) => void this.series.set(seriesKey(options, labels), value),
      setSince: (labels, moment) => void this.moments.set(seriesKey(options, labels), moment),
      delete: (labels) => {
        this.series.delete(seriesKey(options, labels));
        this.moments.delete(seriesKey(options, labels));
      },
    };
  }

  histogram(options: MetricOptions): Histogram {
    return this.observer(options);
  }

  summary(options: MetricOptions): Histogram {
    return this.observer(options);
  }

  beforeRead(refresh: () => void): () => void {
    this.refreshes.add(refresh);
    return () => this.refreshes.delete(refresh);
  }

  private observer(options: MetricOptions): Histogram {
    return {
      observe: (labels, value) => {
        const key = seriesKey(options, labels);
        this.observations.set(key, [...(this.observations.get(key) ?? []), value]);
      },
    };
  }

  /** The value of a counter or gauge whose labels include these; several series are added up. */
  value(name: string, labels: Labels = {}): number | undefined {
    for (const refresh of this.refreshes) refresh();
    const elapsed = [...this.moments].map(([key, moment]) => [key, (this.now() - moment) / 1000] as const);
    const found = [...this.series, ...elapsed].filter(([key]) => matches(key, name, labels));
    return found.length === 0 ? undefined : found.reduce((sum, [, value]) => sum + value, 0);
  }

  observed(name: string, labels: Labels = {}): readonly number[] {
    return [...this.observations].filter(([key]) => matches(key, name, labels)).flatMap(([, values]) => values);
  }
}

function seriesKey({ name, labels: declared = [] }: MetricOptions, labels: Labels): string {
  const undeclared = Object.keys(labels).filter((label) => !declared.includes(label));
  if (undeclared.length > 0) throw new Error(`${name} has no label ${undeclared.join(', ')}`);
  return JSON.stringify([name, Object.entries(labels).sort(([left], [right]) => (left < right ? -1 : 1))]);
}

function matches(key: string, name: string, labels: Labels): boolean {
  const [known, entries] = JSON.parse(key) as [string, [string, string][]];
  const present = Object.fromEntries(entries);
  return known === name && Object.entries(labels).every(([label, value]) => present[label] === value);
}
