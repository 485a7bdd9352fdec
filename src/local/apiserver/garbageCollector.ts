/**
 * What becomes of dependents. In: every change of the store. Out: dependents of vanished owners deleted, of orphaning
 * owners set free, and owners that wait for their dependents (foreground deletion) released.
 *
 * It works from the store's own events, a step after the write that caused it, until nothing is left to do.
 */
import type { Clock } from '../../clock/clock.ts';
import { isNotFound } from '../../kube/errors.ts';
import { deleteObject, FOREGROUND, ORPHAN } from './deletion.ts';
import type { ApiObject } from './fields.ts';
import { isFinished, type Objects } from './objects.ts';
import type { Resource } from './resource.ts';
import { type StoreEvent, type Table } from './store.ts';

const WRITE = { fieldManager: 'kube-controller-manager', dryRun: false, fieldValidation: 'Ignore' } as const;

interface Place {
  readonly table: Table;
  readonly key: string;
}

export class GarbageCollector {
  private readonly objects: Objects;
  private readonly clock: Clock;
  private readonly places = new Map<string, Place>();
  /** Owner's uid to its dependents, by their own uid. */
  private readonly dependents = new Map<string, Map<string, Place>>();
  private readonly dirty = new Set<string>();
  private scheduled = false;
  private readonly stopListening: () => void;

  constructor(objects: Objects, clock: Clock) {
    this.objects = objects;
    this.clock = clock;
    this.stopListening = objects.store.subscribe((event, table) => this.note(event, table));
  }

  stop(): void {
    this.stopListening();
    this.dirty.clear();
  }

  private note(event: StoreEvent, table: Table): void {
    const { object, previous, key, type } = event;
    const uid = object.metadata.uid ?? '';
    const owners = object.metadata.ownerReferences ?? [];
    if (type === 'DELETED') {
      this.places.delete(uid);
      for (const owner of previous?.metadata.ownerReferences ?? []) {
        this.dependents.get(owner.uid)?.delete(uid);
        this.touch(owner.uid);
      }
      for (const dependent of this.dependents.get(uid)?.keys() ?? []) this.touch(dependent);
      if (this.dependents.get(uid)?.size === 0) this.dependents.delete(uid);
      return;
    }
    this.places.set(uid, { table, key });
    for (const owner of previous?.metadata.ownerReferences ?? []) {
      if (!owners.some((one) => one.uid === owner.uid)) {
        this.dependents.get(owner.uid)?.delete(uid);
        this.touch(owner.uid);
      }
    }
    for (const owner of owners) {
      const known = this.dependents.get(owner.uid) ?? new Map<string, Place>();
      known.set(uid, { table, key });
      this.dependents.set(owner.uid, known);
      if (!this.places.has(owner.uid)) this.touch(uid);
    }
    if (object.metadata.deletionTimestamp !== undefined) this.touch(uid);
  }

  private touch(uid: string): void {
    this.dirty.add(uid);
    if (this.scheduled) return;
    this.scheduled = true;
    // After the current write has been answered, before time moves on.
    queueMicrotask(() => {
      this.scheduled = false;
      const batch = [...this.dirty];
      this.dirty.clear();
      for (const one of batch) this.settle(one);
    });
  }

  private settle(uid: string): void {
    const object = this.find(uid);
    if (object === undefined) {
      this.dependents.delete(uid);
      return;
    }
    if (object.metadata.deletionTimestamp !== undefined) {
      if (object.metadata.finalizers?.includes(ORPHAN) === true) this.orphanDependents(uid, object);
      else if (object.metadata.finalizers?.includes(FOREGROUND) === true) this.deleteInForeground(uid, object);
    }
    this.settleDependent(uid);
  }

  /** An object goes when none of its owners is left, or when the last ones left wait for it to go. */
  private settleDependent(uid: string): void {
    const object = this.find(uid);
    const owners = object?.metadata.ownerReferences ?? [];
    if (object === undefined || owners.length === 0) return;
    const solid = owners.filter((owner) => this.places.has(owner.uid));
    if (solid.length === owners.length) return;
    if (solid.length > 0) {
      this.rewrite(object, { ...object.metadata, ownerReferences: solid });
      return;
    }
    if (object.metadata.deletionTimestamp === undefined) this.remove(object, 'Background');
  }

  private rewrite(object: ApiObject, metadata: ApiObject['metadata']): void {
    const resource = this.resourceOf(object);
    if (resource === undefined) return;
    const { namespace, name } = object.metadata;
    this.objects.update(resource, namespace, name, WRITE, (live) => ({ ...live, metadata }));
  }

  private orphanDependents(uid: string, owner: ApiObject): void {
    for (const dependent of Array.from(this.dependents.get(uid)?.keys() ?? [])) {
      const object = this.find(dependent);
      if (object === undefined) continue;
      const { ownerReferences = [], ...metadata } = object.metadata;
      const others = ownerReferences.filter((reference) => reference.uid !== uid);
      this.rewrite(object, { ...metadata, ...(others.length === 0 ? {} : { ownerReferences: others }) });
    }
    this.release(uid, owner, ORPHAN);
  }

  private deleteInForeground(uid: string, owner: ApiObject): void {
    let blocked = false;
    for (const dependent of Array.from(this.dependents.get(uid)?.keys() ?? [])) {
      const object = this.find(dependent);
      if (object === undefined) continue;
      const reference = object.metadata.ownerReferences?.find((one) => one.uid === uid);
      if (object.metadata.deletionTimestamp === undefined) this.remove(object, 'Foreground');
      if (reference?.blockOwnerDeletion === true && this.find(dependent) !== undefined) blocked = true;
    }
    if (!blocked) this.release(uid, owner, FOREGROUND);
  }

  private release(uid: string, owner: ApiObject, finalizer: string): void {
    const place = this.places.get(uid);
    if (place === undefined) return;
    const { finalizers = [], ...metadata } = owner.metadata;
    const others = finalizers.filter((one) => one !== finalizer);
    const freed = { ...owner, metadata: { ...metadata, ...(others.length === 0 ? {} : { finalizers: others }) } };
    if (isFinished(freed)) place.table.remove(place.key, freed);
    else place.table.put(place.key, freed);
  }

  private remove(object: ApiObject, propagationPolicy: 'Foreground' | 'Background'): void {
    const resource = this.resourceOf(object);
    if (resource === undefined) return;
    const { namespace, name } = object.metadata;
    try {
      const uid = object.metadata.uid;
      const preconditions = uid === undefined ? {} : { preconditions: { uid } };
      deleteObject(this.objects, resource, namespace, name, { propagationPolicy, ...preconditions }, this.clock.now());
    } catch (error) {
      // Somebody else was faster, which is as good.
      if (!isNotFound(error)) throw error;
    }
  }

  private resourceOf(object: ApiObject): Resource | undefined {
    return this.objects.catalog.findKind(object.apiVersion, object.kind);
  }

  private find(uid: string): ApiObject | undefined {
    const place = this.places.get(uid);
    return place?.table.get(place.key);
  }
}
