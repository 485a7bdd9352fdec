import { countText } from './countText.ts';
import type {
  DisruptionEndRecord,
  DisruptionRecord,
  DriftRecord,
  KeptRecord,
  SavingsRecord,
} from './disruptionRecord.ts';
import { keptText } from './keptText.ts';

/** A decision about existing nodes in one line. */
export function disruptionRecordText(
  record: DisruptionRecord | DisruptionEndRecord | KeptRecord | SavingsRecord | DriftRecord,
): string {
  switch (record.kind) {
    case 'disruption':
      return startText(record);
    case 'disruption-end':
      return record.outcome === 'done'
        ? `${some(record.nodes, record.nodes.length)} deleted: ${record.reason}`
        : `${some(record.nodes, record.nodes.length)} kept: ${record.problem ?? record.reason}`;
    case 'kept':
      return `node ${record.node ?? record.nodeClaim ?? ''} kept: ${keptText(record)}`;
    case 'savings':
      return savingsText(record);
    case 'drift':
      return driftText(record);
  }
}

function savingsText({ pricePerHour, savingsPerHour, pools }: SavingsRecord): string {
  const held = pools.flatMap(({ pool, blockers }) =>
    blockers.map(
      ({ cause, nodes, savingsPerHour: own }) =>
        `$${own.toFixed(4)} on ${countText(nodes, 'node')} of ${pool} by ${cause}`,
    ),
  );
  const rest = held.length === 0 ? '' : `: ${some(held, held.length)}`;
  return `nodes cost $${pricePerHour.toFixed(4)} per hour, of which $${savingsPerHour.toFixed(4)} could be saved${rest}`;
}

function driftText({ nodePool, drifted, underWay, allowed, blocker, expectedEnd }: DriftRecord): string {
  const progress = `NodePool ${nodePool}: ${countText(drifted, 'drifted node')}, ${underWay} being removed, ${allowed} allowed at once`;
  const held =
    blocker === undefined ? '' : `; ${blocker.nodes} blocked by: ${keptText({ nodePool, cause: blocker.cause })}`;
  const end = expectedEnd === undefined ? '' : `; expected to be done by ${new Date(expectedEnd).toISOString()}`;
  return progress + held + end;
}

function startText(record: DisruptionRecord): string {
  const { nodes, nodeCount, replacements, replacementCount, savingsPerHour, pods, reason } = record;
  const names = nodes.map(({ node = '', instanceType }) => (instanceType ? `${node} (${instanceType})` : node));
  const bought = replacements.map(({ nodePool, instanceType }) => instanceType ?? `a node of ${nodePool}`);
  const instead = replacementCount === 0 ? '' : ` by ${some(bought, replacementCount)}`;
  const saving = savingsPerHour === 0 ? '' : `, saves $${savingsPerHour.toFixed(4)} per hour`;
  const moving = pods.count === 0 ? '' : `, ${pods.count} pod${pods.count === 1 ? '' : 's'} move`;
  return `${reason}: ${replacementCount === 0 ? 'removes' : 'replaces'} ${some(names, nodeCount)}${instead}${moving}${saving}`;
}

const SHOWN = 3;

function some(names: readonly string[], count: number): string {
  const shown = names.slice(0, SHOWN);
  const more = count - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} other(s)` : shown.join(', ');
}
