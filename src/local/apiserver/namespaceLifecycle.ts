/**
 * The life of namespaces: the four that every cluster has, a default service account in each, and a terminating
 * namespace emptied and then removed.
 */
import { deleteObject } from './deletion.ts';
import { listAt, textAt, type ApiObject } from './fields.ts';
import { FollowUp } from './followUp.ts';
import { isFinished } from './objectMeta.ts';
import type { Objects } from './objects.ts';
import type { Table } from './store.ts';
import { serverWrite } from './writeRequest.ts';

const INITIAL = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];
const WRITE = serverWrite('nodewright-local');
const BACKGROUND = { propagationPolicy: 'Background' } as const;

export class NamespaceLifecycle {
  private readonly objects: Objects;
  private readonly table: Table;
  private readonly terminating = new Set<string>();
  private readonly followUp: FollowUp<string>;

  constructor(objects: Objects) {
    this.objects = objects;
    this.table = objects.store.table('', 'namespaces');
    this.followUp = new FollowUp(
      objects.store,
      (namespace) => this.empty(namespace),
      ({ type, object }, table) => {
        const { name, namespace = '' } = object.metadata;
        if (table === this.table && type === 'ADDED') this.createAccount(name);
        if (table === this.table && type === 'DELETED') this.terminating.delete(name);
        else if (table === this.table) this.noteDeletion(object);
        else if (type === 'DELETED' && this.terminating.has(namespace)) this.followUp.ask(namespace);
      },
    );
    // Takes up what an earlier process left half done.
    for (const namespace of this.table.values()) this.noteDeletion(namespace);
  }

  createInitial(): void {
    const namespaces = this.objects.builtin('', 'namespaces');
    for (const name of INITIAL) {
      if (this.table.get(name) === undefined) this.objects.create(namespaces, undefined, { metadata: { name } }, WRITE);
    }
  }

  stop(): void {
    this.followUp.stop();
  }

  private noteDeletion({ metadata }: ApiObject): void {
    if (metadata.deletionTimestamp === undefined) return;
    this.terminating.add(metadata.name);
    this.followUp.ask(metadata.name);
  }

  private createAccount(namespace: string): void {
    this.objects.create(
      this.objects.builtin('', 'serviceaccounts'),
      namespace,
      { metadata: { name: 'default' } },
      WRITE,
    );
  }

  private empty(namespace: string): void {
    if (!this.terminating.has(namespace)) return;
    let left = 0;
    const seen = new Set<Table>();
    for (const resource of this.objects.catalog.all()) {
      const table = this.objects.tableOf(resource);
      if (!resource.namespaced || seen.has(table)) continue;
      seen.add(table);
      for (const { metadata } of table.page({ namespace }).items) {
        // What has been asked to end already ends by itself, or by its kubelet.
        if (metadata.deletionTimestamp !== undefined) continue;
        deleteObject(this.objects, { resource, namespace, name: metadata.name }, BACKGROUND);
      }
      left += table.page({ namespace }).items.length;
    }
    if (left === 0) this.finish(namespace);
  }

  private finish(name: string): void {
    const namespace = this.table.get(name);
    if (namespace === undefined) return;
    const finalizers = listAt(namespace, 'spec', 'finalizers').filter((finalizer) => finalizer !== 'kubernetes');
    const finished: ApiObject = {
      ...namespace,
      metadata: { ...namespace.metadata },
      spec: finalizers.length === 0 ? {} : { finalizers },
      status: { phase: textAt(namespace, 'status', 'phase') ?? 'Terminating' },
    };
    if (isFinished(finished)) this.table.remove(name, finished);
    else if (listAt(namespace, 'spec', 'finalizers').length > 0) this.table.put(name, finished);
    this.terminating.delete(name);
  }
}
