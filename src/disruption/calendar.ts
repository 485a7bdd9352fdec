/**
 * When nodes may be disrupted, and how many: the budgets, windows and expiries of a cluster as one timeline.
 */
import type { DisruptionReason, NodePool } from '../api/kinds/nodePool.ts';
import type { NodeView } from '../cluster/nodeView.ts';
import { Duration } from '../units/duration.ts';
import { nextChange } from '../units/schedule.ts';
import { budgetsOf, limitsOf, readBudget, REASONS, UNLIMITED_NODES } from './budgets.ts';

export interface Calendar {
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly until: number;
  /** Sorted by pool name. */
  readonly pools: readonly PoolCalendar[];
  /** Claims that expire in this time, earliest first. */
  readonly expiries: readonly Expiry[];
  /** Number of expiries and periods omitted because there are too many. */
  readonly omitted: number;
}

interface PoolCalendar {
  readonly pool: string;
  /** Consecutive, without gaps. */
  readonly periods: readonly Period[];
}

/** A time span with constant budgets. */
interface Period {
  readonly from: number;
  readonly until: number;
  /** Maximum nodes disrupted at once, by reason; null: unlimited. */
  readonly allowed: Readonly<Record<DisruptionReason, number | null>>;
}

interface Expiry {
  readonly nodeClaim: string;
  readonly nodePool: string;
  readonly at: number;
}

/** Limit on the periods of one pool, and on the expiries of all. */
const MOST_PERIODS = 1_000;
const MOST_EXPIRIES = 5_000;

interface CalendarInput {
  readonly pools: Iterable<NodePool>;
  readonly views: readonly NodeView[];
  readonly from: number;
  readonly until: number;
}

export function calendarOf({ pools, views, from, until }: CalendarInput): Calendar {
  const sorted = [...pools].sort((left, right) => (left.metadata.name < right.metadata.name ? -1 : 1));
  const budgets = budgetsOf(sorted, views, from);
  let omitted = 0;
  const calendars = sorted.map((pool): PoolCalendar => {
    const { name } = pool.metadata;
    const { periods, isCut } = periodsOf(pool, budgets.of(name)?.nodes ?? 0, from, until);
    if (isCut) omitted += 1;
    return { pool: name, periods };
  });
  const expiries = expiriesOf(views, from, until);
  omitted += Math.max(0, expiries.length - MOST_EXPIRIES);
  return { from, until, pools: calendars, expiries: expiries.slice(0, MOST_EXPIRIES), omitted };
}

function periodsOf(
  pool: NodePool,
  nodes: number,
  from: number,
  until: number,
): { readonly periods: readonly Period[]; readonly isCut: boolean } {
  const periods: Period[] = [];
  for (let at = from; at < until;) {
    if (periods.length === MOST_PERIODS) return { periods, isCut: true };
    const end = Math.min(until, nextBoundary(pool, at));
    const allowed = allowedAt(pool, nodes, at);
    const last = periods.at(-1);
    // Merge periods when an opening window changes nothing.
    if (last !== undefined && isSame(last.allowed, allowed)) periods[periods.length - 1] = { ...last, until: end };
    else periods.push({ from: at, until: end, allowed });
    at = end;
  }
  return { periods, isCut: false };
}

/** When a window of the pool next opens or closes. */
function nextBoundary({ spec }: NodePool, now: number): number {
  const changes = (spec.disruption.budgets ?? []).map((entry) => {
    const read = readBudget(entry);
    if ('field' in read || read.window === undefined) return Number.POSITIVE_INFINITY;
    return nextChange(read.window.schedule, read.window.duration, now) ?? Number.POSITIVE_INFINITY;
  });
  return Math.min(...changes, Number.POSITIVE_INFINITY);
}

function allowedAt(pool: NodePool, nodes: number, now: number): Period['allowed'] {
  const { limit } = limitsOf(pool, nodes, now);
  const of = (reason: DisruptionReason): number | null => (limit[reason] === UNLIMITED_NODES ? null : limit[reason]);
  return { Underutilized: of('Underutilized'), Empty: of('Empty'), Drifted: of('Drifted') };
}

const isSame = (left: Period['allowed'], right: Period['allowed']): boolean =>
  REASONS.every((reason) => left[reason] === right[reason]);

function expiriesOf(views: readonly NodeView[], from: number, until: number): readonly Expiry[] {
  return views
    .flatMap(({ claim, nodePool, deleting }): Expiry[] => {
      const { expireAfter = 'Never' } = claim?.spec ?? {};
      if (claim === undefined || deleting || expireAfter === 'Never') return [];
      const at = Date.parse(claim.metadata.creationTimestamp ?? '') + Duration.parse(expireAfter).milliseconds;
      if (!(at < until)) return [];
      return [{ nodeClaim: claim.metadata.name, nodePool: nodePool ?? '', at: Math.max(from, at) }];
    })
    .sort((left, right) => left.at - right.at || (left.nodeClaim < right.nodeClaim ? -1 : 1));
}
