/**
 * The server's storage: frozen objects with the revision of their last write and, per table, a bounded history from
 * which watches resume and older lists are rebuilt. Revisions are numbered over all tables. Writes are synchronous, so a
 * read and a write without `await` between them are a transaction. Reads do not copy.
 */
import { deepFreeze, type ApiObject } from './fields.ts';
import { firstAfter, firstIndex, SortedKeys } from './sortedKeys.ts';
import { expired, tooOld, versionAhead } from './status.ts';

export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: ApiObject;
  /** The object that the write replaced or removed. */
  readonly previous: ApiObject | undefined;
  readonly key: string;
  readonly revision: number;
}

export interface Page {
  readonly items: ApiObject[];
  readonly revision: number;
  /** The key after which the next page starts. */
  readonly next: string | undefined;
  readonly remaining: number;
}

export interface PageRequest {
  readonly namespace?: string | undefined;
  readonly matches?: ((object: ApiObject) => boolean) | undefined;
  readonly limit?: number | undefined;
  readonly after?: string | undefined;
  /** Lists the objects at this revision. */
  readonly revision?: number | undefined;
}

export function keyOf(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}

type Listener = (event: StoreEvent, table: Table) => void;

export class Store {
  revision = 0;
  /** Minimum number of events kept per table. */
  readonly historyLimit: number;
  /** Number of restarts of the server; watches end when it is incremented. */
  starts = 0;
  private readonly tables = new Map<string, Table>();
  private readonly listeners = new Set<Listener>();
  /** Revision of the last compaction of all tables: history starts after it. */
  private compacted = 0;

  constructor({ historyLimit }: { readonly historyLimit: number }) {
    this.historyLimit = historyLimit;
  }

  /** Returns the table of a group and plural, which contains the objects of all API versions. */
  table(group: string, plural: string): Table {
    return this.tableNamed(group === '' ? plural : `${plural}.${group}`);
  }

  /** Returns a table by its id: `pods`, `deployments.apps`. */
  tableNamed(id: string): Table {
    let table = this.tables.get(id);
    if (table === undefined) {
      table = new Table(id, this, this.compacted);
      this.tables.set(id, table);
    }
    return table;
  }

  allTables(): Iterable<Table> {
    return this.tables.values();
  }

  /** Ends every watch, like the end of a server's process. */
  endWatches(): void {
    this.starts += 1;
    for (const table of this.allTables()) table.wakeAll();
  }

  /** Continues with the revision of an earlier process, without its history. */
  resumeAt(revision: number): void {
    this.revision = Math.max(this.revision, revision);
    this.compact();
  }

  /** Calls `listener` synchronously in each write. Returns a function that stops that. */
  subscribe(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  announce(event: StoreEvent, table: Table): void {
    for (const listener of this.listeners) listener(event, table);
  }

  /** Drops all history, like etcd's compaction: older watches and pages get 410. */
  compact(): void {
    this.compacted = this.revision;
    for (const table of this.tables.values()) table.compact();
  }
}

export class Table {
  readonly id: string;
  private readonly objects = new Map<string, ApiObject>();
  private readonly keys = new SortedKeys();
  private events: StoreEvent[] = [];
  private compacted: number;
  private readonly waiting = new Set<() => void>();
  private readonly store: Store;

  constructor(id: string, store: Store, compacted: number) {
    this.id = id;
    this.store = store;
    this.compacted = compacted;
  }

  get size(): number {
    return this.objects.size;
  }

  get(key: string): ApiObject | undefined {
    return this.objects.get(key);
  }

  values(): IterableIterator<ApiObject> {
    return this.objects.values();
  }

  entries(): IterableIterator<[string, ApiObject]> {
    return this.objects.entries();
  }

  /** Restores an object of an earlier process with its revision. */
  restore(key: string, object: ApiObject): void {
    const revision = Number(object.metadata.resourceVersion ?? 0);
    deepFreeze(object);
    this.objects.set(key, object);
    this.keys.add(key);
    this.append({ type: 'ADDED', object, previous: undefined, key, revision });
  }

