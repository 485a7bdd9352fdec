import type { CostReport, CostRow } from './costReport.ts';
import { countText, groupedText } from './countText.ts';
import { tableLines } from './tableLines.ts';

export type CostView = 'pool' | 'namespace' | 'workload' | 'label';

const MOST_ROWS = 40;

export function costText(report: CostReport, by: readonly CostView[]): string {
  const { nodes, pods, pricePerHour, pricePerMonth, spotShare, idleShare, leastPricePerHour, gapPerHour } = report;
  const lines = [
    `${countText(nodes, 'node')}, ${countText(pods, 'pod')}: $${pricePerHour.toFixed(4)} per hour, ${month(pricePerMonth)} per month`,
    `spot ${percent(spotShare)}, idle ${percent(idleShare)}; the pods cost at least $${leastPricePerHour.toFixed(4)} per hour, so $${gapPerHour.toFixed(4)} could be saved`,
  ];
  if (report.unpricedNodes > 0) lines.push(`the price of ${countText(report.unpricedNodes, 'node')} is not known`);
  const views: Readonly<Record<CostView, readonly [string, readonly CostRow[]]>> = {
    pool: ['NODEPOOL', report.pools],
    namespace: ['NAMESPACE', report.namespaces],
    workload: ['WORKLOAD', report.workloads],
    label: [report.labels?.key ?? '', report.labels?.values ?? []],
  };
  for (const view of by) lines.push('', ...rows(...views[view]));
  const held = report.backlog.flatMap(({ pool, blockers }) =>
    blockers.map(({ cause, nodes: count, savingsPerHour, example }) => [
      pool,
      cause,
      String(count),
      `$${savingsPerHour.toFixed(4)}`,
      month(savingsPerHour * 730),
      example,
    ]),
  );
  if (held.length > 0) {
    lines.push('', ...tableLines(['NODEPOOL', 'SAVINGS BLOCKED BY', 'NODES', '$/H', '$/MONTH', 'FOR EXAMPLE'], held));
  }
  return `${lines.join('\n')}\n`;
}

function rows(title: string, all: readonly CostRow[]): readonly string[] {
  const shown = all
    .slice(0, MOST_ROWS)
    .map(({ name, nodes, pods, pricePerHour, pricePerMonth }) => [
      name,
      nodes === undefined ? '' : String(nodes),
      String(pods),
      `$${pricePerHour.toFixed(4)}`,
      month(pricePerMonth),
    ]);
  const more = all.length - MOST_ROWS;
  return [...tableLines([title, 'NODES', 'PODS', '$/H', '$/MONTH'], shown), ...(more > 0 ? [`and ${more} more`] : [])];
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;
const month = (amount: number): string => `$${groupedText(Math.round(amount))}`;
