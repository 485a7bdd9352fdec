/** Live data shared by all screens: one stream from the server, applied to one map of nodes. */
import { useEffect, useState } from 'preact/hooks';
import type { ControllerState, NodeRow, StreamMessage, Totals } from '../screens.ts';

type Connection = 'connecting' | 'live' | 'lost' | 'ended';

interface Live {
  readonly connection: Connection;
  readonly state: ControllerState;
  readonly time: number;
  readonly version: number;
  readonly totals: Totals | undefined;
  /** Sorted by name. */
  readonly nodes: readonly NodeRow[];
}

let live: Live = { connection: 'connecting', state: 'starting', time: 0, version: 0, totals: undefined, nodes: [] };
const listeners = new Set<() => void>();
const rows = new Map<string, NodeRow>();

function set(change: Partial<Live>): void {
  live = { ...live, ...change };
  for (const listener of listeners) listener();
}

/**
 * Milliseconds without a message after which the stream counts as lost; the server sends one at least every ten
 * seconds.
 */
const SILENCE = 15_000;

export function openStream(): void {
  const stream = new EventSource('/api/stream?nodes');
  let timer: ReturnType<typeof setTimeout> | undefined;
  const expectMore = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => set({ connection: 'lost' }), SILENCE);
  };
  stream.addEventListener('open', () => {
    // The server restarts with all nodes.
    rows.clear();
    expectMore();
  });
  stream.addEventListener('message', ({ data }: MessageEvent<string>) => {
    performance.mark('update-begins');
    apply(JSON.parse(data) as StreamMessage);
    expectMore();
  });
  stream.addEventListener('error', () => {
    set({ connection: stream.readyState === EventSource.CLOSED ? 'ended' : 'lost' });
  });
}

function apply({ time, state, version, totals, nodes }: StreamMessage): void {
  if (nodes !== undefined) {
    for (const name of nodes.gone) rows.delete(name);
    for (const row of nodes.changed) rows.set(row.name, row);
  }
  const sorted =
    nodes === undefined ? live.nodes : [...rows.values()].sort((left, right) => (left.name < right.name ? -1 : 1));
  set({ connection: 'live', time, state, version, totals, nodes: sorted });
}

export function useLive(): Live {
  const [, redraw] = useState(0);
  useEffect(() => {
    const listener = (): void => redraw((count) => count + 1);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return live;
}

export interface Loaded<T> {
  readonly data: T | undefined;
  readonly problem: string | undefined;
  /** The object does not exist, which is not a server problem. */
  readonly isMissing?: boolean;
}

/** Real milliseconds between an answer and the next request of the same screen. */
const PAUSE = 2_000;

class Missing extends Error {}

/** The data of a screen, requested periodically while it is shown. `path` undefined: no request. */
export function useScreen<T extends object>(path: string | undefined, isLive = true): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T> & { readonly path?: string }>({ data: undefined, problem: undefined });
  const [asked, setAsked] = useState(0);
  useEffect(() => {
    if (path === undefined) return undefined;
    const end = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    ask<T>(path, end.signal)
      .then((data) => setLoaded({ data, problem: undefined, path }))
      .catch((error: unknown) => {
        if (end.signal.aborted) return;
        const { message } = error as Error;
        const isMissing = error instanceof Missing;
        setLoaded((before) => ({
          data: before.path === path ? before.data : undefined,
          problem: message,
          isMissing,
          path,
        }));
      })
      .finally(() => {
        // Only after the answer: otherwise a slow answer would never be received.
        if (isLive && !end.signal.aborted) timer = setTimeout(() => setAsked((count) => count + 1), PAUSE);
      });
    return () => {
      end.abort();
      clearTimeout(timer);
    };
  }, [path, asked, isLive]);
  return loaded.path === path ? loaded : { data: undefined, problem: undefined };
}

async function ask<T extends object>(path: string, signal: AbortSignal): Promise<T> {
  const response = await fetch(`/api/${path}`, { signal });
  if (response.status === 404) throw new Missing((await response.text()).trim());
  if (!response.ok) throw new Error((await response.text()).trim());
  const data = (await response.json()) as T | { readonly waiting: true };
  if ('waiting' in data) throw new Error('Nothing is known of the cluster yet. It is being read.');
  return data as T;
}

export async function postText<T>(path: string, body: string): Promise<T> {
  const response = await fetch(`/api/${path}`, { method: 'POST', body, headers: { 'content-type': 'text/plain' } });
  if (!response.ok) throw new Error((await response.text()).trim());
  return (await response.json()) as T;
}
