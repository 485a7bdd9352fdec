/**
 * Objects of one kind, by name and by index. Lookup time does not depend on the number of objects. The objects are
 * shared by all readers: never modify them.
 */
import { InvariantError } from '../errors/invariantError.ts';
import type { KubeObject } from '../api/object.ts';
import type { ObjectRef } from './kube.ts';

export interface ReadonlyStore<T> {
  get(ref: ObjectRef): T | undefined;
  /** A live view: objects added or removed during the iteration may or may not be seen. */
  list(): Iterable<T>;
  readonly size: number;
  /** The objects with this `value` in the named index; the array is not modified later. */
  byIndex(index: string, value: string): readonly T[];
}

/** The index values of an object. */
export type IndexFunction<T> = (object: T) => readonly string[];

/** `namespace/name`, or `name` for objects without a namespace. */
export function keyOf(object: KubeObject | ObjectRef): string {
  const { namespace, name } = 'metadata' in object ? object.metadata : object;
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}

interface Bucket<T> {
  readonly members: Set<T>;
  /** Created on demand, dropped at the next change. */
  array: readonly T[] | undefined;
}

interface Index<T> {
  readonly valuesOf: IndexFunction<T>;
  readonly buckets: Map<string, Bucket<T>>;
}

const NOTHING: readonly never[] = [];

export class Store<T extends KubeObject> implements ReadonlyStore<T> {
  // By namespace, then name: avoids a key string per object.
  private readonly namespaces = new Map<string, Map<string, T>>();
  private readonly indexes = new Map<string, Index<T>>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  get(ref: ObjectRef): T | undefined {
    return this.namespaces.get(ref.namespace ?? '')?.get(ref.name);
  }

  *list(): Generator<T, void, void> {
    for (const objects of this.namespaces.values()) yield* objects.values();
  }

  byIndex(index: string, value: string): readonly T[] {
    const known = this.indexes.get(index);
    if (known === undefined)
      throw new RangeError(`no index "${index}"; declared are: ${[...this.indexes.keys()].join(', ')}`);
    const bucket = known.buckets.get(value);
    if (bucket === undefined) return NOTHING;
    bucket.array ??= [...bucket.members];
    return bucket.array;
  }

  /** Indexes existing and future objects. Reusing a name with another function is an error. */
  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    const known = this.indexes.get(name);
    if (known?.valuesOf === valuesOf) return;
    if (known !== undefined) throw new InvariantError(`index "${name}" is already declared with another function`);
    const index: Index<T> = { valuesOf, buckets: new Map() };
    this.indexes.set(name, index);
    for (const object of this.list()) file(index, object);
  }

  /** Stores an object; returns the one it replaces. */
  set(object: T): T | undefined {
    const { namespace = '', name } = object.metadata;
    let objects = this.namespaces.get(namespace);
    if (objects === undefined) this.namespaces.set(namespace, (objects = new Map()));
    const old = objects.get(name);
    objects.set(name, object);
    if (old === undefined) this.count++;
    for (const index of this.indexes.values()) {
      if (old !== undefined) unfile(index, old);
      file(index, object);
    }
    return old;
  }

  delete(ref: ObjectRef): T | undefined {
    const namespace = ref.namespace ?? '';
    const objects = this.namespaces.get(namespace);
    const old = objects?.get(ref.name);
    if (objects === undefined || old === undefined) return undefined;
    objects.delete(ref.name);
    if (objects.size === 0) this.namespaces.delete(namespace);
    this.count--;
    for (const index of this.indexes.values()) unfile(index, old);
    return old;
  }
}

function file<T>(index: Index<T>, object: T): void {
  for (const value of index.valuesOf(object)) {
    const bucket = index.buckets.get(value);
    if (bucket === undefined) index.buckets.set(value, { members: new Set([object]), array: undefined });
    else {
      bucket.members.add(object);
      bucket.array = undefined;
    }
  }
}

function unfile<T>(index: Index<T>, object: T): void {
  for (const value of index.valuesOf(object)) {
    const bucket = index.buckets.get(value);
    if (bucket === undefined) continue;
    bucket.members.delete(object);
    bucket.array = undefined;
    if (bucket.members.size === 0) index.buckets.delete(value);
  }
}
