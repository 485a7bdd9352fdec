/** Metrics for Prometheus: implements the `MetricsRegistry` port and renders the text format, with process metrics. */
import { InvariantError } from '../errors/invariantError.ts';
import {
  collectDefaultMetrics,
  Counter as PromCounter,
  Histogram as PromHistogram,
  Registry,
  Summary as PromSummary,
} from 'prom-client';
import type { Counter, Gauge, Histogram, HistogramOptions, MetricOptions, MetricsRegistry } from '../kube/metrics.ts';
import { TextGauge } from './textGauge.ts';

export interface BuildInfo {
  readonly version: string;
  readonly commit?: string | undefined;
}

/** Go's default buckets, which upstream's dashboards assume. */
const DEFAULT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Characters per part. */
const PART_LENGTH = 2 ** 18;

/** Over the last ten minutes, as Go's client does it by default. */
const SUMMARY = { percentiles: [0, 0.5, 0.9, 0.99, 1], maxAgeSeconds: 600, ageBuckets: 5 };

/** The architecture names that Kubernetes uses. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

type MetricType = 'counter' | 'gauge' | 'histogram' | 'summary';

interface Registered {
  readonly type: MetricType;
  readonly labels: string;
  readonly metric: Counter | Gauge | Histogram;
}

export class PrometheusMetrics implements MetricsRegistry {
  private readonly registry = new Registry();
  private readonly registered = new Map<string, Registered>();
  private readonly gauges: TextGauge[] = [];
  private readonly refreshes = new Set<() => void>();
  private readonly now: () => number;

  /** Adds the process's own metrics: `process_*` under the names that Go clients use, and Node.js's `nodejs_*`. */
  constructor(options: { readonly build: BuildInfo; readonly now?: () => number }) {
    this.now = options.now ?? Date.now;
    collectDefaultMetrics({ register: this.registry });
    const { version, commit = '' } = options.build;
    const build = this.gauge({
      name: 'karpenter_build_info',
      help: 'Always 1; the labels say which build runs.',
      labels: ['version', 'goversion', 'goarch', 'commit'],
    });
    build.set({ version, goversion: process.version, goarch: ARCHITECTURES[process.arch] ?? process.arch, commit }, 1);
  }

  counter(options: MetricOptions): Counter {
    return this.once('counter', options, () => {
      const metric = new PromCounter(this.configuration(options));
      return { inc: (labels = {}, value = 1) => metric.inc({ ...labels }, value) };
    });
  }

  gauge(options: MetricOptions): Gauge {
    return this.once('gauge', options, () => {
      const gauge = new TextGauge(options);
      this.gauges.push(gauge);
      return gauge;
    });
  }

  histogram(options: HistogramOptions): Histogram {
    return this.once('histogram', options, () => {
      const buckets = [...(options.buckets ?? DEFAULT_BUCKETS)];
      const metric = new PromHistogram({ ...this.configuration(options), buckets });
      return { observe: (labels, value) => metric.observe({ ...labels }, value) };
    });
  }

  summary(options: MetricOptions): Histogram {
    return this.once('summary', options, () => {
      const metric = new PromSummary({ ...this.configuration(options), ...SUMMARY });
      return { observe: (labels, value) => metric.observe({ ...labels }, value) };
    });
  }

  beforeRead(refresh: () => void): () => void {
    this.refreshes.add(refresh);
    return () => this.refreshes.delete(refresh);
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  /** All metrics in Prometheus's text format. */
  async render(): Promise<string> {
    const parts: string[] = [];
    for await (const part of this.parts()) parts.push(part);
    return parts.join('');
  }

  /** The same in parts that each take about a millisecond, so that the event loop can run in between. */
  async *parts(): AsyncGenerator<string, void, void> {
    for (const refresh of this.refreshes) refresh();
    yield await this.registry.metrics();
    const now = this.now();
    let part = '';
    for (const gauge of this.gauges) {
      for (const line of gauge.lines(now)) {
        part += line;
        if (part.length < PART_LENGTH) continue;
        yield part;
        part = '';
      }
    }
    yield part;
  }

  private configuration({ name, help, labels = [] }: MetricOptions) {
    return { name, help, labelNames: [...labels], registers: [this.registry] };
  }

  private once<Metric extends Counter | Gauge | Histogram>(
    type: MetricType,
    options: MetricOptions,
    create: () => Metric,
  ): Metric {
    const labels = [...(options.labels ?? [])].sort().join(',');
    const known = this.registered.get(options.name);
    if (known === undefined) {
      const metric = create();
      this.registered.set(options.name, { type, labels, metric });
      return metric;
    }
    if (known.type !== type || known.labels !== labels)
      throw new InvariantError(
        `the metric ${options.name} exists as a ${known.type} with labels [${known.labels}], not as a ${type} with [${labels}]`,
      );
    // Safe: the type was compared above, and it determines the interface.
    return known.metric as Metric;
  }
}
