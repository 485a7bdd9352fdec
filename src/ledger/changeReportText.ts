import type { ChangeReport } from './changeReport.ts';
import { countText, groupedText } from './countText.ts';

const NAMED = 5;

/** A change as Markdown, ready for a pull request. */
export function changeReportText(report: ChangeReport): string {
  const { before, after, drifting, steps, evictions, unplaced, held, complete } = report;
  const lines = [
    '## What this change does',
    '',
    '|  | nodes | $/h | $/month |',
    '| --- | --- | --- | --- |',
    billRow('before', before),
    billRow('after', after),
    '',
    `${countText(drifting.length, 'node')} drift, ${countText(evictions, 'pod')} move, in ${countText(steps.length, 'step')}.`,
  ];
  if (drifting.length > 0) {
    lines.push(
      '',
      ...drifting.slice(0, NAMED).map(({ node, reason }) => `- ${node}: ${reason}`),
      ...moreOf(drifting.length),
    );
  }
  if (steps.length > 0) {
    lines.push(
      '',
      '| minute | reason | nodes that go | in their place | pods that move |',
      '| --- | --- | --- | --- | --- |',
    );
    for (const { minute, reason, nodes, replacements, evictions: pods } of steps) {
      const come = replacements.map(
        ({ instanceType, zone, capacityType }) => `${instanceType} ${zone} ${capacityType}`,
      );
      lines.push(`| ${minute} | ${reason} | ${named(nodes)} | ${named(come)} | ${pods} |`);
    }
  }
  if (held.length > 0)
    lines.push('', 'Nodes that drift and stay:', '', ...held.map(({ node, sentence }) => `- ${node}: ${sentence}`));
  if (unplaced.length > 0) {
    lines.push(
      '',
      'Pods without a place:',
      '',
      ...unplaced.slice(0, NAMED).map(({ pod, reason }) => `- ${pod}: ${reason}`),
      ...moreOf(unplaced.length),
    );
  }
  if (!complete) lines.push('', 'The rollout takes more steps than were played.');
  return `${lines.join('\n')}\n`;
}

function billRow(name: string, { nodes, pricePerHour, pricePerMonth }: ChangeReport['before']): string {
  return `| ${name} | ${nodes} | $${pricePerHour.toFixed(4)} | $${groupedText(Math.round(pricePerMonth))} |`;
}

const moreOf = (count: number): readonly string[] => (count > NAMED ? [`- and ${count - NAMED} more`] : []);

function named(names: readonly string[]): string {
  const more = names.length - NAMED;
  return `${names.slice(0, NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

export function costIncreaseText(percent: number, limit: number): string {
  return `the cluster costs ${percent.toFixed(1)} % more, which is above ${limit} %`;
}
