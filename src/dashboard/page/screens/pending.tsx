import { useState } from 'preact/hooks';
import type { Answer, PendingGroup, PendingScreen } from '../../screens.ts';
import { ageOf, counted } from '../format.ts';
import { AnswerView, Empty, Panel, Waiting } from '../parts/basics.tsx';
import { NodeLink } from '../router.tsx';
import { useScreen } from '../store.ts';

/** Groups explained automatically: each one takes a plan. */
const EXPLAINED = 4;

export function Pending() {
  const { data, problem } = useScreen<PendingScreen>('pending');
  if (data === undefined) return <Waiting problem={problem} />;
  const stuck = data.groups.filter(({ promised }) => promised === undefined);
  const coming = data.groups.filter(({ promised }) => promised !== undefined);
  return (
    <>
      <Panel title="Without a place">
        {stuck.length === 0 ? (
          <Empty>Every pod has a node, or one on the way.</Empty>
        ) : (
          <ul class="cards">
            {stuck.map((group, at) => (
              <Group key={group.workload} group={group} now={data.time} isOpen={at < EXPLAINED} />
            ))}
          </ul>
        )}
      </Panel>
      <Panel title="Waiting for a node that is on the way">
        {coming.length === 0 ? (
          <Empty>None.</Empty>
        ) : (
          <ul class="lines">
            {coming.map(({ workload, count, since, promised }) => (
              <li key={workload}>
                <strong>{workload}</strong> {counted(count, 'pod')}, {ageOf(data.time - since)}
                {' → '}
                <NodeLink name={promised ?? ''} />
              </li>
            ))}
          </ul>
        )}
      </Panel>
    </>
  );
}

function Group(props: { readonly group: PendingGroup; readonly now: number; readonly isOpen: boolean }) {
  const { group, now } = props;
  const [isOpen, setOpen] = useState(props.isOpen);
  const [namespace = '', name = ''] = group.example.split('/');
  const path = isOpen ? `explain/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}` : undefined;
  const { data, problem } = useScreen<Answer>(path, false);
  return (
    <li class="card">
      <header>
        <h3>{group.workload}</h3>
        <span class="muted">
          {counted(group.count, 'pod')}, waiting {ageOf(now - group.since)}
        </span>
      </header>
      {data !== undefined ? (
        <AnswerView answer={data} />
      ) : (
        <p class="reason">{group.reason === '' ? 'It was not looked at yet.' : group.reason}</p>
      )}
      {problem !== undefined && <p class="muted">{problem}</p>}
      {!isOpen && (
        <button type="button" onClick={() => setOpen(true)}>
          What would help?
        </button>
      )}
    </li>
  );
}
