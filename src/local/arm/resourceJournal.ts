/**
 * Keeps the resource store in a journal between processes. Operations are not kept: each type resumes what it finds half
 * done, and clients read the resource again.
 */
import { Journal } from '../journal.ts';
import type { ResourceStore, StoreChange } from './resourceStore.ts';

const NAME = 'nodewrightAzure';
/** 3: nodes of agent pools boot with the real name of their API server. */
const VERSION = 3;

export class ResourceJournal {
  private readonly journal: Journal;
  private readonly stopListening: () => void;

  /** Restores what the file holds, then records everything that happens. */
  constructor(path: string, store: ResourceStore) {
    this.journal = new Journal({
      path,
      name: NAME,
      version: VERSION,
      header: () => ({ subscriptionId: store.subscriptionId }),
      take: (line, isHeader) => {
        if (!isHeader) store.apply(line as unknown as StoreChange);
      },
      snapshot: () => store.snapshot(),
    });
    this.stopListening = store.subscribe((change) => this.journal.append(change));
  }

  close(): void {
    this.stopListening();
    this.journal.close();
  }
}
