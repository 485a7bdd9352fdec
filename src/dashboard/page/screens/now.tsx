import type { NowScreen } from '../../screens.ts';
import { counted, dollars, grouped, percent, perHour, perMonth } from '../format.ts';
import { Bar, DecisionList, Empty, Panel, Stat, Stats, Waiting } from '../parts/basics.tsx';
import { Chart } from '../parts/chart.tsx';
import { Fleet } from '../parts/fleet.tsx';
import { Link } from '../router.tsx';
import { useLive, useScreen } from '../store.ts';

export function Now() {
  const { data, problem } = useScreen<NowScreen>('now');
  const live = useLive();
  if (data === undefined) return <Waiting problem={problem} />;
  const totals = live.totals ?? data.totals;
  const times = data.history.map(({ time }) => time);
  return (
    <>
      <p class={`sentence ${data.mood}`} role="status">
        {data.sentence}
      </p>
      <Stats>
        <Stat name="Cost" value={perHour(totals.pricePerHour)} detail={perMonth(totals.pricePerMonth)} to="/savings" />
        <Stat name="Nodes" value={grouped(totals.nodes)} detail={`${grouped(totals.readyNodes)} ready`} to="/nodes" />
        <Stat
          name="Pods"
          value={grouped(totals.pods)}
          detail={totals.pending === 0 ? 'none waits' : `${grouped(totals.pending)} waiting`}
          to="/pending"
        />
        <Stat name="CPU asked for" value={percent(totals.cpu)} detail={`memory ${percent(totals.memory)}`} to="/map" />
        <Stat name="Spot" value={percent(totals.spotShare)} detail="of the bill" to="/spot" />
        <Stat
          name="Saved"
          value={perHour(totals.savedPerHour)}
          detail={totals.heldPerHour < 0.01 ? 'nothing more to save' : `${dollars(totals.heldPerHour)}/h more could be`}
          to="/savings"
        />
      </Stats>
      <div class="columns">
        <Panel title="Cost">
          <Chart
            label="Dollars per hour"
            times={times}
            series={[
              {
                name: '$/h',
                colour: '--accent',
                values: data.history.map(({ price }) => price),
                fill: true,
                step: true,
              },
            ]}
            format={(value) => dollars(value)}
          />
        </Panel>
        <Panel title="Nodes and waiting pods">
          <Chart
            label="Nodes and waiting pods"
            times={times}
            series={[
              { name: 'nodes', colour: '--good', values: data.history.map(({ nodes }) => nodes), step: true },
              {
                name: 'pods waiting',
                colour: '--busy',
                values: data.history.map(({ pending }) => pending),
                step: true,
              },
            ]}
            format={grouped}
          />
        </Panel>
      </div>
      <div class="columns">
        <div class="stack">
          <Panel title="Fleet" aside={<Link to="/nodes">All nodes</Link>}>
            {live.nodes.length === 0 ? <Empty>There is no node.</Empty> : <Fleet nodes={live.nodes} />}
          </Panel>
          <Panel title="Pools">
            <Pools pools={data.pools} />
          </Panel>
        </div>
        <Panel title="Last decisions" aside={<Link to="/decisions">All decisions</Link>}>
          <DecisionList decisions={data.decisions} />
        </Panel>
      </div>
    </>
  );
}

function Pools({ pools }: Pick<NowScreen, 'pools'>) {
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label="Pools">
      <table>
        <thead>
          <tr>
            <th scope="col">Pool</th>
            <th scope="col" class="number">
              Nodes
            </th>
            <th scope="col">CPU</th>
            <th scope="col">Memory</th>
            <th scope="col" class="number">
              Cost
            </th>
          </tr>
        </thead>
        <tbody>
          {pools.map(({ name, nodes, pods, cpu, memory, pricePerHour }) => (
            <tr key={name} title={counted(pods, 'pod')}>
              <td>{name === '' ? <span class="muted">agent pools</span> : name}</td>
              <td class="number">{grouped(nodes)}</td>
              <td>
                <Bar share={cpu} label="cpu" />
              </td>
              <td>
                <Bar share={memory} label="memory" />
              </td>
              <td class="number">{perHour(pricePerHour)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
