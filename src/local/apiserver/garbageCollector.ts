/**
 * What becomes of dependents: those of vanished owners are deleted, those of orphaning owners set free, and owners that
 * wait for their dependents (foreground deletion) released. It works from the store's own events until nothing is left to
 * do.
 */
import { isNotFound } from '../../kube/errors.ts';
import { deleteObject, FOREGROUND, ORPHAN, releaseFinalizer } from './deletion.ts';
import type { ApiObject } from './fields.ts';
import { FollowUp } from './followUp.ts';
import type { Objects } from './objects.ts';
import type { Target } from './resource.ts';
import type { StoreEvent, Table } from './store.ts';
import { serverWrite } from './writeRequest.ts';

const WRITE = serverWrite('kube-controller-manager');

interface Place {
  readonly table: Table;
  readonly key: string;
}

export class GarbageCollector {
  private readonly objects: Objects;
  private readonly places = new Map<string, Place>();
  /** The dependents of each owner, by uid. */
  private readonly dependents = new Map<string, Set<string>>();
  private readonly followUp: FollowUp<string>;

  constructor(objects: Objects) {
    this.objects = objects;
    this.followUp = new FollowUp(
      objects.store,
      (uid) => this.settle(uid),
      (event, table) => this.note(event, table),
    );
  }

  stop(): void {
    this.followUp.stop();
  }

  private note({ object, previous, key, type }: StoreEvent, table: Table): void {
    const uid = object.metadata.uid ?? '';
    const owners = type === 'DELETED' ? [] : (object.metadata.ownerReferences ?? []);
    for (const owner of previous?.metadata.ownerReferences ?? []) {
      if (owners.some((one) => one.uid === owner.uid)) continue;
      this.dependents.get(owner.uid)?.delete(uid);
      this.followUp.ask(owner.uid);
    }
    if (type === 'DELETED') {
      this.places.delete(uid);
      for (const dependent of this.dependents.get(uid) ?? []) this.followUp.ask(dependent);
      if (this.dependents.get(uid)?.size === 0) this.dependents.delete(uid);
      return;
    }
    this.places.set(uid, { table, key });
    for (const owner of owners) {
      const known = this.dependents.get(owner.uid);
      if (known === undefined) this.dependents.set(owner.uid, new Set([uid]));
      else known.add(uid);
      if (!this.places.has(owner.uid)) this.followUp.ask(uid);
    }
    if (object.metadata.deletionTimestamp !== undefined) this.followUp.ask(uid);
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
    if (solid.length > 0) this.setOwners(object, solid);
    else if (object.metadata.deletionTimestamp === undefined) this.remove(object, 'Background');
  }

  private setOwners(object: ApiObject, ownerReferences: ApiObject['metadata']['ownerReferences'] & {}): void {
    const target = this.targetOf(object);
    if (target === undefined) return;
    const { ownerReferences: _before, ...metadata } = object.metadata;
    const owned = ownerReferences.length === 0 ? {} : { ownerReferences };
    this.objects.update(target, WRITE, (live) => ({ ...live, metadata: { ...metadata, ...owned } }));
  }

  private orphanDependents(uid: string, owner: ApiObject): void {
    for (const object of this.dependentsOf(uid)) {
      const owners = object.metadata.ownerReferences ?? [];
      this.setOwners(
        object,
        owners.filter((reference) => reference.uid !== uid),
      );
    }
    this.release(owner, ORPHAN);
  }

  private deleteInForeground(uid: string, owner: ApiObject): void {
    let blocked = false;
    for (const object of this.dependentsOf(uid)) {
      const reference = object.metadata.ownerReferences?.find((one) => one.uid === uid);
      if (object.metadata.deletionTimestamp === undefined) this.remove(object, 'Foreground');
      if (reference?.blockOwnerDeletion === true && this.find(object.metadata.uid ?? '') !== undefined) blocked = true;
    }
    if (!blocked) this.release(owner, FOREGROUND);
  }

  private release(owner: ApiObject, finalizer: string): void {
    const target = this.targetOf(owner);
    if (target !== undefined) releaseFinalizer(this.objects, target.resource, owner, finalizer);
  }

  private remove(object: ApiObject, propagationPolicy: 'Foreground' | 'Background'): void {
    const target = this.targetOf(object);
    if (target === undefined) return;
    const { uid } = object.metadata;
    try {
      deleteObject(this.objects, target, { propagationPolicy, preconditions: uid === undefined ? {} : { uid } });
    } catch (error) {
      // Already gone, which is as good.
      if (!isNotFound(error)) throw error;
    }
  }

  /** A copy: the set changes under way. */
  private dependentsOf(uid: string): ApiObject[] {
    return [...(this.dependents.get(uid) ?? [])].flatMap((dependent) => this.find(dependent) ?? []);
  }

  private targetOf({ apiVersion, kind, metadata }: ApiObject): Target | undefined {
    const resource = this.objects.catalog.findKind(apiVersion, kind);
    return resource && { resource, namespace: metadata.namespace, name: metadata.name };
  }

  private find(uid: string): ApiObject | undefined {
    const place = this.places.get(uid);
    return place?.table.get(place.key);
  }
}
