/**
 * A subscription that outlives its process. In: every change of the resource store, whatever the type of the resource.
 * Out: a journal, from which a later process gets the same groups and resources, with what Azure keeps of them in secret.
 *
 * Operations are not kept: each type goes on with what it finds half done, and clients ask for the resource again.
 */
import { Journal } from '../journal.ts';
import type { ResourceStore, StoreChange } from './resourceStore.ts';

const NAME = 'nodewrightAzure';
const VERSION = 2;

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
