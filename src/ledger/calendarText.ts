/** Tables of when and how many nodes may be disrupted. All times are UTC, like those of budgets. */
import type { Calendar } from '../disruption/calendar.ts';
import { tableLines } from './tableLines.ts';

/** Most expiries listed. */
const NAMED = 50;

export function calendarText({ pools, expiries, omitted }: Calendar): string {
  const periods = pools.flatMap(({ pool, periods: own }) =>
    own.map(({ from, until, allowed: { Empty, Underutilized, Drifted } }) => [
      pool,
      minuteOf(from),
      minuteOf(until),
      ...[Empty, Underutilized, Drifted].map((nodes) => (nodes === null ? 'any' : String(nodes))),
    ]),
  );
  const lines =
    periods.length === 0
      ? ['There are no NodePools.']
      : tableLines(['NODEPOOL', 'FROM (UTC)', 'UNTIL', 'EMPTY', 'UNDERUTILIZED', 'DRIFTED'], periods);
  const named = expiries.slice(0, NAMED).map(({ nodeClaim, nodePool, at }) => [minuteOf(at), nodePool, nodeClaim]);
  const more = expiries.length - named.length;
  return [
    ...lines,
    ...(named.length > 0 ? ['', ...tableLines(['EXPIRES (UTC)', 'NODEPOOL', 'NODECLAIM'], named)] : []),
    ...(more > 0 ? [`and ${more} more`] : []),
    ...(omitted > 0 ? [`incomplete: there are too many periods or expiries (${omitted} left out)`] : []),
    '',
  ].join('\n');
}

const minuteOf = (moment: number): string => new Date(moment).toISOString().slice(0, 16).replace('T', ' ');
