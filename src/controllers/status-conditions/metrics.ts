import type { KubeObject, ResourceKind } from '../../api/object.ts';
import type { Counter, Gauge, Histogram, MetricsRegistry } from '../../kube/metrics.ts';

type Labels = Readonly<Record<string, string>>;

/** A metric with the kind in its name and, where old dashboards need it, also under the name shared by all kinds. */
export interface ConditionMetrics {
  /** Labels from the object on its series. */
  own(object: KubeObject): Labels;
  readonly transitions: Counter;
  readonly transitionSeconds: Histogram;
  readonly termination: Histogram;
  readonly count: readonly Gauge[];
  readonly currentSeconds: readonly Gauge[];
  readonly terminatingSeconds: readonly Gauge[];
  /** The labels of a series of the n-th gauge of the list. */
  gaugeLabels(at: number, object: KubeObject, labels: Labels): Labels;
}

export interface ConditionMetricsOptions {
  /** Keys of object labels that become metric labels. */
  readonly labels?: readonly string[];
  /** Whether the names without a kind are exported too; upstream calls them deprecated. */
  readonly shared?: boolean;
}

/** Seconds, doubling from 0.5 to a little over two hours. */
const BUCKETS = Array.from({ length: 15 }, (_, power) => 0.5 * 2 ** power);
const IDENTITY = ['namespace', 'name'];
const STATEMENT = ['type', 'status', 'reason'];

const metricLabel = (key: string): string => key.replaceAll(/[/.-]/g, '_');

export function conditionMetrics(
  registry: MetricsRegistry,
  kind: ResourceKind<KubeObject>,
  { labels: keys = [], shared = false }: ConditionMetricsOptions = {},
): ConditionMetrics {
  const prefix = kind.kind.toLowerCase();
  const extra = keys.map(metricLabel);
  const common: Labels = { group: kind.group, kind: kind.kind };
  const own = ({ metadata }: KubeObject): Labels =>
    Object.fromEntries(keys.map((key) => [metricLabel(key), metadata.labels?.[key] ?? '']));
  const gauges = (name: string, help: string, labels: readonly string[]): readonly Gauge[] => [
    registry.gauge({ name: `operator_${prefix}_${name}`, help, labels: [...labels, ...extra] }),
    ...(shared ? [registry.gauge({ name: `operator_${name}`, help, labels: [...labels, 'group', 'kind'] })] : []),
  ];
  const histogram = (name: string, help: string, labels: readonly string[]): Histogram => {
    const mine = registry.histogram({
      name: `operator_${prefix}_${name}`,
      help,
      labels: [...labels, ...extra],
      buckets: BUCKETS,
    });
    const old = shared && registry.histogram({ name: `operator_${name}`, help, labels: [...labels, 'group', 'kind'] });
    return {
      observe: (given, value) => {
        mine.observe(given, value);
        if (old) old.observe({ ...withoutExtra(given), ...common }, value);
      },
    };
  };
  const withoutExtra = (labels: Labels): Labels =>
    Object.fromEntries(Object.entries(labels).filter(([name]) => !extra.includes(name)));
  const transitions = (): Counter => {
    const help = 'Transitions of a condition to a status.';
    const name = 'status_condition_transitions_total';
    const mine = registry.counter({ name: `operator_${prefix}_${name}`, help, labels: [...STATEMENT, ...extra] });
    const old = shared && registry.counter({ name: `operator_${name}`, help, labels: [...STATEMENT, 'group', 'kind'] });
    return {
      inc: (given = {}) => {
        mine.inc(given);
        if (old) old.inc({ ...withoutExtra(given), ...common });
      },
    };
  };
  return {
    own,
    transitions: transitions(),
    transitionSeconds: histogram(
      'status_condition_transition_seconds',
      'Seconds that a condition had a status before it changed.',
      ['type', 'status'],
    ),
    termination: histogram(
      'termination_duration_seconds',
      'Seconds from the deletion of an object until it was removed.',
      [],
    ),
    count: gauges('status_condition_count', 'Always 1; the labels say which status a condition has.', [
      ...IDENTITY,
      ...STATEMENT,
    ]),
    currentSeconds: gauges('status_condition_current_status_seconds', 'Seconds that a condition has had its status.', [
      ...IDENTITY,
      ...STATEMENT,
    ]),
    terminatingSeconds: gauges(
      'termination_current_time_seconds',
      'Seconds since the deletion of an object that still exists.',
      IDENTITY,
    ),
    gaugeLabels: (at, object, labels) => ({ ...labels, ...(at === 0 ? own(object) : common) }),
  };
}
