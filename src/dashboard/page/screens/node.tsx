import type { NodePod, NodeScreen, Offer } from '../../screens.ts';
import { ageOf, counted, dollars, grouped, percent, perHour, perMonth, shortType } from '../format.ts';
import { AnswerView, DecisionList, Empty, Panel, Stat, Stats, Status, Waiting } from '../parts/basics.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { Link, NodeLink } from '../router.tsx';
import { useScreen } from '../store.ts';

const PODS: readonly Column<NodePod>[] = [
  { title: 'Pod', cell: ({ name }) => name, key: ({ name }) => name },
  { title: 'Cores', cell: ({ cpu }) => cpu.toFixed(2), key: ({ cpu }) => cpu, class: 'number' },
  { title: 'GiB', cell: ({ memory }) => memory.toFixed(2), key: ({ memory }) => memory, class: 'number' },
];

export function NodePage({ name }: { readonly name: string }) {
  const { data, problem, isMissing } = useScreen<NodeScreen>(`nodes/${encodeURIComponent(name)}`);
  if (data === undefined) {
    return (
      <>
        <Waiting problem={isMissing ? 'There is no node of this name: it has gone, or never was.' : problem} />
        <p>
          <Link to="/nodes">All nodes</Link>
        </p>
      </>
    );
  }
  const { node } = data;
  return (
    <>
      <p class="crumbs">
        <Link to="/nodes">Nodes</Link> / {node.name} <Status status={node.status} />
      </p>
      <Stats>
        <Stat
          name="Cost"
          value={node.price === 0 ? 'not known' : perHour(node.price)}
          detail={node.price === 0 ? '' : perMonth(node.price * 730)}
        />
        <Stat name="Instance type" value={shortType(node.instanceType)} detail={`${node.zone} ${node.capacityType}`} />
        <Stat name="CPU asked for" value={percent(node.cpu)} detail={`of ${grouped(node.cores)} cores`} />
        <Stat name="Memory asked for" value={percent(node.memory)} detail={`of ${grouped(node.gib)} GiB`} />
        <Stat name="Pods" value={grouped(node.pods)} detail={`room for ${grouped(node.maxPods)}`} />
        <Stat name="Age" value={ageOf(data.time - node.created)} detail={node.nodePool || 'agent pool'} />
      </Stats>
      <div class="columns">
        <div class="stack">
          <Panel title="Why is this still here?">
            {data.explanation === undefined ? (
              <Empty>{data.unexplained}</Empty>
            ) : (
              <AnswerView answer={data.explanation} />
            )}
          </Panel>
          <Panel title={counted(data.pods.length, 'pod')}>
            {data.pods.length === 0 ? (
              <Empty>No pod runs on it.</Empty>
            ) : (
              <Table label="Pods" rows={data.pods} columns={PODS} id={({ name: pod }) => pod} />
            )}
          </Panel>
        </div>
        <div class="stack">
          <Panel title="Why was it bought?">
            <Bought {...data} />
          </Panel>
          <Panel title="Decisions about it">
            <DecisionList decisions={data.decisions} />
          </Panel>
        </div>
      </div>
    </>
  );
}

function Bought({ boughtForPods, replaces, offerings, today, nodeClaim }: NodeScreen) {
  if (nodeClaim === '') return <Empty>By its agent pool, not by nodewright.</Empty>;
  return (
    <>
      <p>
        {boughtForPods === 0
          ? 'The pods that it was bought for are not known any more.'
          : `For ${counted(boughtForPods, 'pod')}.`}
        {replaces.length > 0 && ' In place of '}
        {replaces.map((name) => (
          <NodeLink key={name} name={name} />
        ))}
      </p>
      <Ladder title="Price ladder: what was tried, in this order" offers={offerings} />
      <Ladder title="For its pods alone, today this would be bought" offers={today} />
    </>
  );
}

export function Ladder({ title, offers }: { readonly title: string; readonly offers: readonly Offer[] }) {
  if (offers.length === 0) return null;
  return (
    <div class="ladder">
      <h3>{title}</h3>
      <ol>
        {offers.map((offer, at) => (
          <li key={`${at}`}>
            <span>{shortType(offer.instanceType)}</span>
            <span class="muted">{offer.zone}</span>
            <span class="muted">{offer.capacityType}</span>
            <span class="number">{offer.pricePerHour === undefined ? '?' : `${dollars(offer.pricePerHour, 4)}/h`}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}
