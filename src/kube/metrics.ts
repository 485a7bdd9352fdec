/**
 * The metrics port; how metrics are exposed is decided elsewhere. Metrics are declared once, with name, help text and
 * label names, and then observed. Asking a registry again for a name that it has returns the metric it has.
 */
export interface MetricsRegistry {
  counter(options: MetricOptions): Counter;
  gauge(options: MetricOptions): Gauge;
  histogram(options: HistogramOptions): Histogram;
  /** Quantiles 0, 0.5, 0.9, 0.99 and 1 of what was observed lately. */
  summary(options: MetricOptions): Histogram;
  /** Calls `refresh` before the numbers are read, for those that change by the mere passing of time; returns how to stop. */
  beforeRead(refresh: () => void): () => void;
}

export interface MetricOptions {
  /** The whole name, prefix included. */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

export interface HistogramOptions extends MetricOptions {
  /** Upper bounds, ascending, without +Inf; the registry's default when absent. */
  readonly buckets?: readonly number[];
}

type MetricLabels = Readonly<Record<string, string>>;

export interface Counter {
  inc(labels?: MetricLabels, value?: number): void;
}

export interface Gauge {
  set(labels: MetricLabels, value: number): void;
  /** Shows, whenever it is read, the seconds since a moment (milliseconds since the epoch). */
  setSince(labels: MetricLabels, moment: number): void;
  /** Forgets the series, so that what no longer exists is no longer reported. */
  delete(labels: MetricLabels): void;
}

export interface Histogram {
  observe(labels: MetricLabels, value: number): void;
}

/** Keeps nothing: for tests and simulations. */
export const noMetrics: MetricsRegistry = {
  counter: () => ({ inc: () => {} }),
  gauge: () => ({ set: () => {}, setSince: () => {}, delete: () => {} }),
  histogram: () => ({ observe: () => {} }),
  summary: () => ({ observe: () => {} }),
  beforeRead: () => () => {},
};
