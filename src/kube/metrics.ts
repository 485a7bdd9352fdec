/**
 * The metrics port; the composition root decides how metrics are exposed. Metrics are declared once, with name, help
 * text and label names, and then observed. Declaring an existing name returns the existing metric.
 */
export interface MetricsRegistry {
  counter(options: MetricOptions): Counter;
  gauge(options: MetricOptions): Gauge;
  histogram(options: HistogramOptions): Histogram;
  /** Quantiles 0, 0.5, 0.9, 0.99 and 1 of recent observations. */
  summary(options: MetricOptions): Histogram;
  /**
   * Calls `refresh` before the metrics are read, for values that change with time; returns a function to unsubscribe.
   */
  beforeRead(refresh: () => void): () => void;
}

export interface MetricOptions {
  /** The whole name, prefix included. */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

export interface HistogramOptions extends MetricOptions {
  /** Upper bounds, ascending, without +Inf; absent: the registry's default. */
  readonly buckets?: readonly number[];
}

type MetricLabels = Readonly<Record<string, string>>;

export interface Counter {
  inc(labels?: MetricLabels, value?: number): void;
}

export interface Gauge {
  set(labels: MetricLabels, value: number): void;
  /** Exports, at every read, the seconds since a moment (given in milliseconds since the epoch). */
  setSince(labels: MetricLabels, moment: number): void;
  /** Removes the series, so that deleted objects are no longer reported. */
  delete(labels: MetricLabels): void;
}

export interface Histogram {
  observe(labels: MetricLabels, value: number): void;
}

/** Discards everything: for tests and simulations. */
export const noMetrics: MetricsRegistry = {
  counter: () => ({ inc: () => {} }),
  gauge: () => ({ set: () => {}, setSince: () => {}, delete: () => {} }),
  histogram: () => ({ observe: () => {} }),
  summary: () => ({ observe: () => {} }),
  beforeRead: () => () => {},
};
