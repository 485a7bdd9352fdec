import type { ControllerScreen } from '../../screens.ts';
import { grouped, tookOf } from '../format.ts';
import { Empty, Panel, Stat, Stats, Waiting } from '../parts/basics.tsx';
import { Chart } from '../parts/chart.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { useScreen } from '../store.ts';

type Loop = ControllerScreen['loops'][number];
type Call = ControllerScreen['calls'][number];

const LOOPS: readonly Column<Loop>[] = [
  { title: 'Loop', cell: ({ name }) => name, key: ({ name }) => name },
  { title: 'Runs', cell: ({ runs }) => grouped(runs), key: ({ runs }) => runs, class: 'number' },
  {
    title: 'Mean',
    cell: ({ meanMilliseconds }) => tookOf(meanMilliseconds),
    key: ({ meanMilliseconds }) => meanMilliseconds,
    class: 'number',
  },
  { title: 'Errors', cell: ({ errors }) => grouped(errors), key: ({ errors }) => errors, class: 'number' },
  { title: 'Waiting', cell: ({ waiting }) => grouped(waiting), key: ({ waiting }) => waiting, class: 'number' },
];
const CALLS: readonly Column<Call>[] = [
  { title: 'To', cell: ({ target }) => target, key: ({ target }) => target },
  { title: 'Call', cell: ({ method }) => method, key: ({ method }) => method },
  { title: 'Outcome', cell: ({ code }) => code, key: ({ code }) => code },
  { title: 'Count', cell: ({ count }) => grouped(count), key: ({ count }) => count, class: 'number' },
];

export function Controller() {
  const { data, problem } = useScreen<ControllerScreen>('controller');
  if (data === undefined) return <Waiting problem={problem} />;
  return (
    <>
      {data.figures.length === 0 ? (
        <Empty>There is no controller in this process: the cluster is read from outside.</Empty>
      ) : (
        <Stats>
          {data.figures.map((figure) => (
            <Stat key={figure.name} {...figure} />
          ))}
        </Stats>
      )}
      <Panel title="Passes of the provisioner">
        {data.passes.length === 0 ? (
          <Empty>No pass was made yet.</Empty>
        ) : (
          <Chart
            label="Time of a pass"
            times={data.passes.map(({ time }) => time)}
            series={[
              {
                name: 'last pass',
                colour: '--accent',
                values: data.passes.map(({ milliseconds }) => milliseconds),
                fill: true,
              },
            ]}
            format={tookOf}
          />
        )}
      </Panel>
      <div class="stack">
        <Panel title="Loops">
          <Table label="Loops" rows={data.loops} columns={LOOPS} id={({ name }) => name} />
        </Panel>
        <Panel title="Calls">
          <Table
            label="Calls"
            rows={data.calls}
            columns={CALLS}
            id={({ target, method, code }) => `${target} ${method} ${code}`}
            height={500}
          />
        </Panel>
      </div>
    </>
  );
}
