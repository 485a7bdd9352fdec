import type { Ledger } from '../../ledger/ledger.ts';
import { healthOf, healthText, type Health } from '../../ledger/healthText.ts';
import type { ControllerState, HistoryPoint, NodeRow, NowScreen, Totals } from '../screens.ts';
import { latestDecisions } from './decisions.ts';
import { poolRowsOf } from './totals.ts';

const SHOWN_DECISIONS = 14;
/** Milliseconds for which a launch failure is shown. */
const RECENT = 10 * 60_000;

export interface NowInput {
  readonly time: number;
  readonly state: ControllerState;
  readonly title: string;
  readonly rows: readonly NodeRow[];
  readonly totals: Totals;
  /** Pods without a place in any plan. */
  readonly stuck: number;
  readonly history: readonly HistoryPoint[];
  readonly ledger: Ledger;
}

export function nowScreen({ time, state, title, rows, totals, stuck, history, ledger }: NowInput): NowScreen {
  const health: Health = healthOf({
    running: state === 'leading' || state === 'outside',
    pending: totals.pending,
    stuck,
    joining: rows.filter(({ status }) => status === 'Launching' || status === 'Starting').length,
    leaving: rows.filter(({ status }) => status === 'Deleting').length,
    lost: rows.filter(({ status }) => status === 'NotReady').length,
    failures: ledger.entries().filter((entry) => entry.kind === 'launch-failure' && entry.time > time - RECENT).length,
    heldPerHour: totals.heldPerHour,
  });
  return {
    time,
    state,
    title,
    sentence: healthText(health),
    mood: health.mood,
    totals,
    pools: poolRowsOf(rows),
    history,
    decisions: latestDecisions(ledger, SHOWN_DECISIONS),
  };
}
