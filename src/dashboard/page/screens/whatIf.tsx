import { useState } from 'preact/hooks';
import type { ApplyAnswer, WhatIfAnswer, WhatIfScreen } from '../../screens.ts';
import { counted, dollars, grouped, perHour, perMonth, shortType } from '../format.ts';
import { Command, Empty, Panel, Stat, Stats, Waiting } from '../parts/basics.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { NodeLink } from '../router.tsx';
import { postText, useScreen } from '../store.ts';

type Quota = NonNullable<WhatIfAnswer['report']>['quotas'][number];

const QUOTAS: readonly Column<Quota>[] = [
  { title: 'Quota', cell: ({ quota }) => quota, key: ({ quota }) => quota },
  { title: 'Before', cell: ({ before }) => grouped(before), key: ({ before }) => before, class: 'number' },
  { title: 'At most', cell: ({ peak }) => grouped(peak), key: ({ peak }) => peak, class: 'number' },
  { title: 'After', cell: ({ after }) => grouped(after), key: ({ after }) => after, class: 'number' },
];

export function WhatIf() {
  const { data, problem } = useScreen<WhatIfScreen>('what-if', false);
  const [name, setName] = useState<string>();
  const [edited, setEdited] = useState<string>();
  const [answer, setAnswer] = useState<WhatIfAnswer>();
  const [isAsking, setAsking] = useState(false);
  if (data === undefined) return <Waiting problem={problem} />;
  const chosen = data.pools.find((pool) => pool.name === name) ?? data.pools[0];
  if (chosen === undefined) return <Empty>There is no NodePool.</Empty>;
  const text = edited ?? chosen.manifest;
  const ask = (): void => {
    setAsking(true);
    postText<WhatIfAnswer>('what-if', text)
      .then(setAnswer)
      .catch((error: unknown) => setAnswer({ problems: [String((error as Error).message)] }))
      .finally(() => setAsking(false));
  };
  return (
    <div class="columns">
      <Panel
        title="Edit a NodePool"
        aside={
          <label>
            NodePool{' '}
            <select
              value={chosen.name}
              onChange={(event) => {
                setName(event.currentTarget.value);
                setEdited(undefined);
                setAnswer(undefined);
              }}
            >
              {data.pools.map((pool) => (
                <option key={pool.name}>{pool.name}</option>
              ))}
            </select>
          </label>
        }
      >
        <textarea
          aria-label="Manifest of the NodePool"
          rows={28}
          spellcheck={false}
          value={text}
          onInput={(event) => setEdited(event.currentTarget.value)}
        />
        <p class="tabs">
          <button type="button" class="main" disabled={isAsking} onClick={ask}>
            {isAsking ? 'Working it out …' : 'What would happen?'}
          </button>
          <button type="button" onClick={() => setEdited(undefined)}>
            Start over
          </button>
        </p>
        <p class="muted">Asking changes nothing: the loops are rehearsed on a copy of the cluster.</p>
      </Panel>
      <div class="stack" aria-live="polite">
        {answer === undefined ? (
          <Panel title="The difference">
            <Empty>Edit the manifest, and ask what it would do.</Empty>
          </Panel>
        ) : (
          <Difference answer={answer} isEdited={text !== chosen.manifest} manifest={text} mayApply={data.mayApply} />
        )}
      </div>
    </div>
  );
}

function Difference(props: {
  readonly answer: WhatIfAnswer;
  readonly isEdited: boolean;
  readonly manifest: string;
  readonly mayApply: boolean;
}) {
  const { problems, report } = props.answer;
  if (report === undefined) {
    return (
      <Panel title="This cannot be applied">
        <ul>
          {problems.map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      </Panel>
    );
  }
  const { before, after, steps, quotas, drifting, evictions, unplaced, held } = report;
  const change = after.pricePerHour - before.pricePerHour;
  return (
    <>
      <Stats>
        <Stat name="Cost before" value={perHour(before.pricePerHour)} detail={perMonth(before.pricePerMonth)} />
        <Stat name="Cost after" value={perHour(after.pricePerHour)} detail={perMonth(after.pricePerMonth)} />
        <Stat
          name="Change"
          value={`${change > 0 ? '+' : change < 0 ? '−' : ''}${dollars(Math.abs(change), 3)}/h`}
          detail={`${before.nodes} → ${after.nodes} nodes`}
        />
        <Stat name="Pods that move" value={String(evictions)} detail={`${counted(drifting.length, 'node')} drift`} />
      </Stats>
      <Panel title="What would happen, step by step">
        {steps.length === 0 ? (
          <Empty>Nothing: no node comes or goes.</Empty>
        ) : (
          <ol class="lines">
            {steps.map((step, at) => (
              <li key={`${at}`}>
                <strong>{step.minute} min</strong> <span class="tag">{step.reason}</span> {step.nodes.join(', ')}
                {step.replacements.length > 0 &&
                  ` → ${step.replacements.map(({ instanceType }) => shortType(instanceType)).join(', ')}`}
                {step.evictions > 0 && <span class="muted"> {counted(step.evictions, 'pod')} move</span>}
              </li>
            ))}
          </ol>
        )}
        {!report.complete && <p class="muted">It goes on after that; the rest was cut.</p>}
      </Panel>
      {quotas.length > 0 && (
        <Panel title="vCPUs that count against quotas">
          <Table label="Quotas" rows={quotas} columns={QUOTAS} id={({ quota }) => quota} />
        </Panel>
      )}
      {(unplaced.length > 0 || held.length > 0) && (
        <Panel title="What would be left over">
          <ul>
            {unplaced.map(({ pod, reason }) => (
              <li key={pod}>
                {pod}: {reason}
              </li>
            ))}
            {held.map(({ node, sentence }) => (
              <li key={node}>
                <NodeLink name={node} /> stays: {sentence}
              </li>
            ))}
          </ul>
        </Panel>
      )}
      {props.isEdited && (
        <Panel title="To make this change">
          {props.mayApply && <Apply key={props.manifest} manifest={props.manifest} />}
          <Command text={`kubectl apply -f - <<'EOF'\n${props.manifest.trimEnd()}\nEOF`} />
        </Panel>
      )}
    </>
  );
}

/** With a confirmation, because it changes the cluster. */
function Apply({ manifest }: { readonly manifest: string }) {
  const [stage, setStage] = useState<'offered' | 'asked' | 'sent'>('offered');
  const [done, setDone] = useState<ApplyAnswer>();
  if (done !== undefined) {
    return (
      <ul role="status">
        {[...done.applied, ...done.problems].map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    );
  }
  const apply = (): void => {
    setStage('sent');
    postText<ApplyAnswer>('what-if/apply', manifest)
      .then(setDone)
      .catch((error: unknown) => setDone({ applied: [], problems: [String((error as Error).message)] }));
  };
  return (
    <p class="tabs">
      {stage === 'offered' ? (
        <button type="button" class="main" onClick={() => setStage('asked')}>
          Apply with my rights
        </button>
      ) : (
        <>
          <button type="button" class="main" disabled={stage === 'sent'} onClick={apply}>
            {stage === 'sent' ? 'Applying …' : 'Yes, change the cluster'}
          </button>
          <button type="button" disabled={stage === 'sent'} onClick={() => setStage('offered')}>
            No
          </button>
        </>
      )}
    </p>
  );
}
