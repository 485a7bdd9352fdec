/** Small components used by all screens. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Answer, DecisionRow } from '../../screens.ts';
import { clockOf, percent } from '../format.ts';
import { Link } from '../router.tsx';

export function Panel(props: {
  readonly title: string;
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly class?: string;
}) {
  return (
    <section class={`panel ${props.class ?? ''}`}>
      <header>
        <h2>{props.title}</h2>
        {props.aside !== undefined && <div class="aside">{props.aside}</div>}
      </header>
      {props.children}
    </section>
  );
}

export function Stat(props: {
  readonly name: string;
  readonly value: string;
  readonly detail?: string;
  readonly to?: string;
}) {
  const body = (
    <>
      <span class="stat-name">{props.name}</span>
      <span class="stat-value">{props.value}</span>
      <span class="stat-detail">{props.detail ?? '\u00a0'}</span>
    </>
  );
  return props.to === undefined ? (
    <div class="stat">{body}</div>
  ) : (
    <Link to={props.to} class="stat">
      {body}
    </Link>
  );
}

export const Stats = ({ children }: { readonly children: ComponentChildren }) => <div class="stats">{children}</div>;

export function Bar({ share, label }: { readonly share: number; readonly label: string }) {
  const shown = Math.max(0, Math.min(1, share));
  return (
    <span class="bar" role="img" aria-label={`${label} ${percent(share)}`}>
      <span class="bar-track">
        <span class={share > 1.001 ? 'bar-fill over' : 'bar-fill'} style={{ width: `${shown * 100}%` }} />
      </span>
      <span class="bar-text" aria-hidden="true">
        {percent(share)}
      </span>
    </span>
  );
}

const TONES: Readonly<Record<string, string>> = {
  Ready: 'good',
  Starting: 'busy',
  Launching: 'busy',
  Deleting: 'busy',
  NotReady: 'bad',
  Cordoned: 'busy',
};

export const Status = ({ status }: { readonly status: string }) => (
  <span class={`status ${TONES[status] ?? ''}`}>{status}</span>
);

export const Empty = ({ children }: { readonly children: ComponentChildren }) => <p class="empty">{children}</p>;

/** Shown in place of a screen without data. */
export function Waiting({ problem }: { readonly problem: string | undefined }) {
  return problem === undefined ? (
    <div class="loading" role="status" aria-label="Loading">
      <div class="loading-strip">
        <p class="loading-text">Loading …</p>
      </div>
      <div class="loading-panel" />
      <div class="loading-panel" />
    </div>
  ) : (
    <p class="empty" role="status">
      {problem}
    </p>
  );
}

export function Command({ text }: { readonly text: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <div class="command">
      <pre tabIndex={0} aria-label="command">
        {text}
      </pre>
      <button
        type="button"
        onClick={() => {
          navigator.clipboard.writeText(text).then(
            () => setCopied(true),
            () => setCopied(false),
          );
        }}
      >
        {copied ? 'Copied' : 'Copy'}
      </button>
    </div>
  );
}

export function AnswerView({ answer }: { readonly answer: Answer }) {
  return (
    <div class="answer">
      <p class="answer-sentence">
        <span class="tag">{answer.constraint}</span> {answer.sentence}
      </p>
      {answer.evidence.length > 0 && (
        <details>
          <summary>Evidence</summary>
          <ul>
            {answer.evidence.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </details>
      )}
      {answer.fixes.map((fix, at) => (
        <div class="fix" key={fix.sentence}>
          <p>
            <strong>{answer.fixes.length > 1 ? `Fix ${at + 1}` : 'Fix'}</strong> {fix.sentence}
          </p>
          {fix.commands.map((command) => (
            <Command key={command} text={command} />
          ))}
        </div>
      ))}
    </div>
  );
}

const TONE_OF_KIND: Readonly<Record<string, string>> = {
  launch: 'good',
  'launch-failure': 'bad',
  refusal: 'bad',
  objection: 'bad',
  'repair-held': 'bad',
  replicas: 'good',
  removal: 'accent',
  disruption: 'accent',
  'disruption-end': 'accent',
  drift: 'busy',
};

export const Kind = ({ kind }: { readonly kind: string }) => (
  <span class={`kind ${TONE_OF_KIND[kind] ?? ''}`}>{kind}</span>
);

export function DecisionList({ decisions }: { readonly decisions: readonly DecisionRow[] }) {
  if (decisions.length === 0) return <Empty>Nothing was decided yet.</Empty>;
  return (
    <ol class="decisions">
      {decisions.map(({ sequence, time, kind, text }) => (
        <li key={sequence}>
          <time dateTime={new Date(time).toISOString()}>{clockOf(time)}</time>
          <Kind kind={kind} />
          <Link to={`/decisions/${sequence}`} class="plain">
            {text}
          </Link>
        </li>
      ))}
    </ol>
  );
}
