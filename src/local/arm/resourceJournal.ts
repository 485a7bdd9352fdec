/**
 * Keeps the resource store in a journal between processes. Operations are not kept: each type resumes its unfinished
 * changes, and clients read the resource again.
 */
import { Journal } from '../journal.ts';
import type { ResourceStore, StoreChange } from './resourceStore.ts';

const NAME = 'nodewrightAzure';
/** Since version 3, nodes of agent pools boot with the real name of their API server. */
const VERSION = 3;

/** Restores the resources in the file, then records every change. Returns a function that closes the journal. */
export function keepResources(path: string, store: ResourceStore): () => void {
  const journal = new Journal({
    path,
    name: NAME,
    version: VERSION,
    header: () => ({ subscriptionId: store.subscriptionId }),
    take: (line, isHeader) => {
      if (!isHeader) store.apply(line as unknown as StoreChange);
    },
    snapshot: () => store.snapshot(),
  });
  const stopListening = store.subscribe((change) => journal.append(change));
  return () => {
    stopListening();
    journal.close();
  };
}
