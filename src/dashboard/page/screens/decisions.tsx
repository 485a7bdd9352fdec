import { useState } from 'preact/hooks';
import type { DecisionDetail, DecisionsScreen } from '../../screens.ts';
import { counted, dollars, shortType } from '../format.ts';
import { DecisionList, Empty, Kind, Panel, Waiting } from '../parts/basics.tsx';
import { Link, NodeLink } from '../router.tsx';
import { useScreen } from '../store.ts';
import { Ladder } from './node.tsx';

const FILTERS: readonly (readonly [string, readonly string[]])[] = [
  ['All', []],
  ['Launches', ['launch', 'launch-failure', 'plan', 'replicas']],
  ['Removals', ['disruption', 'disruption-end', 'removal', 'repair-held']],
  ['Instances', ['instance']],
  ['Refusals', ['refusal', 'objection']],
  ['Kept', ['kept', 'savings']],
  ['Drift', ['drift', 'images', 'edit']],
  ['Places', ['nomination', 'hint']],
];

export function Decisions({ sequence }: { readonly sequence: string }) {
  const [kinds, setKinds] = useState<readonly string[]>([]);
  const [text, setText] = useState('');
  const query = new URLSearchParams([...kinds.map((kind): [string, string] => ['kind', kind]), ['text', text]]);
  const { data, problem } = useScreen<DecisionsScreen>(`decisions?${query.toString()}`);
  return (
    <div class={sequence === '' ? '' : 'columns'}>
      <Panel
        title="Decisions"
        class="wide"
        aside={
          <input
            type="search"
            placeholder="Filter: a pod, a node, a pool …"
            aria-label="Filter decisions"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        }
      >
        <div class="tabs" role="group" aria-label="Kinds of decisions">
          {FILTERS.map(([title, own]) => (
            <button key={title} type="button" aria-pressed={own.join() === kinds.join()} onClick={() => setKinds(own)}>
              {title}
            </button>
          ))}
        </div>
        {data === undefined ? <Waiting problem={problem} /> : <DecisionList decisions={data.decisions} />}
        {data?.more === true && <Empty>Older decisions are in the files of the ledger.</Empty>}
      </Panel>
      {sequence !== '' && <Detail sequence={sequence} />}
    </div>
  );
}

function Detail({ sequence }: { readonly sequence: string }) {
  const { data, problem, isMissing } = useScreen<DecisionDetail>(`decision/${encodeURIComponent(sequence)}`, false);
  if (data === undefined) {
    return (
      <Panel title="Decision">
        <Waiting problem={isMissing ? 'This decision has made room for newer ones.' : problem} />
      </Panel>
    );
  }
  return (
    <Panel title={`Decision ${data.sequence}`} aside={<Link to="/decisions">Close</Link>} class="sticky">
      <p>
        <Kind kind={data.kind} /> <span class="muted">{new Date(data.time).toISOString()}</span>
      </p>
      <p class="answer-sentence">{data.text}</p>
      {data.lines.length > 0 && (
        <ul>
          {data.lines.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
      <Ladder
        title={data.kind === 'launch' ? 'Price ladder: tried in this order' : 'What comes instead'}
        offers={data.ladder}
      />
      {data.rejected.length > 0 && (
        <div class="ladder">
          <h3>What was not chosen</h3>
          <ol>
            {data.rejected.map(({ instanceType, price, why }) => (
              <li key={instanceType}>
                <span>{shortType(instanceType)}</span>
                <span class="muted why">{why}</span>
                <span class="number">{price === undefined ? '' : `${dollars(price, 4)}/h`}</span>
              </li>
            ))}
          </ol>
        </div>
      )}
      {data.nodes.length > 0 && (
        <>
          <h3>Nodes</h3>
          <ul class="lines">
            {data.nodes.map((name) => (
              <li key={name}>
                <NodeLink name={name} />
              </li>
            ))}
          </ul>
        </>
      )}
      {data.podCount > 0 && (
        <>
          <h3>{counted(data.podCount, 'pod')}</h3>
          <ul class="lines">
            {data.pods.map((name) => (
              <li key={name}>{name}</li>
            ))}
          </ul>
        </>
      )}
    </Panel>
  );
}
