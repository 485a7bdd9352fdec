import type { ChurnScreen } from '../../screens.ts';
import { clockOf, counted, grouped } from '../format.ts';
import { Bar, Empty, Panel, Stat, Stats, Waiting } from '../parts/basics.tsx';
import { Chart } from '../parts/chart.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { useScreen } from '../store.ts';

const REASONS: readonly Column<ChurnScreen['reasons'][number]>[] = [
  { title: 'Reason', cell: ({ reason }) => reason },
  { title: 'Commands', cell: ({ commands }) => commands, class: 'number' },
  { title: 'Nodes', cell: ({ nodes }) => nodes, class: 'number' },
  { title: 'Pods moved', cell: ({ pods }) => pods, class: 'number' },
];

const SHORT: readonly Column<ChurnScreen['shortLives'][number]>[] = [
  { title: 'NodeClaim', cell: ({ nodeClaim }) => nodeClaim },
  { title: 'Pool', cell: ({ pool }) => pool },
  { title: 'Lived', cell: ({ minutes }) => `${minutes}m`, key: ({ minutes }) => minutes, class: 'number' },
  { title: 'Removed as', cell: ({ reason }) => reason },
];

export function Churn() {
  const { data, problem } = useScreen<ChurnScreen>('churn');
  if (data === undefined) return <Waiting problem={problem} />;
  const all = data.lifetimes.reduce((sum, { nodes }) => sum + nodes, 0);
  return (
    <>
      <Stats>
        <Stat name="Launches" value={grouped(data.launches)} detail={`since ${clockOf(data.since)} UTC`} />
        <Stat name="Nodes removed" value={grouped(data.removals)} detail="by the controller" />
        <Stat name="Pods moved" value={grouped(data.podsMoved)} detail="had to start elsewhere" />
        <Stat name="Taken back" value={grouped(data.takenBack)} detail="commands that were undone" />
        <Stat name="Short lives" value={grouped(data.shortLives.length)} detail="removed within 30 minutes" />
      </Stats>
      <Panel title="Launches and removals">
        <Chart
          label="Launches and removals"
          times={data.steps.map(({ time }) => time)}
          series={[
            { name: 'launches', colour: '--good', values: data.steps.map(({ launches }) => launches), step: true },
            { name: 'removals', colour: '--accent', values: data.steps.map(({ removals }) => removals), step: true },
          ]}
          format={grouped}
        />
      </Panel>
      <div class="columns">
        <Panel title="Why nodes were removed">
          {data.reasons.length === 0 ? (
            <Empty>No node was removed.</Empty>
          ) : (
            <Table label="Reasons" rows={data.reasons} columns={REASONS} id={({ reason }) => reason} />
          )}
        </Panel>
        <Panel title="How old nodes are">
          <ul class="lines">
            {data.lifetimes.map(({ label, nodes }) => (
              <li key={label} class="measure">
                <span>{label}</span>
                <Bar share={all === 0 ? 0 : nodes / all} label={label} />
                <span class="number">{counted(nodes, 'node')}</span>
              </li>
            ))}
          </ul>
        </Panel>
      </div>
      <Panel title="Bought and soon removed">
        {data.shortLives.length === 0 ? (
          <Empty>No node was removed within half an hour of its launch.</Empty>
        ) : (
          <Table label="Short lives" rows={data.shortLives} columns={SHORT} id={({ nodeClaim }) => nodeClaim} />
        )}
      </Panel>
    </>
  );
}
