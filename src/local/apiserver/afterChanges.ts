/** Work that follows from a table. In: the table and the work. Out: the work, once now and once after each run of changes. */
import type { Store } from './store.ts';

/** Returns how to stop. */
export function afterChanges(store: Store, tableId: string, work: () => void): () => void {
  let isScheduled = false;
  const unsubscribe = store.subscribe((_event, table) => {
    if (table.id !== tableId || isScheduled) return;
    isScheduled = true;
    queueMicrotask(() => {
      isScheduled = false;
      work();
    });
  });
  work();
  return unsubscribe;
}
