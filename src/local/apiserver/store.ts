/**
 * The server's memory: objects, frozen, each with the revision of its last write, and per resource a bounded history
 * from which watches resume and older lists are rebuilt. One counter orders every write of every resource. Writes are
 * synchronous, so a read followed by a write in the same turn is a transaction. Objects are never copied on read.
 */
import { deepFreeze, type ApiObject } from './fields.ts';
import { firstAfter, firstIndex, SortedKeys } from './sortedKeys.ts';
import { expired, tooOld, versionAhead } from './status.ts';

export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: ApiObject;
  /** What the write replaced or removed. */
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
  /** Rebuild the list as it was at this revision. */
  readonly revision?: number | undefined;
}

export function keyOf(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}

type Listener = (event: StoreEvent, table: Table) => void;

export class Store {
  revision = 0;
  /** Events kept per resource before the oldest are forgotten. */
  readonly historyLimit: number;
  /** How often the server has started anew; a watch ends when it grows. */
  starts = 0;
  private readonly tables = new Map<string, Table>();
  private readonly listeners = new Set<Listener>();
  /** Nothing is remembered of what happened up to here, in whichever table. */
  private forgotten = 0;

  constructor({ historyLimit }: { readonly historyLimit: number }) {
    this.historyLimit = historyLimit;
  }

  /** All objects of one group and plural, whatever the API version. */
  table(group: string, plural: string): Table {
    return this.tableNamed(group === '' ? plural : `${plural}.${group}`);
  }

  /** By its own name: `pods`, `deployments.apps`. */
  tableNamed(id: string): Table {
    let table = this.tables.get(id);
    if (table === undefined) {
      table = new Table(id, this, this.forgotten);
      this.tables.set(id, table);
    }
    return table;
  }

  allTables(): Iterable<Table> {
    return this.tables.values();
  }

  /** Ends every watch, as the end of a server's process does. */
  endWatches(): void {
    this.starts += 1;
    for (const table of this.allTables()) table.wakeAll();
  }

  /** Goes on counting from where an earlier process stopped; what came before is not remembered. */
  resumeAt(revision: number): void {
    this.revision = Math.max(this.revision, revision);
    this.compact();
  }

  /** Calls `listener` inside each write, before the writer goes on. Returns the way to stop. */
  subscribe(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  announce(event: StoreEvent, table: Table): void {
    for (const listener of this.listeners) listener(event, table);
  }

  /** Forgets all history, as etcd does when it compacts: older watches and pages get 410. */
  compact(): void {
    this.forgotten = this.revision;
    for (const table of this.tables.values()) table.compact();
  }
}

export class Table {
  readonly id: string;
  private readonly objects = new Map<string, ApiObject>();
  private readonly keys = new SortedKeys();
  private events: StoreEvent[] = [];
  private forgotten: number;
  private readonly waiting = new Set<() => void>();
  private readonly store: Store;

  constructor(id: string, store: Store, forgotten: number) {
    this.id = id;
    this.store = store;
    this.forgotten = forgotten;
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

  /** Puts back an object of an earlier process as it was, its revision included. */
  restore(key: string, object: ApiObject): void {
    const revision = Number(object.metadata.resourceVersion ?? 0);
    deepFreeze(object);
    this.objects.set(key, object);
    this.keys.add(key);
    this.append({ type: 'ADDED', object, previous: undefined, key, revision });
  }

  /** Creates or replaces. `object` becomes the store's: it is stamped with its revision and frozen. */
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

  /** Removes; the answer and the event carry the object's last state at the revision of its removal. */
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

  /** Events after `revision`, oldest first; 410 when some of them are forgotten. */
  eventsAfter(revision: number): readonly StoreEvent[] {
    if (revision < this.forgotten) throw tooOld(revision, this.forgotten);
    const first = this.events[0];
    if (first === undefined || first.revision > revision) return this.events;
    const next = firstIndex(this.events, (event) => event.revision > revision);
    return next >= this.events.length ? [] : this.events.slice(next);
  }

  /** Calls `wake` at the next write, once. Returns the way to stop waiting. */
  onNextWrite(wake: () => void): () => void {
    this.waiting.add(wake);
    return () => this.waiting.delete(wake);
  }

  compact(): void {
    this.events = [];
    this.forgotten = this.store.revision;
    this.wakeAll();
  }

  private append(event: StoreEvent): void {
    this.events.push(event);
    // Dropping half at a time keeps the cost of forgetting constant per write.
    if (this.events.length >= 2 * this.store.historyLimit) {
      this.forgotten = this.events[this.events.length - this.store.historyLimit - 1]?.revision ?? this.forgotten;
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

  /** What each key held at `revision`, for the keys written since; `undefined` means it did not exist. */
  private undo(revision: number): Map<string, ApiObject | undefined> {
    if (revision < this.forgotten) throw expired('The resourceVersion for the provided list is too old.');
    const undone = new Map<string, ApiObject | undefined>();
    for (const event of this.eventsAfter(revision)) if (!undone.has(event.key)) undone.set(event.key, event.previous);
    return undone;
  }

  private keysAt(undone: ReadonlyMap<string, ApiObject | undefined>): readonly string[] {
    const keys = this.keys.sorted();
    const removed = [...undone.keys()].filter((key) => undone.get(key) !== undefined && !this.objects.has(key));
    // Some of them may not have been swept out yet.
    return removed.length === 0 ? keys : [...new Set([...keys, ...removed])].sort();
  }
}
