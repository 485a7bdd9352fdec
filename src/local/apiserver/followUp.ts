/** Work that follows from writes, such as collecting garbage. */
import type { Store, StoreEvent, Table } from './store.ts';

/**
 * Runs `work` once for each key asked for since the last run, a step after the writes that asked, before time moves on.
 * Work that fails is reported and does not stop the rest: it is tried again with the next write that asks for it.
 */
export class FollowUp<Key> {
  private readonly open = new Set<Key>();
  private isScheduled = false;
  private readonly work: (key: Key) => void;
  private readonly unsubscribe: () => void;

  /** `listen` looks at every write and asks for what follows from it. */
  constructor(store: Store, work: (key: Key) => void, listen: (event: StoreEvent, table: Table) => void) {
    this.work = work;
    this.unsubscribe = store.subscribe(listen);
  }

  ask(key: Key): void {
    this.open.add(key);
    if (this.isScheduled) return;
    this.isScheduled = true;
    queueMicrotask(() => {
      this.isScheduled = false;
      const keys = [...this.open];
      this.open.clear();
      for (const one of keys) this.run(one);
    });
  }

  stop(): void {
    this.unsubscribe();
    this.open.clear();
  }

  private run(key: Key): void {
    try {
      this.work(key);
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  }
}

/** Runs `work` now and after each run of changes of one table. Returns a function that ends it. */
export function afterChanges(store: Store, tableId: string, work: () => void): () => void {
  const followUp: FollowUp<string> = new FollowUp(store, work, (_event, { id }) => {
    if (id === tableId) followUp.ask(id);
  });
  work();
  return () => followUp.stop();
}
