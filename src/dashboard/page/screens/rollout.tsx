import type { CalendarPeriod, RolloutScreen } from '../../screens.ts';
import { counted, dayAndClock, percent, weekdayOf } from '../format.ts';
import { Bar, DecisionList, Empty, Panel, Waiting } from '../parts/basics.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { NodeLink } from '../router.tsx';
import { useScreen } from '../store.ts';

const NODES: readonly Column<RolloutScreen['nodes'][number]>[] = [
  { title: 'Node', cell: ({ node }) => <NodeLink name={node} />, key: ({ node }) => node },
  { title: 'Pool', cell: ({ pool }) => pool, key: ({ pool }) => pool },
  { title: 'Drifted because', cell: ({ reason }) => reason, key: ({ reason }) => reason },
];
const EXPIRIES: readonly Column<RolloutScreen['expiries'][number]>[] = [
  { title: 'NodeClaim', cell: ({ nodeClaim }) => nodeClaim },
  { title: 'Pool', cell: ({ pool }) => pool },
  { title: 'Expires', cell: ({ at }) => dayAndClock(at), key: ({ at }) => at, class: 'number' },
];

export function Rollout() {
  const { data, problem } = useScreen<RolloutScreen>('rollout');
  if (data === undefined) return <Waiting problem={problem} />;
  return (
    <>
      {data.pools.length === 0 && <Empty>There is no NodePool.</Empty>}
      {data.pools.map((pool) => (
        <Panel
          key={pool.pool}
          title={`NodePool ${pool.pool}`}
          aside={<span class="muted">{counted(pool.nodes, 'node')}</span>}
        >
          {pool.nodes === 0 ? (
            <Empty>It has no node.</Empty>
          ) : (
            <>
              <Progress {...pool} />
              <Calendar periods={pool.periods} from={data.time} until={data.until} />
            </>
          )}
        </Panel>
      ))}
      <div class="columns">
        <Panel title="Nodes that have drifted">
          {data.nodes.length === 0 ? (
            <Empty>Every node is as its pool and class want it.</Empty>
          ) : (
            <Table label="Drifted nodes" rows={data.nodes} columns={NODES} id={({ node }) => node} />
          )}
        </Panel>
        <div class="stack">
          <Panel title="What was done">
            <DecisionList decisions={data.waves} />
          </Panel>
          <Panel title="Expiring within a week">
            {data.expiries.length === 0 ? (
              <Empty>None.</Empty>
            ) : (
              <Table label="Expiries" rows={data.expiries} columns={EXPIRIES} id={({ nodeClaim }) => nodeClaim} />
            )}
          </Panel>
        </div>
      </div>
    </>
  );
}

function Progress(pool: RolloutScreen['pools'][number]) {
  const { nodes, drifted, underWay, allowed, blocker, blockedNodes = 0, expectedEnd } = pool;
  const atOnce = allowed === null ? 'any number' : counted(allowed, 'node');
  if (drifted === 0) return <p class="muted">No node has drifted. At once, {atOnce} may be replaced.</p>;
  return (
    <>
      <p>
        <Bar share={nodes === 0 ? 0 : 1 - drifted / nodes} label="up to date" /> {counted(drifted, 'node')} of {nodes}{' '}
        {drifted === 1 ? 'has' : 'have'} drifted, {underWay} being removed, {atOnce} at once.
        {expectedEnd !== undefined && ` Expected to be done by ${dayAndClock(expectedEnd)} UTC.`}
      </p>
      {blocker !== undefined && (
        <p class="reason">
          <span class="tag">held: {blockedNodes}</span> {blocker}
        </p>
      )}
    </>
  );
}

const DAY = 24 * 60 * 60_000;

/** Midnights in UTC, except one so near the end that its label would not fit. */
function midnights(from: number, until: number): readonly number[] {
  const first = Math.ceil(from / DAY) * DAY;
  const days = Math.floor((until - DAY / 2 - first) / DAY) + 1;
  return Array.from({ length: Math.max(0, days) }, (_, at) => first + at * DAY);
}

/** A week as a strip: dark where budgets allow disruption. */
function Calendar(props: {
  readonly periods: readonly CalendarPeriod[];
  readonly from: number;
  readonly until: number;
}) {
  const { periods, from, until } = props;
  const open = periods.filter(({ drifted }) => drifted !== 0);
  const share = open.reduce((sum, period) => sum + period.until - period.from, 0) / (until - from);
  const [next] = open;
  const said =
    next === undefined
      ? 'Budgets allow no drifted node to be removed in the next seven days'
      : `Drifted nodes may go ${next.from <= from ? 'now' : `from ${dayAndClock(next.from)} UTC`}, and during ${percent(share)} of the next seven days`;
  return (
    <div class="calendar" role="img" aria-label={said}>
      <div class="calendar-strip">
        {periods.map((period) => (
          <span
            key={period.from}
            class={period.drifted === 0 ? 'closed' : 'open'}
            style={{ flexGrow: period.until - period.from }}
            title={`${dayAndClock(period.from)} – ${dayAndClock(period.until)}: ${period.drifted ?? 'any'}`}
          />
        ))}
      </div>
      <div class="calendar-days" aria-hidden="true">
        {midnights(from, until).map((at) => (
          <span key={at} style={{ left: `${((at - from) / (until - from)) * 100}%` }}>
            {weekdayOf(at)}
          </span>
        ))}
      </div>
      <p class="muted">{said}.</p>
    </div>
  );
}
