/**
 * A watch: the stream of a table's events for one client. It has no queue: it keeps the last revision sent and reads
 * the table's history from there, so it fails with 410 when the client is slower than the history is long.
 */
import type { Clock } from '../../clock/clock.ts';
import type { ApiObject } from './fields.ts';
import type { PageRequest, Store, StoreEvent, Table } from './store.ts';

export type ServedEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: ApiObject }
  | { readonly type: 'BOOKMARK'; readonly revision: number; readonly initialEventsEnd: boolean };

export interface WatchRequest extends Pick<PageRequest, 'namespace' | 'matches'> {
  /** Revision to start after; undefined: start with all existing objects. */
  readonly after: number | undefined;
  /** Send a bookmark after the existing objects. */
  readonly sendInitialEvents: boolean;
  readonly bookmarks: boolean;
  readonly timeoutSeconds: number | undefined;
  readonly signal: AbortSignal | undefined;
}

const BOOKMARK_INTERVAL = 60_000;

export async function* watchTable(
  table: Table,
  request: WatchRequest,
  clock: Clock,
  store: Pick<Store, 'revision' | 'starts'>,
): AsyncGenerator<ServedEvent, void, undefined> {
  const { signal } = request;
  const { starts } = store;
  const isAborted = (): boolean => signal?.aborted === true || store.starts !== starts;
  let seen = request.after ?? 0;
  if (request.after === undefined) {
    const page = table.page({ namespace: request.namespace, matches: request.matches });
    seen = page.revision;
    for (const object of page.items) {
      if (isAborted()) return;
      yield { type: 'ADDED', object };
    }
    if (request.sendInitialEvents) yield { type: 'BOOKMARK', revision: seen, initialEventsEnd: true };
  }
  const prefix = request.namespace === undefined ? '' : `${request.namespace}/`;
  const alarm = alarms(clock, request);
  try {
    while (!isAborted() && !alarm.state.expired) {
      // No write can happen between this read and the wait below: there is no `await` between them.
      const events = table.eventsAfter(seen);
      for (const event of events) {
        seen = event.revision;
        if (!event.key.startsWith(prefix)) continue;
        const served = servedEvent(event, request.matches);
        if (served !== undefined) yield served;
        if (isAborted()) return;
      }
      if (events.length > 0) continue;
      if (alarm.takeBookmark()) {
        seen = Math.max(seen, store.revision);
        yield { type: 'BOOKMARK', revision: seen, initialEventsEnd: false };
        continue;
      }
      await nextWrite(table, alarm.state, signal);
    }
  } finally {
    alarm.stop();
  }
}

/** Returns the event for a filtered watch: an object that ceases to match is DELETED, one that begins to is ADDED. */
function servedEvent(event: StoreEvent, matches: WatchRequest['matches']): ServedEvent | undefined {
  const { type, object, previous } = event;
  if (matches === undefined) return { type, object };
  const had = previous !== undefined && matches(previous);
  const has = type !== 'DELETED' && matches(object);
  if (has) return { type: had ? 'MODIFIED' : 'ADDED', object };
  if (!had) return undefined;
  // The client has received the previous state, the last one that matched.
  const { resourceVersion = '' } = object.metadata;
  return { type: 'DELETED', object: { ...previous, metadata: { ...previous.metadata, resourceVersion } } };
}

interface AlarmState {
  /** The timeout has passed. */
  expired: boolean;
  bookmarkDue: boolean;
  wake: () => void;
}

/** Wakes a watch without a write: at its timeout, or when a bookmark is due. */
function alarms(
  clock: Clock,
  { timeoutSeconds, bookmarks }: WatchRequest,
): { readonly state: AlarmState; takeBookmark(): boolean; stop(): void } {
  const state: AlarmState = { expired: false, bookmarkDue: false, wake: () => undefined };
  const arm = (milliseconds: number, reason: 'expired' | 'bookmarkDue'): (() => void) =>
    clock.after(milliseconds, () => {
      state[reason] = true;
      state.wake();
    });
  const stopTimeout =
    timeoutSeconds !== undefined && timeoutSeconds > 0 ? arm(timeoutSeconds * 1000, 'expired') : undefined;
  let stopBookmark = bookmarks ? arm(BOOKMARK_INTERVAL, 'bookmarkDue') : undefined;
  return {
    state,
    takeBookmark: () => {
      if (!state.bookmarkDue) return false;
      state.bookmarkDue = false;
      stopBookmark = arm(BOOKMARK_INTERVAL, 'bookmarkDue');
      return true;
    },
    stop: () => {
      stopTimeout?.();
      stopBookmark?.();
    },
  };
}

function nextWrite(table: Table, state: AlarmState, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stopWaiting();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const stopWaiting = table.onNextWrite(done);
    state.wake = done;
    signal?.addEventListener('abort', done, { once: true });
  });
}
