/**
 * The life of namespaces. In: the store's changes. Out: the four that every cluster has, a default service account in
 * each, and a terminating namespace emptied and then removed.
 */
import type { Clock } from '../../clock/clock.ts';
import { deleteObject } from './deletion.ts';
import { listAt, textAt, type ApiObject } from './fields.ts';
import { isFinished, type Objects } from './objects.ts';
import type { Resource } from './resource.ts';

const NAMESPACES = 'namespaces';
const INITIAL = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];
const WRITE = { fieldManager: 'nodewright-local', dryRun: false, fieldValidation: 'Ignore' } as const;

export class NamespaceLifecycle {
  private readonly objects: Objects;
  private readonly clock: Clock;
  private readonly terminating = new Set<string>();
  private scheduled = false;
  private readonly stopListening: () => void;

  constructor(objects: Objects, clock: Clock) {
    this.objects = objects;
    this.clock = clock;
    this.stopListening = objects.store.subscribe((event, table) => {
      if (table.id === NAMESPACES) {
        const { name } = event.object.metadata;
        if (event.type === 'ADDED') this.furnish(name);
        if (event.type === 'DELETED') this.terminating.delete(name);
        else if (event.object.metadata.deletionTimestamp !== undefined) {
          this.terminating.add(name);
          this.schedule();
        }
      } else if (event.type === 'DELETED' && this.terminating.has(event.object.metadata.namespace ?? '')) {
        this.schedule();
      }
    });
    this.resume();
  }

  /** Takes up what an earlier process left half done. */
  private resume(): void {
    for (const { metadata } of this.objects.store.table('', NAMESPACES).values()) {
      if (metadata.deletionTimestamp !== undefined) this.terminating.add(metadata.name);
    }
    if (this.terminating.size > 0) this.schedule();
  }

  createInitial(): void {
    const namespaces = this.resource('', 'v1', NAMESPACES);
    const table = this.objects.tableOf(namespaces);
    for (const name of INITIAL) {
      if (table.get(name) === undefined) this.objects.create(namespaces, undefined, { metadata: { name } }, WRITE);
    }
  }

  stop(): void {
    this.stopListening();
  }

  private furnish(namespace: string): void {
    this.objects.create(
      this.resource('', 'v1', 'serviceaccounts'),
      namespace,
      { metadata: { name: 'default' } },
      WRITE,
    );
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    queueMicrotask(() => {
      this.scheduled = false;
      for (const name of Array.from(this.terminating)) this.empty(name);
    });
  }

  private empty(namespace: string): void {
    let left = 0;
    const seen = new Set<string>();
    for (const resource of this.objects.catalog.all()) {
      const id = `${resource.storage.plural}.${resource.storage.group}`;
      if (!resource.namespaced || seen.has(id)) continue;
      seen.add(id);
      const table = this.objects.tableOf(resource);
      for (const object of table.page({ namespace }).items) {
        // Ends by itself, or by its kubelet, once it has been asked to.
        if (object.metadata.deletionTimestamp === undefined) {
          const { name } = object.metadata;
          deleteObject(this.objects, resource, namespace, name, { propagationPolicy: 'Background' }, this.clock.now());
        }
      }
      left += table.page({ namespace }).items.length;
    }
    if (left === 0) this.finish(namespace);
  }

  private finish(name: string): void {
    const table = this.objects.tableOf(this.resource('', 'v1', NAMESPACES));
    const namespace = table.get(name);
    if (namespace === undefined) return;
    const finished: ApiObject = withoutOwnFinalizer(namespace);
    if (isFinished(finished)) table.remove(name, finished);
    else if (listAt(namespace, 'spec', 'finalizers').length > 0) table.put(name, finished);
    this.terminating.delete(name);
  }

  private resource(group: string, version: string, plural: string): Resource {
    const resource = this.objects.catalog.find(group, version, plural);
    if (resource === undefined) throw new Error(`${plural} are not served`);
    return resource;
  }
}

function withoutOwnFinalizer(namespace: ApiObject): ApiObject {
  const finalizers = listAt(namespace, 'spec', 'finalizers').filter((finalizer) => finalizer !== 'kubernetes');
  const phase = textAt(namespace, 'status', 'phase') ?? 'Terminating';
  return {
    ...namespace,
    metadata: { ...namespace.metadata },
    spec: finalizers.length === 0 ? {} : { finalizers },
    status: { phase },
  };
}
