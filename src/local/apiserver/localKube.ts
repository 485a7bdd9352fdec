/**
 * The `Kube` port without a network: the same operations as `HttpKube`, directly on the server's objects. Results are
 * frozen: copy one before changing it.
 */
import { apiVersionOf, type KubeList, type KubeObject, type ResourceKind } from '../../api/object.ts';
import type {
  DeleteOptions,
  Draft,
  GetOptions,
  Kube,
  ListOptions,
  ObjectRef,
  Patch,
  PatchOptions,
  SubresourceOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from '../../kube/kube.ts';
import { deleteObject } from './deletion.ts';
import type { ApiObject, Fields } from './fields.ts';
import type { Objects } from './objects.ts';
import type { Target } from './resource.ts';
import { patchObject } from './patch/patchObject.ts';
import { listObjects, watchObjects } from './reading.ts';
import type { Resource } from './resource.ts';
import { badRequest, unknownPath } from './status.ts';
import { bindPod, evictPod, readScale, writeScale } from './subresources.ts';
import type { ServedEvent } from './watch.ts';
import type { WriteRequest } from './writeRequest.ts';

const DEFAULT_MANAGER = 'nodewright';

export class LocalKube implements Kube {
  private readonly objects: Objects;
  private readonly rawGet: (path: string) => Promise<unknown>;

  /** `rawGet`: GET of a path that is not of an object, such as discovery, health or version. */
  constructor(objects: Objects, rawGet: (path: string) => Promise<unknown>) {
    this.objects = objects;
    this.rawGet = rawGet;
  }

  async get<T extends KubeObject>(kind: ResourceKind<T>, ref: ObjectRef, options: GetOptions = {}): Promise<T> {
    options.signal?.throwIfAborted();
    const target = this.target(kind, ref);
    const object = this.objects.get(target);
    return typed<T>(options.subresource === 'scale' ? readScale(target.resource, object) : object);
  }

  async list<T extends KubeObject>(kind: ResourceKind<T>, options: ListOptions = {}): Promise<KubeList<T>> {
    options.signal?.throwIfAborted();
    const resource = this.resource(kind);
    const request = { ...options, namespace: scopeOf(resource, options.namespace, false) };
    const { items, metadata } = listObjects(this.objects, resource, request);
    return { apiVersion: apiVersionOf(kind), kind: resource.listKind, metadata, items: items as unknown as T[] };
  }

  async *watch<T extends KubeObject>(kind: ResourceKind<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>> {
    const resource = this.resource(kind);
    const request = { ...options, namespace: scopeOf(resource, options.namespace, false) };
    for await (const event of watchObjects(this.objects, resource, request)) {
      yield toWatchEvent<T>(event);
    }
  }

  async create<T extends KubeObject>(kind: ResourceKind<T>, object: Draft<T>, options: WriteOptions = {}): Promise<T> {
    options.signal?.throwIfAborted();
    const resource = this.resource(kind);
    const namespace = scopeOf(resource, object.metadata.namespace, true);
    return typed<T>(this.objects.create(resource, namespace, object as unknown as Fields, writeRequest(options)));
  }

  async replace<T extends KubeObject>(kind: ResourceKind<T>, object: T, options: SubresourceOptions = {}): Promise<T> {
    options.signal?.throwIfAborted();
    const target = this.target(kind, object.metadata);
    const request = writeRequest(options);
    const body = object as unknown as Fields;
    return typed<T>(
      options.subresource === 'scale'
        ? writeScale(this.objects, target, request, () => body)
        : this.objects.update(target, request, () => body),
    );
  }

  async patch<T extends KubeObject>(
    kind: ResourceKind<T>,
    ref: ObjectRef,
    patch: Patch,
    options: PatchOptions = {},
  ): Promise<T> {
    options.signal?.throwIfAborted();
    const { object } = patchObject(this.objects, this.target(kind, ref), {
      ...writeRequest(options),
      type: patch.type,
      body: patch.body,
      force: options.force ?? false,
    });
    return typed<T>(object);
  }

  async delete(
    kind: ResourceKind<KubeObject>,
    ref: ObjectRef,
    options: DeleteOptions = {},
  ): Promise<KubeObject | undefined> {
    options.signal?.throwIfAborted();
    const { object, gone } = deleteObject(this.objects, this.target(kind, ref), options);
    return gone ? undefined : typed<KubeObject>(object);
  }

  async deleteCollection(kind: ResourceKind<KubeObject>, options: ListOptions & DeleteOptions): Promise<void> {
    options.signal?.throwIfAborted();
    const resource = this.resource(kind);
    const { preconditions: _none, ...rest } = options;
    const request = { ...rest, namespace: scopeOf(resource, options.namespace, false) };
    for (const { metadata } of listObjects(this.objects, resource, request).items) {
      deleteObject(this.objects, { resource, namespace: metadata.namespace, name: metadata.name }, rest);
    }
  }

  async evict(pod: ObjectRef, options: DeleteOptions = {}): Promise<void> {
    options.signal?.throwIfAborted();
    evictPod(this.objects, this.pod(pod), options);
  }

  async bind(pod: ObjectRef, node: string, options: WriteOptions = {}): Promise<void> {
    options.signal?.throwIfAborted();
    const binding = { target: { kind: 'Node', name: node } };
    bindPod(this.objects, this.pod(pod), binding, options.dryRun ?? false);
  }

  async raw(path: string, options: { readonly signal?: AbortSignal } = {}): Promise<unknown> {
    options.signal?.throwIfAborted();
    return await this.rawGet(path);
  }

  private resource(kind: ResourceKind<KubeObject>): Resource {
    const resource = this.objects.catalog.find(kind.group, kind.version, kind.plural);
    if (resource === undefined) throw unknownPath();
    return resource;
  }

  private target(kind: ResourceKind<KubeObject>, { namespace, name }: ObjectRef): Target {
    const resource = this.resource(kind);
    return { resource, namespace: scopeOf(resource, namespace, true), name };
  }

  private pod({ namespace, name }: ObjectRef): Target {
    return { resource: this.objects.builtin('', 'pods'), namespace, name };
  }
}

/** Returns the namespace of a request: undefined for cluster-scoped kinds and for lists of all namespaces. */
function scopeOf(resource: Resource, namespace: string | undefined, single: boolean): string | undefined {
  if (!resource.namespaced) return undefined;
  if (namespace !== undefined && namespace !== '') return namespace;
  if (single) throw badRequest(`a namespace is required for ${resource.plural}`);
  return undefined;
}

function writeRequest(options: SubresourceOptions): WriteRequest {
  return {
    fieldManager: options.fieldManager ?? DEFAULT_MANAGER,
    dryRun: options.dryRun ?? false,
    fieldValidation: 'Ignore',
    subresource: options.subresource,
  };
}

function typed<T extends KubeObject>(object: ApiObject): T {
  return object as unknown as T;
}

function toWatchEvent<T extends KubeObject>(event: ServedEvent): WatchEvent<T> {
  if (event.type !== 'BOOKMARK') return { type: event.type, object: typed<T>(event.object) };
  return {
    type: 'BOOKMARK',
    object: {
      metadata: {
        resourceVersion: String(event.revision),
        ...(event.initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
      },
    },
  };
}
