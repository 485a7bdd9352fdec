import { Kinds } from '../../api/kinds.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import type { BudgetComplaint } from '../../disruption/budgets.ts';
import type { Command } from '../../disruption/command.ts';
import type { Kept } from '../../disruption/kept.ts';
import type { Notice } from '../../ledger/notice.ts';
import { commandText } from '../../ledger/commandText.ts';
import { halvesOf, type Halves } from '../world/halvesOf.ts';
import type { Notices } from '../world/notices.ts';

const QUARTER_HOUR = 15 * 60_000;
const MINUTE = 60_000;

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

/** For one node: events on its Node and claim; for several: on the pools. */
export function consolidationApproved(
  events: Notices,
  { candidates, scores = [] }: Command,
  poolOf: (name: string) => NodePool | undefined,
): void {
  for (const { pool: name, ...score } of scores) {
    const notice = { kind: 'consolidation-approved', ...score } as const;
    const pool = poolOf(name);
    const [first] = candidates;
    if (candidates.length === 1 && first) publish(events, first.view, notice);
    else if (pool) {
      const dedupeValues = [pool.metadata.uid ?? name];
      events.publish({ object: pool, kind: Kinds.NodePool, notice, dedupeValues });
    }
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

function publish(
  events: Notices,
  halves: Halves,
  notice: Notice,
  values: readonly string[] = [],
  dedupeWindow?: number,
): void {
  for (const { object, kind } of halvesOf(halves)) {
    events.publish({
      object,
      kind,
      notice,
      dedupeValues: [object.metadata.uid ?? object.metadata.name, ...values],
      ...(dedupeWindow !== undefined && { dedupeWindow }),
    });
  }
}
