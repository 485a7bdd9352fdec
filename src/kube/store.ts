/**
 * Objects of one kind, by name and by index. Lookups cost the same at ten objects and at a hundred thousand. The
 * objects are shared by all readers: never change them.
 */
import { InvariantError } from '../errors/invariantError.ts';
import type { KubeObject } from '../api/object.ts';
import type { ObjectRef } from './kube.ts';

export interface ReadonlyStore<T> {
  get(ref: ObjectRef): T | undefined;
  /** A live view: what is added or removed during the iteration may or may not be seen. */
  list(): Iterable<T>;
  readonly size: number;
  /** The objects that the named index files under `value`; the array does not change afterwards. */
  byIndex(index: string, value: string): readonly T[];
}

/** Under which values an object is filed. */
export type IndexFunction<T> = (object: T) => readonly string[];

/** `namespace/name`, or `name` for what has no namespace. */
export function keyOf(object: KubeObject | ObjectRef): string {
  const { namespace, name } = 'metadata' in object ? object.metadata : object;
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}

interface Bucket<T> {
  readonly members: Set<T>;
  /** Made on demand, dropped at the next change. */
  array: readonly T[] | undefined;
}

interface Index<T> {
  readonly valuesOf: IndexFunction<T>;
  readonly buckets: Map<string, Bucket<T>>;
}

const NOTHING: readonly never[] = [];

export class Store<T extends KubeObject> implements ReadonlyStore<T> {
  // By namespace, then name: no key string per object, and names carry their hash with them.
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

  /** Files what is there and what comes. The same name with another function is a mistake of two parties. */
  addIndex(name: string, valuesOf: IndexFunction<T>): void {
    const known = this.indexes.get(name);
    if (known?.valuesOf === valuesOf) return;
    if (known !== undefined) throw new InvariantError(`index "${name}" is already declared with another function`);
    const index: Index<T> = { valuesOf, buckets: new Map() };
    this.indexes.set(name, index);
    for (const object of this.list()) file(index, object);
  }

  /** Puts an object in its place; returns the one that was there. */
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
