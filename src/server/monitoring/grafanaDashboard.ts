/** A Grafana dashboard with a panel for every declared metric, by subject. */
import type { DeclaredMetric } from './declaredMetric.ts';

interface Panel {
  readonly title: string;
  readonly description: string;
  readonly unit: string;
  readonly queries: readonly { readonly expression: string; readonly legend: string }[];
}

interface Subject {
  readonly title: string;
  /** Prefixes of its metrics' names. */
  readonly prefixes: readonly string[];
}

const SUBJECTS: readonly Subject[] = [
  { title: 'Cost', prefixes: ['karpenter_nodepools_cost', 'nodewright_savings', 'karpenter_cluster_utilization'] },
  { title: 'Pods and planning', prefixes: ['karpenter_scheduler', 'karpenter_pods'] },
  { title: 'NodePools', prefixes: ['karpenter_nodepools'] },
  { title: 'Nodes and NodeClaims', prefixes: ['karpenter_nodes', 'karpenter_nodeclaims'] },
  {
    title: 'Disruption',
    prefixes: ['karpenter_voluntary_disruption', 'karpenter_consolidation', 'nodewright_consolidation'],
  },
  { title: 'Controller and cloud', prefixes: ['karpenter_cluster_state', 'karpenter_cloudprovider', 'nodewright_'] },
  { title: 'Conditions', prefixes: ['operator_status_condition', 'operator_termination'] },
];

/** The label by which a panel draws lines: the first of these that the metric has; others would give too many lines. */
const DRAWN_BY = ['nodepool', 'reason', 'blocker', 'resource_type', 'kind', 'phase', 'method', 'controller', 'type'];

const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };
const COLUMNS = 3;
const WIDTH = 8;
const HEIGHT = 7;

export function grafanaDashboard(metrics: readonly DeclaredMetric[]): object {
  let y = 0;
  let id = 0;
  const panels = SUBJECTS.flatMap(({ title, prefixes }, at) => {
    const earlier = SUBJECTS.slice(0, at).flatMap((each) => each.prefixes);
    const isOf = ({ name }: DeclaredMetric): boolean =>
      prefixes.some((prefix) => name.startsWith(prefix)) && !earlier.some((prefix) => name.startsWith(prefix));
    const own = metrics.filter(isOf).map(panelOf);
    if (own.length === 0) return [];
    const top = y + 1;
    const row = { id: ++id, type: 'row', title, collapsed: false, gridPos: { h: 1, w: 24, x: 0, y }, panels: [] };
    y = top + Math.ceil(own.length / COLUMNS) * HEIGHT;
    return [row, ...own.map((panel, index) => drawn(panel, ++id, index, top))];
  });
  return {
    title: 'nodewright',
    uid: 'nodewright',
    tags: ['nodewright', 'karpenter'],
    schemaVersion: 39,
    editable: true,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: {
      list: [{ name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' }],
    },
    panels,
  };
}

function drawn({ title, description, unit, queries }: Panel, id: number, index: number, top: number): object {
  return {
    id,
    type: 'timeseries',
    title,
    description,
    datasource: DATASOURCE,
    gridPos: { h: HEIGHT, w: WIDTH, x: (index % COLUMNS) * WIDTH, y: top + Math.floor(index / COLUMNS) * HEIGHT },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
    targets: queries.map(({ expression, legend }, at) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + at),
      datasource: DATASOURCE,
      expr: expression,
      legendFormat: legend,
    })),
  };
}

function panelOf(metric: DeclaredMetric): Panel {
  const { name, help, labels } = metric;
  const by = DRAWN_BY.find((label) => labels.includes(label));
  const title = name.replace(/^(karpenter|nodewright|operator)_/, '').replaceAll('_', ' ');
  return { title, description: help, unit: unitOf(metric), queries: queriesOf(metric, by) };
}

function queriesOf({ type, name }: DeclaredMetric, by: string | undefined): Panel['queries'] {
  const grouped = by === undefined ? '' : ` by (${by})`;
  const legend = by === undefined ? 'all' : `{{${by}}}`;
  switch (type) {
    case 'counter':
      return [{ expression: `sum${grouped} (rate(${name}[5m]))`, legend }];
    case 'gauge':
      return [{ expression: `${name.endsWith('_seconds') ? 'max' : 'sum'}${grouped} (${name})`, legend }];
    case 'histogram':
      return [0.5, 0.99].map((quantile) => ({
        expression: `histogram_quantile(${quantile}, sum by (le) (rate(${name}_bucket[5m])))`,
        legend: `p${quantile * 100}`,
      }));
    case 'summary':
      return [{ expression: `max by (quantile) (${name})`, legend: 'quantile {{quantile}}' }];
  }
}

function unitOf({ type, name }: DeclaredMetric): string {
  if (type === 'counter') return name.endsWith('_seconds_total') ? 's' : 'ops';
  if (name.endsWith('_seconds')) return 's';
  if (name.endsWith('_percent')) return 'percent';
  return name.includes('cost') || name.includes('dollars') ? 'currencyUSD' : 'short';
}
