/**
 * The lifecycle of CRDs: a new CRD is established right after its creation; when one is deleted, its custom resources
 * are deleted first, and the CRD is removed when the last of them is gone.
 */
import { deleteObject, releaseFinalizer } from './deletion.ts';
import { textAt, type ApiObject } from './fields.ts';
import { followUp } from './followUp.ts';
import type { Objects } from './objects.ts';
import { CLEANUP_FINALIZER, establishedStatus } from './strategies/customResourceDefinition.ts';

/** Returns a function that stops this. */
export function keepDefinitions(objects: Objects): () => void {
  const definitions = objects.builtin('apiextensions.k8s.io', 'customresourcedefinitions');
  const table = objects.tableOf(definitions);
  /** Names of CRDs that are being deleted, which are also the ids of their tables. */
  const leaving = new Set<string>();

  function note(isNew: boolean, { metadata: { name, deletionTimestamp } }: ApiObject): string[] {
    if (deletionTimestamp !== undefined) leaving.add(name);
    return isNew || leaving.has(name) ? [name] : [];
  }

  function settle(name: string): void {
    const definition = table.get(name);
    if (definition === undefined) return;
    if (leaving.has(name)) return empty(definition);
    const status = establishedStatus(definition['spec'], objects.now());
    objects.setStatus({ resource: definitions, namespace: undefined, name }, 'kube-apiserver', status);
  }

  function empty(definition: ApiObject): void {
    const group = textAt(definition, 'spec', 'group');
    const plural = textAt(definition, 'spec', 'names', 'plural');
    const resource = objects.catalog.all().find((one) => one.group === group && one.plural === plural);
    if (resource !== undefined) {
      const contents = objects.tableOf(resource);
      for (const { metadata } of contents.page().items) {
        if (metadata.deletionTimestamp !== undefined) continue;
        const target = { resource, namespace: metadata.namespace, name: metadata.name };
        deleteObject(objects, target, { propagationPolicy: 'Background' });
      }
      if (contents.size > 0) return;
    }
    releaseFinalizer(objects, definitions, definition, CLEANUP_FINALIZER);
  }

  return followUp(
    objects.store,
    settle,
    ({ type, object }, source) => {
      if (source !== table) return type === 'DELETED' && leaving.has(source.id) ? [source.id] : [];
      if (type !== 'DELETED') return note(type === 'ADDED', object);
      leaving.delete(object.metadata.name);
      return [];
    },
    [...table.values()].flatMap((definition) => note(false, definition)),
  );
}
