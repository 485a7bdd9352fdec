/**
 * `Kube` over HTTP: API calls with current credentials, a client-side rate limit, timeouts and safe retries. Every
 * failure is a `KubeError`, except an abort, which throws the signal's own reason.
 */
import { apiVersionOf, type KubeList, type KubeObject, type ResourceKind } from '../api/object.ts';
import { isGone } from './deletion.ts';
import { Kinds } from '../api/kinds.ts';
import type {
  DeleteOptions,
  Draft,
  GetOptions,
  ListOptions,
  ObjectRef,
  Patch,
  PatchOptions,
  SubresourceOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './kube.ts';
import { decodeList, type ListMetadata } from './decodeList.ts';
import { HttpSession, type ApiRequest, type HttpSessionOptions } from './httpSession.ts';
import type { ItemwiseKube } from './itemwiseKube.ts';
import {
  collectionPath,
  deleteBody,
  listQuery,
  objectPath,
  requireNamespace,
  watchQuery,
  writeQuery,
} from './resourcePath.ts';
import { readWatchStream } from './watchStream.ts';

const PATCH_CONTENT_TYPES: Readonly<Record<Patch['type'], string>> = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
};

export class HttpKube implements ItemwiseKube {
  private readonly session: HttpSession;

  constructor(options: HttpSessionOptions) {
    this.session = new HttpSession(options);
  }

  async get<T extends KubeObject>(kind: ResourceKind<T>, ref: ObjectRef, options: GetOptions = {}): Promise<T> {
    const path = objectPath(kind, ref, options.subresource, { resourceVersion: options.resourceVersion });
    return this.json<T>({ method: 'GET', path, ...(options.isUrgent && { isUrgent: true }) }, options.signal);
  }

  async list<T extends KubeObject>(kind: ResourceKind<T>, options: ListOptions = {}): Promise<KubeList<T>> {
    const path = collectionPath(kind, options.namespace, listQuery(options));
    return this.json<KubeList<T>>({ method: 'GET', path }, options.signal);
  }

  listEach<T extends KubeObject>(
    kind: ResourceKind<T>,
    options: ListOptions,
    visit: (item: T) => void,
  ): Promise<ListMetadata> {
    const path = collectionPath(kind, options.namespace, listQuery(options));
    return this.session.send({ method: 'GET', path }, options.signal, ({ body }) =>
      decodeList<T>(Buffer.concat(body), visit),
    );
  }

  watch<T extends KubeObject>(kind: ResourceKind<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>> {
    const path = collectionPath(kind, options.namespace, watchQuery(options));
    return readWatchStream<T>(this.session.stream(path, options.signal), options.signal);
  }

  async create<T extends KubeObject>(kind: ResourceKind<T>, object: Draft<T>, options: WriteOptions = {}): Promise<T> {
    const namespace = requireNamespace(kind, object.metadata.namespace, object.metadata.name);
    const path = collectionPath(kind, namespace, writeQuery(options));
    return this.json<T>({ method: 'POST', path, body: typed(kind, object) }, options.signal);
  }

  async replace<T extends KubeObject>(kind: ResourceKind<T>, object: T, options: SubresourceOptions = {}): Promise<T> {
    const path = objectPath(kind, object.metadata, options.subresource, writeQuery(options));
    return this.json<T>({ method: 'PUT', path, body: typed(kind, object) }, options.signal);
  }

  async patch<T extends KubeObject>(
    kind: ResourceKind<T>,
    ref: ObjectRef,
    patch: Patch,
    options: PatchOptions = {},
  ): Promise<T> {
    const apply = patch.type === 'apply';
    const path = objectPath(kind, ref, options.subresource, {
      ...writeQuery(options),
      // The server requires a field manager for apply; for other writes it uses the user agent's first word.
      ...(apply ? { fieldManager: options.fieldManager ?? this.session.product, force: options.force } : {}),
    });
    return this.json<T>(
      {
        method: 'PATCH',
        path,
        body: apply ? typed(kind, patch.body) : patch.body,
        contentType: PATCH_CONTENT_TYPES[patch.type],
        // A JSON patch is not idempotent: appending to a list twice adds two entries.
        repeatable: patch.type !== 'json',
        ...(options.isUrgent && { isUrgent: true }),
      },
      options.signal,
    );
  }

  async delete(
    kind: ResourceKind<KubeObject>,
    ref: ObjectRef,
    options: DeleteOptions = {},
  ): Promise<KubeObject | undefined> {
    const request: ApiRequest = { method: 'DELETE', path: objectPath(kind, ref), body: deleteBody(options) };
    const answer = await this.json<KubeObject>(request, options.signal);
    // An immediate deletion is answered with a Status; a few kinds answer with the last version of the object.
    return answer.kind === kind.kind && !isGone(answer) ? answer : undefined;
  }

  async deleteCollection(kind: ResourceKind<KubeObject>, options: ListOptions & DeleteOptions): Promise<void> {
    const path = collectionPath(kind, options.namespace, listQuery(options));
    await this.json({ method: 'DELETE', path, body: deleteBody(options) }, options.signal);
  }

  async evict(pod: ObjectRef, options: DeleteOptions = {}): Promise<void> {
    const path = objectPath(Kinds.Pod, pod, 'eviction', { dryRun: options.dryRun === true ? 'All' : undefined });
    const deleteOptions = deleteBody(options);
    const body = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: pod.name, namespace: pod.namespace },
      ...(deleteOptions === undefined ? {} : { deleteOptions }),
    };
    // A 429 here comes from a PodDisruptionBudget, not from a busy server: the caller decides when to retry.
    await this.json({ method: 'POST', path, body, retryRefusals: false }, options.signal);
  }

  async bind(pod: ObjectRef, node: string, options: WriteOptions = {}): Promise<void> {
    const path = objectPath(Kinds.Pod, pod, 'binding', writeQuery(options));
    const body = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: pod.name, namespace: pod.namespace },
      target: { apiVersion: 'v1', kind: 'Node', name: node },
    };
    await this.json({ method: 'POST', path, body }, options.signal);
  }

  raw(path: string, options: { readonly signal?: AbortSignal } = {}): Promise<unknown> {
    return this.session.send({ method: 'GET', path: path.startsWith('/') ? path : `/${path}` }, options.signal);
  }

  /** Waits for pending requests, ends watches, closes connections. */
  close(): Promise<void> {
    return this.session.close();
  }

  private async json<T>(request: ApiRequest, signal: AbortSignal | undefined): Promise<T> {
    return (await this.session.send(request, signal)) as T;
  }
}

/** The object with the apiVersion and kind that the server requires. */
function typed(kind: ResourceKind<KubeObject>, object: object): object {
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, ...object };
}
