import type { DisruptionEndRecord, DisruptionRecord, KeptRecord } from './disruptionRecord.ts';
import { keptText } from './keptText.ts';

/** A decision about nodes that are there already, in one line. */
export function disruptionRecordText(record: DisruptionRecord | DisruptionEndRecord | KeptRecord): string {
  switch (record.kind) {
    case 'disruption':
      return startText(record);
    case 'disruption-end':
      return record.outcome === 'done'
        ? `${some(record.nodes, record.nodes.length)} deleted: ${record.reason}`
        : `${some(record.nodes, record.nodes.length)} kept after all: ${record.problem ?? record.reason}`;
    case 'kept':
      return `node ${record.node ?? record.nodeClaim ?? ''} kept: ${keptText(record)}`;
  }
}

function startText(record: DisruptionRecord): string {
  const { nodes, nodeCount, replacements, replacementCount, savingsPerHour, pods, reason } = record;
  const names = nodes.map(({ node = '', instanceType }) => (instanceType ? `${node} (${instanceType})` : node));
  const bought = replacements.map(({ nodePool, instanceType }) => instanceType ?? `a node of ${nodePool}`);
  const instead = replacementCount === 0 ? '' : ` for ${some(bought, replacementCount)}`;
  const saving = savingsPerHour === 0 ? '' : `, saves $${savingsPerHour.toFixed(4)} per hour`;
  const moving = pods.count === 0 ? '' : `, ${pods.count} pod${pods.count === 1 ? '' : 's'} move`;
  return `${reason}: ${some(names, nodeCount)} go${nodeCount === 1 ? 'es' : ''}${instead}${moving}${saving}`;
}

const SHOWN = 3;

function some(names: readonly string[], count: number): string {
  const shown = names.slice(0, SHOWN);
  const more = count - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} other(s)` : shown.join(', ');
}
