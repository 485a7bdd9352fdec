import type { SavingsScreen } from '../../screens.ts';
import { ageOf, clockOf, dollars, perHour, perMonth } from '../format.ts';
import { Empty, Panel, Stat, Stats, Waiting } from '../parts/basics.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { NodeLink } from '../router.tsx';
import { useScreen } from '../store.ts';

type Blocker = SavingsScreen['blockers'][number];
type Kept = SavingsScreen['kept'][number];

const BLOCKERS: readonly Column<Blocker>[] = [
  { title: 'Blocker', cell: ({ cause }) => <span class="tag">{cause}</span>, key: ({ cause }) => cause },
  { title: 'What it means', cell: ({ meaning }) => <span title={meaning}>{meaning}</span>, class: 'long-text' },
  { title: 'Pool', cell: ({ pool }) => pool, key: ({ pool }) => pool },
  { title: 'Nodes', cell: ({ nodes }) => nodes, key: ({ nodes }) => nodes, class: 'number' },
  { title: 'For example', cell: ({ example }) => <NodeLink name={example} /> },
  {
    title: 'Held',
    cell: ({ savingsPerHour }) => perHour(savingsPerHour),
    key: ({ savingsPerHour }) => savingsPerHour,
    class: 'number',
  },
];

const keptColumns = (now: number): readonly Column<Kept>[] => [
  { title: 'Node', cell: ({ node }) => <NodeLink name={node} />, key: ({ node }) => node },
  { title: 'Kept because', cell: ({ sentence }) => <span title={sentence}>{sentence}</span>, class: 'long-text' },
  { title: 'For', cell: ({ since }) => ageOf(now - since), key: ({ since }) => -since, class: 'number' },
  { title: '$/h', cell: ({ price }) => dollars(price, 3), key: ({ price }) => price, class: 'number' },
];

export function Savings() {
  const { data, problem } = useScreen<SavingsScreen>('savings');
  if (data === undefined) return <Waiting problem={problem} />;
  const { pricePerHour, leastPricePerHour, savingsPerHour, savedPerHour, asOf } = data;
  return (
    <>
      <Stats>
        <Stat name="Nodes of pools cost" value={perHour(pricePerHour)} detail={perMonth(pricePerHour * 730)} />
        <Stat
          name="Their pods cost at the least"
          value={asOf === undefined ? '–' : perHour(leastPricePerHour)}
          detail="lower bound"
        />
        <Stat
          name="Gap"
          value={asOf === undefined ? '–' : perHour(savingsPerHour)}
          detail={perMonth(savingsPerHour * 730)}
        />
        <Stat name="Saved so far" value={perHour(savedPerHour)} detail={perMonth(savedPerHour * 730)} />
      </Stats>
      <Panel
        title="What holds savings"
        aside={asOf !== undefined && <span class="muted">as of {clockOf(asOf)} UTC</span>}
      >
        {data.blockers.length === 0 ? (
          <Empty>{asOf === undefined ? 'No pass has looked at the nodes yet.' : 'Nothing can be saved now.'}</Empty>
        ) : (
          <Table
            label="What holds savings"
            rows={data.blockers}
            columns={BLOCKERS}
            id={({ pool, cause }) => `${pool} ${cause}`}
          />
        )}
      </Panel>
      <Panel title="Nodes that are kept, and why">
        {data.kept.length === 0 ? (
          <Empty>The ledger tells of none.</Empty>
        ) : (
          <Table label="Kept nodes" rows={data.kept} columns={keptColumns(data.time)} id={({ node }) => node} />
        )}
      </Panel>
    </>
  );
}
