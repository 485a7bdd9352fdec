/**
 * Keeps a cluster between processes: a journal of every write to the store, from which a later process restores the
 * objects and their revisions.
 */
import { Journal } from '../journal.ts';
import type { ApiObject } from './fields.ts';
import type { Store, StoreEvent, Table } from './store.ts';

const NAME = 'nodewrightState';
const VERSION = 1;

/** `object` is absent if the key was removed. */
interface Line {
  readonly table: string;
  readonly key: string;
  readonly revision: number;
  readonly object?: ApiObject;
}

/** Restores the objects of the file into an empty store, then records every write. Returns a function that stops this. */
export function keepState(path: string, store: Store): () => void {
  const found = new Map<string, Line>();
  let revision = 0;
  const journal = new Journal({
    path,
    name: NAME,
    version: VERSION,
    // The revision of the snapshot that the file starts with.
    header: () => ({ revision: store.revision }),
    take: (value, isHeader) => {
      const line = value as unknown as Line;
      revision = Math.max(revision, line.revision);
      if (isHeader) return;
      const id = `${line.table} ${line.key}`;
      if (line.object === undefined) found.delete(id);
      else found.set(id, line);
    },
    taken: () => {
      for (const { table, key, object } of [...found.values()].sort((left, right) => left.revision - right.revision)) {
        if (object !== undefined) store.tableNamed(table).restore(key, object);
      }
      if (revision > 0) store.resumeAt(revision);
    },
    snapshot: () => everything(store),
  });
  const stopListening = store.subscribe((event, table) => journal.append(lineOf(event, table)));
  return () => {
    stopListening();
    journal.close();
  };
}

function lineOf(event: StoreEvent, table: Table): Line {
  return {
    table: table.id,
    key: event.key,
    revision: event.revision,
    ...(event.type === 'DELETED' ? {} : { object: event.object }),
  };
}

function* everything(store: Store): Iterable<Line> {
  for (const table of store.allTables()) {
    for (const [key, object] of table.entries()) {
      yield { table: table.id, key, revision: Number(object.metadata.resourceVersion ?? 0), object };
    }
  }
}
