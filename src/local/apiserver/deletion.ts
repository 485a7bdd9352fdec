/**
 * Deleting. In: an object and DeleteOptions. Out: the object on its way out (grace period, finalizers) or gone.
 * Dependents are the garbage collector's work; it reads the finalizers that are set here.
 */
import type { DeleteOptions } from '../../kube/kube.ts';
import { copyJson, type ApiObject } from './fields.ts';
import { timestamp } from './humanTime.ts';
import { isFinished, type Objects } from './objects.ts';
import type { Resource } from './resource.ts';
import { keyOf } from './store.ts';
import { conflict, forbidden, notFound } from './status.ts';

export const FOREGROUND = 'foregroundDeletion';
export const ORPHAN = 'orphan';

/** Deleting one of these would leave a cluster that cannot work. */
const PERMANENT_NAMESPACES = new Set(['default', 'kube-system', 'kube-public', 'kube-node-lease']);

export interface Deleted {
  readonly object: ApiObject;
  /** Nothing is left of it. */
  readonly gone: boolean;
}

export function deleteObject(
  objects: Objects,
  resource: Resource,
  namespace: string | undefined,
  name: string,
  options: DeleteOptions,
  now: number,
): Deleted {
  const table = objects.tableOf(resource);
  const key = keyOf(namespace, name);
  const stored = table.get(key);
  if (stored === undefined) throw notFound(resource, name);
  checkPreconditions(resource, stored, options);
  if (resource.plural === 'namespaces' && resource.group === '' && PERMANENT_NAMESPACES.has(name)) {
    throw forbidden(resource, name, 'this namespace may not be deleted');
  }
  const draft = copyJson(stored);
  if (stored.metadata.deletionTimestamp === undefined) resource.strategy.prepareDelete?.(draft, objects.context);
  draft.metadata.finalizers = finalizersFor(draft, options.propagationPolicy);
  if (draft.metadata.finalizers.length === 0) delete draft.metadata.finalizers;
  setDeletion(resource, draft, options, now);
  const isGraceful = resource.strategy.gracePeriod !== undefined;
  if (isGraceful && resource.strategy.tracksGeneration && stored.metadata.deletionTimestamp === undefined) {
    draft.metadata.generation = (draft.metadata.generation ?? 0) + 1;
  }
  if (isFinished(draft)) {
    // What has no grace vanishes as it was.
    if (!isGraceful && stored.metadata.deletionTimestamp === undefined) {
      const object = options.dryRun === true ? stored : table.remove(key, stored);
      return { object: objects.serve(resource, object), gone: true };
    }
    return { object: objects.serve(resource, options.dryRun === true ? draft : table.remove(key, draft)), gone: true };
  }
  if (options.dryRun === true || isSameDeletion(draft, stored)) {
    return { object: objects.serve(resource, options.dryRun === true ? draft : stored), gone: false };
  }
  if (
    !isGraceful &&
    resource.strategy.tracksGeneration &&
    stored.metadata.deletionTimestamp === undefined &&
    !resource.strategy.ownsDeletion
  ) {
    draft.metadata.generation = (draft.metadata.generation ?? 0) + 1;
  }
  if (resource.strategy.ownsDeletion === true) delete draft.metadata.deletionGracePeriodSeconds;
  if (resource.plural === 'namespaces' && resource.group === '') draft['status'] = { phase: 'Terminating' };
  return { object: objects.serve(resource, table.put(key, draft)), gone: false };
}

function setDeletion(resource: Resource, draft: ApiObject, options: DeleteOptions, now: number): void {
  const { metadata } = draft;
  // Upstream reads a negative grace as the shortest one.
  const wanted = options.gracePeriodSeconds;
  const asked = wanted !== undefined && wanted < 0 ? 1 : wanted;
  const grace = Math.max(0, resource.strategy.gracePeriod?.(draft, asked) ?? 0);
  if (metadata.deletionTimestamp === undefined) {
    metadata.deletionTimestamp = timestamp(now + grace * 1000);
    metadata.deletionGracePeriodSeconds = grace;
    return;
  }
  // A second delete may only hurry the first.
  const before = metadata.deletionGracePeriodSeconds ?? 0;
  if (asked === undefined || grace >= before) return;
  const began = Date.parse(metadata.deletionTimestamp) - before * 1000;
  metadata.deletionTimestamp = timestamp(Math.max(began + grace * 1000, Math.min(now, began + before * 1000)));
  metadata.deletionGracePeriodSeconds = grace;
}

function finalizersFor(object: ApiObject, policy: DeleteOptions['propagationPolicy']): string[] {
  const kept = object.metadata.finalizers ?? [];
  if (policy === undefined) return kept;
  const others = kept.filter((finalizer) => finalizer !== FOREGROUND && finalizer !== ORPHAN);
  if (policy === 'Foreground') return [...others, FOREGROUND];
  return policy === 'Orphan' ? [...others, ORPHAN] : others;
}

function isSameDeletion(draft: ApiObject, stored: ApiObject): boolean {
  return (
    draft.metadata.deletionTimestamp === stored.metadata.deletionTimestamp &&
    draft.metadata.deletionGracePeriodSeconds === stored.metadata.deletionGracePeriodSeconds &&
    (draft.metadata.finalizers ?? []).join() === (stored.metadata.finalizers ?? []).join()
  );
}

function checkPreconditions(resource: Resource, stored: ApiObject, options: DeleteOptions): void {
  const { uid, resourceVersion } = options.preconditions ?? {};
  const { metadata } = stored;
  if (uid !== undefined && uid !== metadata.uid) {
    throw conflict(
      { group: resource.group, plural: resource.kind },
      metadata.name,
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid ?? ''}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw conflict(
      { group: resource.group, plural: resource.kind },
      metadata.name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion ?? ''}). The object might have been modified`,
    );
  }
}
