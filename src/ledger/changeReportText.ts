import type { ChangeReport, QuotaShare } from './changeReport.ts';
import { countText, groupedText } from './countText.ts';

const NAMED = 5;

/** A change as Markdown for a pull request. */
export function changeReportText(report: ChangeReport): string {
  const { before, after, drifting, steps, quotas, evictions, unplaced, held, complete } = report;
  const lines = [
    '## What this change does',
    '',
    '|  | nodes | $/h | $/month |',
    '| --- | --- | --- | --- |',
    billRow('before', before),
    billRow('after', after),
    '',
    `${countText(drifting.length, 'node')} drift${drifting.length === 1 ? 's' : ''}, ${countText(evictions, 'pod')} move${evictions === 1 ? 's' : ''}, in ${countText(steps.length, 'step')}.`,
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
      '| minute | reason | nodes removed | replacements | pods moved |',
      '| --- | --- | --- | --- | --- |',
    );
    for (const { minute, reason, nodes, replacements, evictions: pods } of steps) {
      const come = replacements.map(
        ({ instanceType, zone, capacityType }) => `${instanceType} ${zone} ${capacityType}`,
      );
      lines.push(`| ${minute} | ${reason} | ${named(nodes)} | ${named(come)} | ${pods} |`);
    }
  }
  lines.push(...quotaLines(quotas));
  if (held.length > 0)
    lines.push(
      '',
      'Drifted nodes that are not replaced:',
      '',
      ...held.map(({ node, sentence }) => `- ${node}: ${sentence}`),
    );
  if (unplaced.length > 0) {
    lines.push(
      '',
      'Pods without a place:',
      '',
      ...unplaced.slice(0, NAMED).map(({ pod, reason }) => `- ${pod}: ${reason}`),
      ...moreOf(unplaced.length),
    );
  }
  if (!complete) lines.push('', 'The rollout takes more steps than were simulated.');
  return `${lines.join('\n')}\n`;
}

function quotaLines(quotas: readonly QuotaShare[]): readonly string[] {
  if (quotas.length === 0) return [];
  const row = ({ quota, before, peak, after, used, limit }: QuotaShare): string =>
    `| ${quota} | ${before} | ${peak} | ${after} | ${limit === undefined ? 'not asked' : `${used ?? 0} of ${limit}`} |`;
  return [
    '',
    '| quota, vCPUs | before | most at one time | after | used now |',
    '| --- | --- | --- | --- | --- |',
    ...quotas.map(row),
    ...quotas.flatMap((share) => {
      const missing = missingOf(share);
      if (missing === 0) return [];
      return [
        '',
        `The quota ${share.quota} is short by ${countText(missing, 'vCPU')}: Azure will refuse nodes during the change.`,
      ];
    }),
  ];
}

/** By how many vCPUs the quota is too small. */
function missingOf({ before, peak, used = 0, limit }: QuotaShare): number {
  return limit === undefined || peak <= before ? 0 : Math.max(0, used - before + peak - limit);
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
  return Number.isFinite(percent)
    ? `the cluster costs ${percent.toFixed(1)} % more, which is above ${limit} %`
    : `the cluster costs nothing before and something after, which is above ${limit} %`;
}

export const quotaUnknownText = (problem: string): string => `Azure did not report its quota usage: ${problem}`;
