/** Work to do after writes, such as garbage collection. */
import type { Store, StoreEvent, Table } from './store.ts';

/**
 * Runs `work` once for each key that `asked` returned for the writes since the last run, in a microtask, so before the
 * clock advances. A failure is reported as a warning and retried only when a later write asks for its key. `first` are
 * keys to start with. Returns a function that stops this.
 */
export function followUp<Key>(
  store: Store,
  work: (key: Key) => void,
  asked: (event: StoreEvent, table: Table) => Iterable<Key>,
  first: Iterable<Key> = [],
): () => void {
  const open = new Set<Key>();
  let isScheduled = false;
  const run = (): void => {
    isScheduled = false;
    const keys = [...open];
    open.clear();
    for (const key of keys) {
      try {
        work(key);
      } catch (error) {
        process.emitWarning(error instanceof Error ? error : String(error));
      }
    }
  };
  const ask = (keys: Iterable<Key>): void => {
    for (const key of keys) open.add(key);
    if (isScheduled || open.size === 0) return;
    isScheduled = true;
    queueMicrotask(run);
  };
  const unsubscribe = store.subscribe((event, table) => ask(asked(event, table)));
  ask(first);
  return () => {
    unsubscribe();
    open.clear();
  };
}

const NOTHING: readonly string[] = [];

/** Runs `work` now and after changes of a table. Returns a function that stops this. */
export function afterChanges(store: Store, tableId: string, work: () => void): () => void {
  const whole = [tableId];
  const stop = followUp(store, work, (_event, { id }) => (id === tableId ? whole : NOTHING));
  work();
  return stop;
}
