/**
 * Deletes dependents whose owners are gone, removes owner references of orphaned ones, and removes the finalizer of
 * owners whose dependents are gone (foreground deletion).
 */
import { isNotFound } from '../../kube/errors.ts';
import { deleteObject, FOREGROUND, ORPHAN, releaseFinalizer } from './deletion.ts';
import type { ApiObject } from './fields.ts';
import { followUp } from './followUp.ts';
import type { Objects } from './objects.ts';
import type { Target } from './resource.ts';
import type { StoreEvent, Table } from './store.ts';
import { serverWrite } from './writeRequest.ts';

const WRITE = serverWrite('kube-controller-manager');

type OwnerReferences = NonNullable<ApiObject['metadata']['ownerReferences']>;

/** Returns a function that stops this. */
export function collectGarbage(objects: Objects): () => void {
  const places = new Map<string, { readonly table: Table; readonly key: string }>();
  /** The dependents of each owner, by uid. */
  const dependents = new Map<string, Set<string>>();

  function find(uid: string): ApiObject | undefined {
    const place = places.get(uid);
    return place?.table.get(place.key);
  }

  /** Returns a copy, because callers change the set. */
  const dependentsOf = (uid: string): ApiObject[] =>
    [...(dependents.get(uid) ?? [])].flatMap((dependent) => find(dependent) ?? []);

  function note({ object, previous, key, type }: StoreEvent, table: Table): string[] {
    const { uid = '', deletionTimestamp, ownerReferences = [] } = object.metadata;
    const owners = type === 'DELETED' ? [] : ownerReferences;
    const asked: string[] = [];
    for (const owner of previous?.metadata.ownerReferences ?? []) {
      if (owners.some((one) => one.uid === owner.uid)) continue;
      dependents.get(owner.uid)?.delete(uid);
      asked.push(owner.uid);
    }
    if (type === 'DELETED') {
      places.delete(uid);
      asked.push(...(dependents.get(uid) ?? []));
      if (dependents.get(uid)?.size === 0) dependents.delete(uid);
      return asked;
    }
    places.set(uid, { table, key });
    for (const owner of owners) {
      const known = dependents.get(owner.uid);
      if (known === undefined) dependents.set(owner.uid, new Set([uid]));
      else known.add(uid);
      if (!places.has(owner.uid)) asked.push(uid);
    }
    if (deletionTimestamp !== undefined) asked.push(uid);
    return asked;
  }

  function settle(uid: string): void {
    const object = find(uid);
    if (object === undefined) {
      dependents.delete(uid);
      return;
    }
    const { deletionTimestamp, finalizers = [] } = object.metadata;
    if (deletionTimestamp !== undefined) {
      if (finalizers.includes(ORPHAN)) orphanDependents(uid, object);
      else if (finalizers.includes(FOREGROUND)) deleteInForeground(uid, object);
    }
    settleDependent(uid);
  }

  /** Deletes an object whose owners are all gone; if some are left, removes the references to the others. */
  function settleDependent(uid: string): void {
    const object = find(uid);
    const owners = object?.metadata.ownerReferences ?? [];
    if (object === undefined || owners.length === 0) return;
    const solid = owners.filter((owner) => places.has(owner.uid));
    if (solid.length === owners.length) return;
    if (solid.length > 0) setOwners(object, solid);
    else if (object.metadata.deletionTimestamp === undefined) remove(object, 'Background');
  }

  function setOwners(object: ApiObject, owners: OwnerReferences): void {
    const target = targetOf(object);
    if (target === undefined) return;
    const { ownerReferences: _before, ...metadata } = object.metadata;
    const owned = owners.length === 0 ? {} : { ownerReferences: owners };
    objects.update(target, WRITE, (live) => ({ ...live, metadata: { ...metadata, ...owned } }));
  }

  function orphanDependents(uid: string, owner: ApiObject): void {
    for (const object of dependentsOf(uid)) {
      setOwners(object, object.metadata.ownerReferences?.filter((reference) => reference.uid !== uid) ?? []);
    }
    release(owner, ORPHAN);
  }

  function deleteInForeground(uid: string, owner: ApiObject): void {
    let blocked = false;
    for (const object of dependentsOf(uid)) {
      const reference = object.metadata.ownerReferences?.find((one) => one.uid === uid);
      if (object.metadata.deletionTimestamp === undefined) remove(object, 'Foreground');
      if (reference?.blockOwnerDeletion === true && find(object.metadata.uid ?? '') !== undefined) blocked = true;
    }
    if (!blocked) release(owner, FOREGROUND);
  }

  function release(owner: ApiObject, finalizer: string): void {
    const target = targetOf(owner);
    if (target !== undefined) releaseFinalizer(objects, target.resource, owner, finalizer);
  }

  function remove(object: ApiObject, propagationPolicy: 'Foreground' | 'Background'): void {
    const target = targetOf(object);
    if (target === undefined) return;
    const { uid } = object.metadata;
    try {
      deleteObject(objects, target, { propagationPolicy, preconditions: uid === undefined ? {} : { uid } });
    } catch (error) {
      // Already gone.
      if (!isNotFound(error)) throw error;
    }
  }

  function targetOf({ apiVersion, kind, metadata }: ApiObject): Target | undefined {
    const resource = objects.catalog.findKind(apiVersion, kind);
    return resource && { resource, namespace: metadata.namespace, name: metadata.name };
  }

  return followUp(objects.store, settle, note);
}
