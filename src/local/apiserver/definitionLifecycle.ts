/**
 * The lifecycle of a CRD: a new definition is established a moment later; one that is being deleted takes its objects along,
 * and goes itself when the last of them (finalizers included) has gone.
 */
import { deleteObject, releaseFinalizer } from './deletion.ts';
import { textAt, type ApiObject } from './fields.ts';
import { followUp } from './followUp.ts';
import type { Objects } from './objects.ts';
import { CLEANUP_FINALIZER, establishedStatus } from './strategies/customResourceDefinition.ts';

/** Returns a function that ends it. */
export function keepDefinitions(objects: Objects): () => void {
  const definitions = objects.builtin('apiextensions.k8s.io', 'customresourcedefinitions');
  const table = objects.tableOf(definitions);
  /** Names of definitions that are being deleted; a definition is named after its table. */
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