  /** Creates or replaces an object. The store takes over `object`: sets its resourceVersion and freezes it. */
  put(key: string, object: ApiObject): ApiObject {
    const previous = this.objects.get(key);
    const revision = ++this.store.revision;
    object.metadata.resourceVersion = String(revision);
    deepFreeze(object);
    this.objects.set(key, object);
    if (previous === undefined) this.keys.add(key);
    this.append({ type: previous === undefined ? 'ADDED' : 'MODIFIED', object, previous, key, revision });
    return object;
  }

  /** Removes an object. The result and the event are its last state with the revision of the removal. */
  remove(key: string, last: ApiObject): ApiObject {
    const previous = this.objects.get(key);
    if (previous === undefined) return last;
    const revision = ++this.store.revision;
    const object = deepFreeze({ ...last, metadata: { ...last.metadata, resourceVersion: String(revision) } });
    this.objects.delete(key);
    this.keys.remove(key);
    this.append({ type: 'DELETED', object, previous, key, revision });
    return object;
  }

  page(request: PageRequest = {}): Page {
    const now = this.store.revision;
    const revision = request.revision ?? now;
    if (revision > now) throw versionAhead(revision, now);
    const undone = revision === now ? undefined : this.undo(revision);
    const keys = undone === undefined ? this.keys.sorted() : this.keysAt(undone);
    const prefix = request.namespace === undefined ? '' : `${request.namespace}/`;
    const limit = request.limit === undefined || request.limit <= 0 ? Infinity : request.limit;
    const items: ApiObject[] = [];
    let index = firstAfter(keys, request.after ?? prefix, request.after === undefined);
    let last: string | undefined;
    let remaining = 0;
    for (; index < keys.length; index++) {
      const key = keys[index];
      if (key === undefined || !key.startsWith(prefix)) break;
      const object = undone?.has(key) === true ? undone.get(key) : this.objects.get(key);
      if (object === undefined || (request.matches !== undefined && !request.matches(object))) continue;
      if (items.length >= limit) {
        remaining++;
        continue;
      }
      items.push(object);
      last = key;
    }
    return { items, revision, next: remaining > 0 ? last : undefined, remaining };
  }

  /** Returns the events after `revision`, oldest first; throws 410 if some of them have been dropped. */
  eventsAfter(revision: number): readonly StoreEvent[] {
    if (revision < this.compacted) throw tooOld(revision, this.compacted);
    const first = this.events[0];
    if (first === undefined || first.revision > revision) return this.events;
    const next = firstIndex(this.events, (event) => event.revision > revision);
    return next >= this.events.length ? [] : this.events.slice(next);
  }

  /** Calls `wake` once, at the next write. Returns a function that cancels that. */
  onNextWrite(wake: () => void): () => void {
    this.waiting.add(wake);
    return () => this.waiting.delete(wake);
  }

  compact(): void {
    this.events = [];
    this.compacted = this.store.revision;
    this.wakeAll();
  }

  private append(event: StoreEvent): void {
    this.events.push(event);
    // Dropping half of the events at a time costs constant time per write.
    if (this.events.length >= 2 * this.store.historyLimit) {
      this.compacted = this.events[this.events.length - this.store.historyLimit - 1]?.revision ?? this.compacted;
      this.events = this.events.slice(-this.store.historyLimit);
    }
    this.store.announce(event, this);
    this.wakeAll();
  }

  wakeAll(): void {
    if (this.waiting.size === 0) return;
    const woken = [...this.waiting];
    this.waiting.clear();
    for (const wake of woken) wake();
  }

  /** Returns the objects at `revision` of the keys written since; undefined for those that did not exist. */
  private undo(revision: number): Map<string, ApiObject | undefined> {
    if (revision < this.compacted) throw expired('The resourceVersion for the provided list is too old.');
    const undone = new Map<string, ApiObject | undefined>();
    for (const event of this.eventsAfter(revision)) if (!undone.has(event.key)) undone.set(event.key, event.previous);
    return undone;
  }

  private keysAt(undone: ReadonlyMap<string, ApiObject | undefined>): readonly string[] {
    const keys = this.keys.sorted();
    const removed = [...undone.keys()].filter((key) => undone.get(key) !== undefined && !this.objects.has(key));
    // `keys` may still contain some of the removed ones.
    return removed.length === 0 ? keys : [...new Set([...keys, ...removed])].sort();
  }
}
