/** A plan as text, suitable for a pull request. */
import { choiceText } from '../ledger/choiceText.ts';
import { countText } from '../ledger/countText.ts';
import {
  fixText,
  GAP_TITLE,
  gapPartText,
  otherText,
  planSummaryText,
  relaxationText,
  unplacedText,
} from '../ledger/planText.ts';
import type { PlanReport, PlannedNodeReport, UnschedulableReport } from './planReport.ts';

const SHOWN_WORKLOADS = 6;

export function planTable(report: PlanReport, explain: boolean): string {
  const lines = [headline(report), ''];
  if (report.nodes.length > 0) lines.push(...nodeTable(report.nodes), '');
  if (report.unschedulable.length > 0) lines.push(...unschedulableLines(report.unschedulable), '');
  if (explain) lines.push(...explanation(report));
  return `${lines.join('\n').trimEnd()}\n`;
}

function headline({ nodes, unschedulable, costPerHour, lowerBoundPerHour }: PlanReport): string {
  const pods = nodes.reduce((sum, node) => sum + node.pods.length, 0);
  return planSummaryText({
    pods,
    nodes: nodes.length,
    unschedulable: unschedulable.length,
    costPerHour,
    lowerBoundPerHour,
  });
}

function nodeTable(nodes: readonly PlannedNodeReport[]): string[] {
  const groups = groupBy(nodes, ({ nodePool, instanceType, zone, capacityType }) =>
    [instanceType, zone, capacityType, nodePool].join('\n'),
  );
  const rows = [...groups.values()].map((group) => {
    const [first] = group as [PlannedNodeReport];
    const pods = group.flatMap((node) => node.pods);
    return [
      String(group.length),
      first.instanceType,
      first.zone === '0' ? 'regional' : first.zone,
      first.capacityType,
      first.nodePool,
      (first.pricePerHour * group.length).toFixed(4),
      String(pods.length),
      workloadsOf(pods),
    ];
  });
  return columns(['NODES', 'INSTANCE TYPE', 'ZONE', 'CAPACITY', 'NODEPOOL', '$/HOUR', 'PODS', 'OF'], rows, [0, 5, 6]);
}

/** `default/web ×12, default/api ×3`. */
function workloadsOf(pods: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const pod of pods) {
    const workload = pod.replace(/-\d+$/, '');
    counts.set(workload, (counts.get(workload) ?? 0) + 1);
  }
  const sorted = [...counts].sort((left, right) => right[1] - left[1] || (left[0] < right[0] ? -1 : 1));
  const shown = sorted.slice(0, SHOWN_WORKLOADS).map(([name, times]) => (times === 1 ? name : `${name} ×${times}`));
  const more = sorted.length - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

function unschedulableLines(unschedulable: readonly UnschedulableReport[]): string[] {
  const groups = groupBy(unschedulable, ({ pod, reasons, smallestFix }) =>
    [pod.replace(/-\d+$/, ''), ...reasons, smallestFix ?? ''].join('\n'),
  );
  return [
    `${unplacedText(unschedulable.length)}:`,
    ...[...groups.values()].flatMap((group) => {
      const [first] = group as [UnschedulableReport];
      const name =
        group.length === 1 ? first.pod : `${first.pod.replace(/-\d+$/, '')} (${countText(group.length, 'pod')})`;
      const fix = first.smallestFix === null ? [] : [`    ${fixText(first.smallestFix)}`];
      return [`  ${name}`, ...first.reasons.map((reason) => `    ${reason}`), ...fix];
    }),
  ];
}

function explanation({ nodes, gap, relaxation }: PlanReport): string[] {
  const lines = nodes.flatMap((node, index) => {
    const { why } = node;
    return [
      `Node ${index + 1}: ${node.instanceType}, ${workloadsOf(node.pods)}`,
      `  ${choiceText({ boundBy: why?.boundBy ?? undefined, boundByResource: why?.boundByResource ?? undefined })}`,
      ...(why?.others ?? []).map((other) => `  ${otherText(other)}`),
    ];
  });
  const parts = gap.map(({ cause, pricePerHour }) => `  ${gapPartText(cause, pricePerHour)}`);
  return [
    ...lines,
    ...(parts.length === 0 ? [] : ['', GAP_TITLE, ...parts]),
    ...(relaxation === undefined ? [] : ['', relaxationText(relaxation)]),
  ];
}

/** In order of first appearance. */
function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

function columns(head: readonly string[], rows: readonly (readonly string[])[], right: readonly number[]): string[] {
  const all = [head, ...rows];
  const widths = head.map((_, index) => Math.max(...all.map((row) => row[index]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((cell, index) =>
        right.includes(index) ? cell.padStart(widths[index] ?? 0) : cell.padEnd(widths[index] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
}
