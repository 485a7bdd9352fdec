/**
 * The lifecycle of namespaces: creates the four of every cluster and a default service account in each namespace, and
 * empties terminating namespaces, then removes them.
 */
import { deleteObject } from './deletion.ts';
import { listAt, textAt, type ApiObject } from './fields.ts';
import { followUp } from './followUp.ts';
import { isFinished } from './objectMeta.ts';
import type { Objects } from './objects.ts';
import { serverWrite } from './writeRequest.ts';

const INITIAL = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];
const WRITE = serverWrite('nodewright-local');

/** Returns a function that stops this. */
export function keepNamespaces(objects: Objects): () => void {
  const [namespaces, accounts] = [objects.builtin('', 'namespaces'), objects.builtin('', 'serviceaccounts')];
  const table = objects.tableOf(namespaces);
  const terminating = new Set<string>();

  function leaving({ metadata: { name, deletionTimestamp } }: ApiObject): string[] {
    if (deletionTimestamp === undefined) return [];
    terminating.add(name);
    return [name];
  }

  function empty(namespace: string): void {
    if (!terminating.has(namespace)) return;
    let left = 0;
    for (const [resource, contents] of objects.namespacedTables()) {
      for (const { metadata } of contents.page({ namespace }).items) {
        // Already being deleted, by its finalizers or kubelet.
        if (metadata.deletionTimestamp !== undefined) continue;
        deleteObject(objects, { resource, namespace, name: metadata.name }, { propagationPolicy: 'Background' });
      }
      left += contents.page({ namespace }).items.length;
    }
    if (left === 0) finish(namespace);
  }

  function finish(name: string): void {
    const namespace = table.get(name);
    if (namespace === undefined) return;
    const held = listAt(namespace, 'spec', 'finalizers');
    const finalizers = held.filter((finalizer) => finalizer !== 'kubernetes');
    const finished: ApiObject = {
      ...namespace,
      metadata: { ...namespace.metadata },
      spec: finalizers.length === 0 ? {} : { finalizers },
      status: { phase: textAt(namespace, 'status', 'phase') ?? 'Terminating' },
    };
    if (isFinished(finished)) table.remove(name, finished);
    else if (held.length > 0) table.put(name, finished);
    terminating.delete(name);
  }

  const stop = followUp(
    objects.store,
    empty,
    ({ type, object }, source) => {
      const { name, namespace = '' } = object.metadata;
      if (source !== table) return type === 'DELETED' && terminating.has(namespace) ? [namespace] : [];
      if (type === 'ADDED') objects.create(accounts, name, { metadata: { name: 'default' } }, WRITE);
      if (type !== 'DELETED') return leaving(object);
      terminating.delete(name);
      return [];
    },
    // Namespaces that were terminating when an earlier process ended.
    [...table.values()].flatMap(leaving),
  );
  for (const name of INITIAL) {
    if (table.get(name) === undefined) objects.create(namespaces, undefined, { metadata: { name } }, WRITE);
  }
  return stop;
}
