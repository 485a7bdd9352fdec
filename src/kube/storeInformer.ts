/** A local copy of one kind, kept current by a reflector: `store` for reading, and events to subscribe to. */
import { InvariantError } from '../errors/invariantError.ts';
import { apiVersionOf, type KubeObject, type ResourceKind } from '../api/object.ts';
import type { ObjectRef } from './kube.ts';
import { Reflector, type ReflectorOptions, type Sink } from './reflector.ts';
import { Store, type ReadonlyStore } from './store.ts';
import type { Transform } from './trim.ts';

export type InformerEvent<T> =
  | { readonly type: 'added'; readonly object: T }
  | { readonly type: 'updated'; readonly object: T; readonly old: T }
  | { readonly type: 'deleted'; readonly object: T };

export interface Informer<T extends KubeObject> {
  readonly kind: ResourceKind<T>;
  readonly store: ReadonlyStore<T>;
  /**
   * Calls `listener` with all existing objects, as `added`, and then with every change. Returns a function to
   * unsubscribe.
   */
  subscribe(listener: (event: InformerEvent<T>) => void): () => void;
  /** The store has been complete at least once. */
  readonly hasSynced: boolean;
  /** Resolves when `hasSynced`; rejects with the signal's reason if that aborts first. */
  synced(signal?: AbortSignal): Promise<void>;
  /** Follows the API server until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

type Listener<T> = (event: InformerEvent<T>) => void;

export class StoreInformer<T extends KubeObject> implements Informer<T>, Sink<T> {
  readonly kind: ResourceKind<T>;
  readonly store = new Store<T>();
  private readonly transform: Transform<T>;
  private readonly reflector: Reflector<T>;
  private readonly onError: (error: unknown) => void;
  private readonly apiVersion: string;
  private readonly syncWaiters = new Set<() => void>();
  private listeners: readonly Listener<T>[] = [];
  /** Objects contained in the running list; undefined when the store was empty before it. */
  private named: Set<T> | undefined;
  private isSynced = false;
  private running = false;

  constructor(options: Omit<ReflectorOptions<T>, 'sink'> & { readonly transform: Transform<T> }) {
    const { transform, ...reflection } = options;
    this.kind = options.kind;
    this.apiVersion = apiVersionOf(options.kind);
    this.transform = transform;
    this.onError = options.onError;
    this.reflector = new Reflector<T>({ ...reflection, sink: this });
  }

  get hasSynced(): boolean {
    return this.isSynced;
  }

  subscribe(listener: Listener<T>): () => void {
    for (const object of this.store.list()) this.tell(listener, { type: 'added', object });
    this.listeners = [...this.listeners, listener];
    return () => {
      this.listeners = this.listeners.filter((other) => other !== listener);
    };
  }

  synced(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.isSynced) return resolve();
      if (signal?.aborted) return reject(signal.reason as Error);
      const onAbort = (): void => {
        this.syncWaiters.delete(onSync);
        reject(signal?.reason as Error);
      };
      const onSync = (): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      this.syncWaiters.add(onSync);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.running) throw new InvariantError(`the informer of ${this.kind.plural} is already running`);
    this.running = true;
    try {
      await this.reflector.run(signal);
    } finally {
      this.running = false;
    }
  }

  begin(): void {
    this.named = this.store.size === 0 ? undefined : new Set();
  }

  upsert(received: T): void {
    const old = this.store.get(received.metadata);
    const same = old !== undefined && old.metadata.uid === received.metadata.uid;
    if (same && old.metadata.resourceVersion === received.metadata.resourceVersion) {
      this.named?.add(old);
      return;
    }
    const object = this.keep(received, same ? old : undefined);
    this.store.set(object);
    this.named?.add(object);
    if (same) this.emit({ type: 'updated', object, old });
    else {
      // A new object of the same name: subscribers that track the old one must learn that it is gone.
      if (old !== undefined) this.emit({ type: 'deleted', object: old });
      this.emit({ type: 'added', object });
    }
  }

  remove(received: T): void {
    const old = this.store.delete(received.metadata);
    if (old === undefined) return;
    const same = old.metadata.uid === received.metadata.uid;
    this.emit({ type: 'deleted', object: same ? this.keep(received, old) : old });
  }

  complete(): void {
    const named = this.named;
    this.named = undefined;
    if (named !== undefined) {
      const gone = [...this.store.list()].filter((object) => !named.has(object));
      for (const object of gone) {
        this.store.delete(object.metadata satisfies ObjectRef);
        this.emit({ type: 'deleted', object });
      }
    }
    this.isSynced = true;
    for (const resolve of this.syncWaiters) resolve();
    this.syncWaiters.clear();
  }

  /** Items of a list come without apiVersion and kind, those of a watch with them; here all have them. */
  private keep(received: T, previous: T | undefined): T {
    const object =
      received.kind === undefined ? { apiVersion: this.apiVersion, kind: this.kind.kind, ...received } : received;
    try {
      return this.transform(object, previous);
    } catch (error) {
      // Keep the untrimmed object rather than none.
      this.onError(error);
      return object;
    }
  }

  private emit(event: InformerEvent<T>): void {
    for (const listener of this.listeners) this.tell(listener, event);
  }

  private tell(listener: Listener<T>, event: InformerEvent<T>): void {
    try {
      listener(event);
    } catch (error) {
      this.onError(error);
    }
  }
}
