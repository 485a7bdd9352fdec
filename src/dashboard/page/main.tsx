/** The page: navigation, the connection state, and the screen for the current address. */
import { render, type ComponentChild } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { clockOf } from './format.ts';
import { go, Link, usePath } from './router.tsx';
import { Capacity } from './screens/capacity.tsx';
import { Churn } from './screens/churn.tsx';
import { Controller } from './screens/controller.tsx';
import { Decisions } from './screens/decisions.tsx';
import { TreeMap } from './screens/map.tsx';
import { NodePage } from './screens/node.tsx';
import { Nodes } from './screens/nodes.tsx';
import { Now } from './screens/now.tsx';
import { Pending } from './screens/pending.tsx';
import { Rollout } from './screens/rollout.tsx';
import { Savings } from './screens/savings.tsx';
import { Spot } from './screens/spot.tsx';
import { WhatIf } from './screens/whatIf.tsx';
import { openStream, useLive } from './store.ts';
import 'uplot/dist/uPlot.min.css';
import './page.css';

interface Route {
  readonly path: string;
  readonly title: string;
  /** The key after g that opens it. */
  readonly key: string;
  readonly show: (rest: string) => ComponentChild;
}

const ROUTES: readonly Route[] = [
  { path: 'now', title: 'Now', key: 'n', show: () => <Now /> },
  { path: 'pending', title: 'Pending', key: 'p', show: () => <Pending /> },
  { path: 'decisions', title: 'Decisions', key: 'd', show: (rest) => <Decisions sequence={rest} /> },
  {
    path: 'nodes',
    title: 'Nodes',
    key: 'o',
    show: (rest) => (rest === '' ? <Nodes /> : <NodePage key={rest} name={rest} />),
  },
  { path: 'map', title: 'Map', key: 'm', show: () => <TreeMap /> },
  { path: 'savings', title: 'Savings', key: 's', show: () => <Savings /> },
  { path: 'churn', title: 'Churn', key: 'h', show: () => <Churn /> },
  { path: 'capacity', title: 'Capacity', key: 'c', show: () => <Capacity /> },
  { path: 'spot', title: 'Spot', key: 't', show: () => <Spot /> },
  { path: 'rollout', title: 'Rollout', key: 'r', show: () => <Rollout /> },
  { path: 'what-if', title: 'What-if', key: 'w', show: () => <WhatIf /> },
  { path: 'controller', title: 'Controller', key: 'l', show: () => <Controller /> },
];

const STATES: Readonly<Record<string, string>> = {
  leading: 'Controller acts',
  standby: 'Standby: another process leads',
  starting: 'Controller starts',
  stopped: 'Controller stopped',
  outside: 'Read from outside',
};

function App() {
  const path = usePath();
  const [, first = '', ...rest] = path.split('/');
  const route = ROUTES.find((each) => each.path === first) ?? ROUTES[0];
  useKeys();
  useEffect(() => {
    document.title = `${route?.title ?? ''} · nodewright`;
  }, [route]);
  return (
    <div class="app">
      <a class="skip" href="#main">
        Skip to the screen
      </a>
      <Navigation current={route?.path ?? ''} />
      <main id="main" tabIndex={-1}>
        <Head title={route?.title ?? ''} />
        <Notice />
        {route?.show(decodeURIComponent(rest.join('/')))}
      </main>
    </div>
  );
}

function Navigation({ current }: { readonly current: string }) {
  const { totals } = useLive();
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    // On a narrow screen the names are in one scrolling line.
    const link = list.current?.querySelector<HTMLElement>('[aria-current]');
    if (link) list.current?.scrollTo({ left: link.offsetLeft - list.current.offsetLeft - 40 });
  }, [current]);
  return (
    <nav aria-label="Screens">
      <p class="brand">
        <img src="/favicon.svg" alt="" width="22" height="22" /> nodewright
      </p>
      <ul ref={list}>
        {ROUTES.map(({ path, title }) => (
          <li key={path}>
            <Link to={`/${path}`} current={path === current}>
              {title}
              {path === 'pending' && (totals?.pending ?? 0) > 0 && <span class="badge">{totals?.pending}</span>}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Head({ title }: { readonly title: string }) {
  const { state, time, connection } = useLive();
  const tone = connection !== 'live' ? 'bad' : state === 'leading' || state === 'outside' ? 'good' : 'busy';
  return (
    <header class="head">
      <h1>{title}</h1>
      <p class="connection">
        <span class={`dot ${tone}`} aria-hidden="true" />
        {connection === 'live' ? STATES[state] : connection === 'connecting' ? 'Connecting' : 'Not connected'}
        {time > 0 && <span class="muted">{clockOf(time)} UTC</span>}
      </p>
    </header>
  );
}

/** Warns when the data may be outdated. */
function Notice() {
  const { connection, state, time } = useLive();
  const at = time === 0 ? '' : ` What is shown is of ${clockOf(time)} UTC.`;
  if (connection === 'ended') {
    return (
      <p class="notice" role="alert">
        This session has ended. <code>nodewright dashboard</code> prints an address that opens another one.{at}
      </p>
    );
  }
  if (connection === 'lost') {
    return (
      <p class="notice" role="alert">
        Nothing is heard from the server; trying again.{at}
      </p>
    );
  }
  if (connection === 'live' && state === 'stopped') {
    return (
      <p class="notice" role="alert">
        The controller has stopped: nothing is decided until it starts again.{at}
      </p>
    );
  }
  if (connection === 'live' && state === 'standby') {
    return (
      <p class="notice" role="status">
        Another process leads. This one watches the cluster; the decisions are in the ledger of the leader.
      </p>
    );
  }
  return null;
}

function useKeys(): void {
  const [, setLast] = useState('');
  useEffect(() => {
    let last = '';
    const onKey = (event: KeyboardEvent): void => {
      const { target, key } = event;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) return;
      const route = last === 'g' ? ROUTES.find((each) => each.key === key) : undefined;
      last = key;
      setLast(key);
      if (route !== undefined) go(`/${route.path}`);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}

const root = document.getElementById('root');
if (root !== null) {
  openStream();
  if (location.pathname === '/') history.replaceState(undefined, '', '/now');
  render(<App />, root);
}
