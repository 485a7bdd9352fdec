import { Kinds, type Node } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import type { BudgetComplaint } from '../../disruption/budgets.ts';
import type { Command } from '../../disruption/command.ts';
import type { Kept } from '../../disruption/kept.ts';
import type { Notice } from '../../ledger/notice.ts';
import { decisionOf } from '../../disruption/command.ts';
import type { Notices } from '../world/notices.ts';

const QUARTER_HOUR = 15 * 60_000;
const MINUTE = 60_000;

/** Both halves of a node, as far as they are there. */
interface Halves {
  readonly node?: Node | undefined;
  readonly claim?: NodeClaim | undefined;
}

export function blocked(events: Notices, halves: Halves, kept: Kept): void {
  publish(events, halves, { kind: 'disruption-blocked', kept }, [kept.cause.kind]);
}

export function unconsolidatable(events: Notices, halves: Halves, kept: Kept): void {
  publish(events, halves, { kind: 'unconsolidatable', kept }, [kept.cause.kind], QUARTER_HOUR);
}

export function consolidationCandidate(events: Notices, command: Command): void {
  const { savingsPerHour } = command;
  for (const { view } of command.candidates) {
    const text = commandText(command, view.name);
    publish(events, view, { kind: 'consolidation-candidate', command: text, savingsPerHour }, [text]);
  }
}

export function consolidationRejected(events: Notices, command: Command, reason: string): void {
  const { savingsPerHour } = command;
  for (const { view } of command.candidates) {
    const text = commandText(command, view.name);
    const notice = { kind: 'consolidation-rejected', command: text, reason, savingsPerHour } as const;
    publish(events, view, notice, [text, reason]);
  }
}

export function budgetBlocked(events: Notices, pool: NodePool, reason: string): void {
  events.publish({
    object: pool,
    kind: Kinds.NodePool,
    notice: { kind: 'budget-blocked', reason },
    dedupeValues: [pool.metadata.uid ?? pool.metadata.name, reason],
    dedupeWindow: MINUTE,
  });
}

export function budgetUnreadable(events: Notices, pool: NodePool, { index, field, value }: BudgetComplaint): void {
  events.publish({
    object: pool,
    kind: Kinds.NodePool,
    notice: { kind: 'budget-unreadable', index, field, value },
    dedupeValues: [pool.metadata.uid ?? pool.metadata.name, String(index), field, value],
  });
}

/** From the view of one of its nodes, as Karpenter writes it. */
function commandText(command: Command, node: string): string {
  const { candidates, replacements } = command;
  if (candidates.length > 1)
    return `${decisionOf(command)}: [${node}] (part of ${candidates.length}-node consolidation)`;
  const instead = replacements.length === 1 ? '1 replacement' : `${replacements.length} replacements`;
  return `${decisionOf(command)}: [${node}]${replacements.length > 0 ? ` -> [${instead}]` : ''}`;
}

function publish(
  events: Notices,
  { node, claim }: Halves,
  notice: Notice,
  values: readonly string[] = [],
  dedupeWindow?: number,
): void {
  const halves = [
    ...(node ? [{ object: node, kind: Kinds.Node }] : []),
    ...(claim ? [{ object: claim, kind: Kinds.NodeClaim }] : []),
  ];
  for (const { object, kind } of halves) {
    events.publish({
      object,
      kind,
      notice,
      dedupeValues: [object.metadata.uid ?? object.metadata.name, ...values],
      ...(dedupeWindow !== undefined && { dedupeWindow }),
    });
  }
}
