import type { KubeList, KubeObject, ResourceKind } from '../api/object.ts';

/**
 * The API-server port, used for all reads and writes of Kubernetes. `HttpKube` connects to a real server over HTTP, the
 * local world answers from its own store. Failures are `KubeError`s (see errors.ts). Objects are raw API JSON:
 * timestamps are strings, quantities are text.
 */
export interface Kube {
  get<T extends KubeObject>(kind: ResourceKind<T>, ref: ObjectRef, options?: GetOptions): Promise<T>;
  list<T extends KubeObject>(kind: ResourceKind<T>, options?: ListOptions): Promise<KubeList<T>>;
  /** Streams changes until the server closes the stream or `signal` aborts; throws when the stream breaks. */
  watch<T extends KubeObject>(kind: ResourceKind<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>>;
  create<T extends KubeObject>(kind: ResourceKind<T>, object: Draft<T>, options?: WriteOptions): Promise<T>;
  /** PUT: fails with Conflict unless `metadata.resourceVersion` is current or absent. */
  replace<T extends KubeObject>(kind: ResourceKind<T>, object: T, options?: SubresourceOptions): Promise<T>;
  patch<T extends KubeObject>(kind: ResourceKind<T>, ref: ObjectRef, patch: Patch, options?: PatchOptions): Promise<T>;
  /** Returns the object while finalizers or a grace period keep it, undefined when it is gone. */
  delete(kind: ResourceKind<KubeObject>, ref: ObjectRef, options?: DeleteOptions): Promise<KubeObject | undefined>;
  deleteCollection(kind: ResourceKind<KubeObject>, options: ListOptions & DeleteOptions): Promise<void>;
  /** POST pods/eviction. A refusal by a PodDisruptionBudget is a TooManyRequests error. */
  evict(pod: ObjectRef, options?: DeleteOptions): Promise<void>;
  /** POST pods/binding, as a scheduler does. */
  bind(pod: ObjectRef, node: string, options?: WriteOptions): Promise<void>;
  /** Any other request below the server's address (`/readyz`, `/version`, discovery): parsed JSON, or text. */
  raw(path: string, options?: { readonly signal?: AbortSignal }): Promise<unknown>;
}

/** Names one object. `namespace` is required for namespaced kinds. */
export interface ObjectRef {
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** An object before it is written: the server fills in the rest. */
export type Draft<T extends KubeObject> = Omit<T, 'metadata' | 'apiVersion' | 'kind'> & {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: Partial<T['metadata']>;
};

export interface GetOptions {
  readonly resourceVersion?: string;
  readonly subresource?: string;
  readonly signal?: AbortSignal;
  /** As for a write. */
  readonly isUrgent?: boolean;
}

export interface ListOptions {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan';
  readonly signal?: AbortSignal;
}

export interface WatchOptions extends Omit<ListOptions, 'limit' | 'continue'> {
  readonly allowBookmarks?: boolean;
  readonly sendInitialEvents?: boolean;
  /** Seconds after which the server ends the stream. */
  readonly timeoutSeconds?: number;
}

export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly object: { readonly metadata: BookmarkMeta } };

interface BookmarkMeta {
  readonly resourceVersion: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface WriteOptions {
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
  /** The cluster is waiting for this request: it has its own rate limit and passes requests that can wait. */
  readonly isUrgent?: boolean;
}

export interface SubresourceOptions extends WriteOptions {
  /** `status`, `scale`, … ; absent means the object itself. */
  readonly subresource?: string;
}

export interface PatchOptions extends SubresourceOptions {
  /** Server-side apply only: take over fields managed by others. */
  readonly force?: boolean;
}

export type Patch =
  | { readonly type: 'merge' | 'strategic' | 'apply'; readonly body: object }
  | { readonly type: 'json'; readonly body: readonly JsonPatchOperation[] };

export interface JsonPatchOperation {
  readonly op: 'add' | 'remove' | 'replace' | 'test' | 'move' | 'copy';
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan';
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
}
