/**
 * A subscription that outlives its process. In: every change of the resource store, whatever the type of the resource.
 * Out: a journal, from which a later process gets the same resources with what Azure keeps of them in secret.
 *
 * Operations are not kept: each type goes on with what it finds half done, and clients ask for the resource again.
 */
import { Journal } from '../journal.ts';
import type { JsonObject } from './jsonPath.ts';
import type { ArmResource, ResourceChange, ResourceStore } from './resourceStore.ts';

const NAME = 'nodewrightAzure';
const VERSION = 1;

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
        if (!isHeader) apply(line as ResourceChange, store);
      },
      snapshot: () => everything(store),
    });
    this.stopListening = store.subscribe((change) => this.journal.append(change));
  }

  close(): void {
    this.stopListening();
    this.journal.close();
  }
}

function apply(change: ResourceChange, store: ResourceStore): void {
  if ('removed' in change) store.delete(change.removed);
  else store.putSecretly(change.resource, change.secrets);
}

function* everything(store: ResourceStore): Iterable<{ resource: ArmResource; secrets: JsonObject | undefined }> {
  for (const resource of store.all()) yield { resource, secrets: store.secretsOf(resource.id) };
}
