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
import { badRequest, conflict, forbidden, notFound } from './status.ts';

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
  if (options.gracePeriodSeconds !== undefined && options.gracePeriodSeconds < 0) {
    throw badRequest('gracePeriodSeconds must be non-negative');
  }
  const draft = copyJson(stored);
  draft.metadata.finalizers = finalizersFor(draft, options.propagationPolicy);
  if (draft.metadata.finalizers.length === 0) delete draft.metadata.finalizers;
  setDeletion(resource, draft, options, now);
  if (isFinished(draft)) {
    return { object: objects.serve(resource, options.dryRun === true ? draft : table.remove(key, draft)), gone: true };
  }
  if (options.dryRun === true || isSameDeletion(draft, stored)) {
    return { object: objects.serve(resource, options.dryRun === true ? draft : stored), gone: false };
  }
  if (resource.strategy.tracksGeneration && stored.metadata.deletionTimestamp === undefined) {
    draft.metadata.generation = (draft.metadata.generation ?? 0) + 1;
  }
  if (resource.plural === 'namespaces' && resource.group === '') draft['status'] = { phase: 'Terminating' };
  return { object: objects.serve(resource, table.put(key, draft)), gone: false };
}

function setDeletion(resource: Resource, draft: ApiObject, options: DeleteOptions, now: number): void {
  const { metadata } = draft;
  const asked = options.gracePeriodSeconds;
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
      resource,
      metadata.name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid ?? ''}`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw conflict(
      resource,
      metadata.name,
      `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${metadata.resourceVersion ?? ''}`,
    );
  }
}
