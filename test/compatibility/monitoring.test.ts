import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { declaredMetrics } from '../../src/cli/compose/declaredMetrics.ts';
import { grafanaDashboard } from '../../src/server/monitoring/grafanaDashboard.ts';
import { prometheusAlerts } from '../../src/server/monitoring/prometheusAlerts.ts';

const metrics = new Map(declaredMetrics().map((each) => [each.name, each]));
const PARTS = /_(bucket|sum|count)$/;

/** Names of metrics in text. */
const namesIn = (text: string): readonly string[] => text.match(/\b(karpenter|nodewright|operator)_[a-z_]+/g) ?? [];

const isDeclared = (name: string): boolean =>
  metrics.has(name) || metrics.get(name.replace(PARTS, ''))?.type === 'histogram';

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly expr: string }[] }[];
}

it('alerts on metrics that are declared', () => {
  const expressions = (prometheusAlerts() as Rules).groups.flatMap(({ rules }) => rules.map(({ expr }) => expr));
  expect(expressions.length).toBeGreaterThan(5);
  expect(expressions.flatMap(namesIn).filter((name) => !isDeclared(name))).toEqual([]);
  expect(expressions.filter((each) => namesIn(each).length === 0)).toEqual([]);
});

it('groups alerts by labels that the metrics have', () => {
  const expressions = (prometheusAlerts() as Rules).groups.flatMap(({ rules }) => rules.map(({ expr }) => expr));
  const missing = expressions.flatMap((expr) => {
    const grouped = [...expr.matchAll(/by \(([a-z_, ]+)\)/g)].flatMap(([, labels = '']) => labels.split(', '));
    const matched = [...expr.matchAll(/([a-z_]+)="/g)].map(([, label = '']) => label);
    const labels = new Set(namesIn(expr).flatMap((name) => metrics.get(name.replace(PARTS, ''))?.labels ?? []));
    for (const name of namesIn(expr)) for (const label of metrics.get(name)?.labels ?? []) labels.add(label);
    return [...grouped, ...matched].filter((label) => label !== 'le' && !labels.has(label));
  });
  expect(missing).toEqual([]);
});

it('has a panel for every metric of Karpenter and of our own', () => {
  const shown = new Set(namesIn(JSON.stringify(grafanaDashboard([...metrics.values()]))));
  const absent = [...metrics.values()].filter(
    ({ name, type }) => !name.startsWith('operator_') && !shown.has(type === 'histogram' ? `${name}_bucket` : name),
  );
  expect(absent).toEqual([]);
});

it('is what the files in docs/monitoring hold', () => {
  const file = join('docs', 'monitoring', 'grafana-dashboard.json');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(grafanaDashboard([...metrics.values()]));
});
