/**
 * Keeps the resource store in a journal between processes. Operations are not kept: each type resumes what it finds half
 * done, and clients read the resource again.
 */
import { Journal } from '../journal.ts';
import type { ResourceStore, StoreChange } from './resourceStore.ts';

const NAME = 'nodewrightAzure';
/** 3: nodes of agent pools boot with the real name of their API server. */
const VERSION = 3;

/** Restores what the file holds, then records everything that happens. Returns a function that ends it. */
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
