/**
 * Deletes objects: at once, or after their grace period and finalizers. The finalizers for dependents are set here; the
 * garbage collector acts on them.
 */
import type { DeleteOptions } from '../../kube/kube.ts';
import { timestamp } from '../../units/timestamp.ts';
import { copyJson, type ApiObject } from './fields.ts';
import { isFinished } from './objectMeta.ts';
import type { Objects } from './objects.ts';
import type { Resource, Target } from './resource.ts';
import { keyOf } from './store.ts';
import { conflict, forbidden } from './status.ts';

export const FOREGROUND = 'foregroundDeletion';
export const ORPHAN = 'orphan';

/** Namespaces that a cluster cannot work without, so they cannot be deleted. */
const PERMANENT_NAMESPACES = new Set(['default', 'kube-system', 'kube-public', 'kube-node-lease']);
/** The end of longer periods may exceed the range of dates. */
const MAX_GRACE_SECONDS = 2 ** 31 - 1;

export interface Deleted {
  readonly object: ApiObject;
  /** Whether the object has been removed from the store. */
  readonly gone: boolean;
}

export function deleteObject(objects: Objects, target: Target, options: DeleteOptions): Deleted {
  const { resource, namespace, name } = target;
  const { strategy } = resource;
  const stored = objects.stored(target);
  checkPreconditions(resource, stored, options);
  const isNamespace = resource.plural === 'namespaces' && resource.group === '';
  if (isNamespace && PERMANENT_NAMESPACES.has(name)) {
    throw forbidden(resource, name, 'this namespace may not be deleted');
  }
  const isFirst = stored.metadata.deletionTimestamp === undefined;
  const isGraceful = strategy.gracePeriod !== undefined;
  const draft = copyJson(stored);
  if (isFirst) strategy.prepareDelete?.(draft, objects.context);
  draft.metadata.finalizers = finalizersFor(draft, options.propagationPolicy);
  if (draft.metadata.finalizers.length === 0) delete draft.metadata.finalizers;
  setDeletion(resource, draft, options, objects.clock.now());
  const isGone = isFinished(draft);
  const isNew = isFirst && (isGraceful || (!isGone && strategy.ownsDeletion !== true));
  if (isNew && strategy.tracksGeneration === true) draft.metadata.generation = (draft.metadata.generation ?? 0) + 1;
  if (strategy.ownsDeletion === true && !isGone) delete draft.metadata.deletionGracePeriodSeconds;
  if (isNamespace && !isGone) draft['status'] = { phase: 'Terminating' };
  const answer = (object: ApiObject): Deleted => ({ object: objects.serve(resource, object), gone: isGone });
  // An object of a kind without grace period is removed unchanged.
  const last = isGone && isFirst && !isGraceful ? stored : draft;
  if (options.dryRun === true) return answer(last);
  const table = objects.tableOf(resource);
  const key = keyOf(namespace, name);
  const isSame = isSameDeletion(draft, stored);
  if (!isGone) return answer(isSame ? stored : table.put(key, draft));
  // An object of a kind with grace period gets its deletionTimestamp in a first write, so that watches see it.
  return answer(table.remove(key, isGraceful && !isSame ? table.put(key, draft) : last));
}

function setDeletion(resource: Resource, draft: ApiObject, options: DeleteOptions, now: number): void {
  const { metadata } = draft;
  // Upstream treats a negative grace period as one second.
  const wanted = options.gracePeriodSeconds;
  const asked = wanted !== undefined && wanted < 0 ? 1 : wanted;
  const grace = Math.min(Math.max(0, resource.strategy.gracePeriod?.(draft, asked) ?? 0), MAX_GRACE_SECONDS);
  if (metadata.deletionTimestamp === undefined) {
    metadata.deletionTimestamp = timestamp(now + grace * 1000);
    metadata.deletionGracePeriodSeconds = grace;
    return;
  }
  // A second delete can only shorten the grace period.
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

function isSameDeletion({ metadata }: ApiObject, { metadata: before }: ApiObject): boolean {
  return (
    metadata.deletionTimestamp === before.deletionTimestamp &&
    metadata.deletionGracePeriodSeconds === before.deletionGracePeriodSeconds &&
    (metadata.finalizers ?? []).join() === (before.finalizers ?? []).join()
  );
}

/** Removes a finalizer from an object, and the object from the store if nothing else delays its deletion. */
export function releaseFinalizer(objects: Objects, resource: Resource, object: ApiObject, finalizer: string): void {
  const { finalizers = [], ...metadata } = object.metadata;
  const others = finalizers.filter((one) => one !== finalizer);
  if (others.length === finalizers.length) return;
  const freed = { ...object, metadata: { ...metadata, ...(others.length === 0 ? {} : { finalizers: others }) } };
  const table = objects.tableOf(resource);
  const key = keyOf(metadata.namespace, metadata.name);
  if (isFinished(freed)) table.remove(key, freed);
  else table.put(key, freed);
}

export function checkPreconditions(resource: Resource, { metadata }: ApiObject, options: DeleteOptions): void {
  const { uid, resourceVersion } = options.preconditions ?? {};
  const check = (what: string, expected: string | undefined, found: string | undefined, because: string): void => {
    if (expected === undefined || expected === found) return;
    const why = `the ${what} in the precondition (${expected}) does not match the ${what} in record (${found ?? ''})`;
    throw conflict({ group: resource.group, plural: resource.kind }, metadata.name, `${why}. ${because}`);
  };
  check('UID', uid, metadata.uid, 'The object might have been deleted and then recreated');
  check('ResourceVersion', resourceVersion, metadata.resourceVersion, 'The object might have been modified');
}
