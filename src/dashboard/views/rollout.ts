/** Progress of drift per pool, and when budgets allow disruption. */
import { NodeClaimConditions } from '../../api/conditionTypes.ts';
import { findCondition } from '../../api/conditions.ts';
import { calendarOf } from '../../disruption/calendar.ts';
import type { DriftRecord } from '../../ledger/disruptionRecord.ts';
import { keptText } from '../../ledger/keptText.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Frame } from '../feed.ts';
import type { RolloutScreen } from '../screens.ts';
import { rowOf } from './decisions.ts';

const WEEK = 7 * 24 * 3_600_000;
const MOST_NODES = 500;
const MOST_EXPIRIES = 200;
const MOST_PERIODS = 300;
const SHOWN_WAVES = 30;

export function rolloutScreen({ time, picture }: Frame, ledger: Ledger): RolloutScreen {
  const { views, pools } = picture;
  const drift = new Map<string, DriftRecord>();
  for (const entry of ledger.entries()) if (entry.kind === 'drift') drift.set(entry.nodePool, entry);
  const nodes = views.flatMap(({ claim, name, nodePool = '' }) => {
    const drifted = claim && findCondition(claim, NodeClaimConditions.drifted);
    return drifted?.status === 'True' ? [{ node: name, pool: nodePool, reason: drifted.reason ?? '' }] : [];
  });
  const calendar = calendarOf({
    pools: [...pools.values()].map(({ pool }) => pool),
    views,
    from: time,
    until: time + WEEK,
  });
  return {
    time,
    until: time + WEEK,
    pools: calendar.pools.map(({ pool, periods }) => {
      const own = views.filter((view) => view.nodePool === pool);
      const drifted = nodes.filter((node) => node.pool === pool).length;
      const record = drifted === 0 ? undefined : drift.get(pool);
      return {
        pool,
        nodes: own.length,
        drifted,
        underWay: record?.underWay ?? 0,
        allowed: periods[0]?.allowed.Drifted ?? null,
        ...(record?.blocker && {
          blocker: keptText({ nodePool: pool, cause: record.blocker.cause }),
          blockedNodes: record.blocker.nodes,
        }),
        ...(record?.expectedEnd !== undefined && { expectedEnd: record.expectedEnd }),
        periods: periods.slice(0, MOST_PERIODS).map(({ from, until, allowed }) => ({
          from,
          until,
          drifted: allowed.Drifted,
          underutilized: allowed.Underutilized,
        })),
      };
    }),
    nodes: nodes.slice(0, MOST_NODES),
    expiries: calendar.expiries
      .slice(0, MOST_EXPIRIES)
      .map(({ nodeClaim, nodePool, at }) => ({ nodeClaim, pool: nodePool, at })),
    waves: ledger
      .entries()
      .filter(
        (entry) =>
          entry.kind === 'drift' || entry.kind === 'images' || ('reason' in entry && entry.reason === 'Drifted'),
      )
      .slice(-SHOWN_WAVES)
      .reverse()
      .map(rowOf),
  };
}
