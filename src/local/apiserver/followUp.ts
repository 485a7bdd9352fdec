/** Work that follows from writes, such as collecting garbage. */
import type { Store, StoreEvent, Table } from './store.ts';

/**
 * Runs `work` once for each key that `asked` names for the writes since the last run, a step after them and before time
 * moves on. Work that fails is reported and does not stop the rest: it is tried again with the next write that asks for
 * it. `first` is asked for at the start. Returns a function that ends it.
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

/** Runs `work` now and after each run of changes of one table. Returns a function that ends it. */
export function afterChanges(store: Store, tableId: string, work: () => void): () => void {
  const whole = [tableId];
  const stop = followUp(store, work, (_event, { id }) => (id === tableId ? whole : NOTHING));
  work();
  return stop;
}
