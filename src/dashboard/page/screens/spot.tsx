import type { SpotScreen } from '../../screens.ts';
import { dollars, grouped, percent, perHour, perMonth, shortType } from '../format.ts';
import { DecisionList, Empty, Panel, Stat, Stats, Waiting } from '../parts/basics.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { NodeLink } from '../router.tsx';
import { useScreen } from '../store.ts';

const GROUPS: readonly Column<SpotScreen['groups'][number]>[] = [
  { title: 'Type', cell: ({ instanceType }) => shortType(instanceType), key: ({ instanceType }) => instanceType },
  { title: 'Zone', cell: ({ zone }) => zone, key: ({ zone }) => zone },
  { title: 'Nodes', cell: ({ nodes }) => nodes, key: ({ nodes }) => nodes, class: 'number' },
  { title: 'Spot', cell: ({ price }) => `${dollars(price, 4)}/h`, key: ({ price }) => price, class: 'number' },
  { title: 'On demand', cell: ({ onDemandPrice }) => `${dollars(onDemandPrice, 4)}/h`, class: 'number' },
  {
    title: 'Cheaper by',
    cell: ({ price, onDemandPrice }) => (onDemandPrice === 0 ? '–' : percent(1 - price / onDemandPrice)),
    class: 'number',
  },
  { title: 'Can be had', cell: ({ isOffered }) => (isOffered ? 'yes' : 'not now') },
];

export function Spot() {
  const { data, problem } = useScreen<SpotScreen>('spot');
  if (data === undefined) return <Waiting problem={problem} />;
  const saving = Math.max(0, data.onDemandPerHour - data.spotPerHour);
  return (
    <>
      <Stats>
        <Stat name="Spot nodes" value={grouped(data.spotNodes)} detail={`${percent(data.shareOfNodes)} of all nodes`} />
        <Stat name="They cost" value={perHour(data.spotPerHour)} detail={`${percent(data.shareOfBill)} of the bill`} />
        <Stat name="On demand they would cost" value={perHour(data.onDemandPerHour)} />
        <Stat name="Spot saves" value={perHour(saving)} detail={perMonth(saving * 730)} />
        <Stat name="Taken back now" value={grouped(data.leaving.length)} detail="notices of eviction" />
      </Stats>
      <Panel title="Where they are">
        {data.groups.length === 0 ? (
          <Empty>
            There is no spot node. A NodePool whose <code>karpenter.sh/capacity-type</code> has <code>spot</code> gets
            some.
          </Empty>
        ) : (
          <Table
            label="Spot nodes"
            rows={data.groups}
            columns={GROUPS}
            id={({ instanceType, zone }) => `${instanceType} ${zone}`}
          />
        )}
      </Panel>
      <div class="columns">
        <Panel title="Notices of eviction">
          {data.leaving.length === 0 ? (
            <Empty>None.</Empty>
          ) : (
            <ul class="lines">
              {data.leaving.map(({ node, reason }) => (
                <li key={node}>
                  <NodeLink name={node} /> <span class="muted">{reason}</span>
                </li>
              ))}
            </ul>
          )}
        </Panel>
        <Panel title="Spot that could not be had">
          {data.failures.length === 0 ? <Empty>None.</Empty> : <DecisionList decisions={data.failures} />}
        </Panel>
      </div>
    </>
  );
}
