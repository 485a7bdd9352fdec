/**
 * Pairs a new value with the old one that it replaces, child by child, and tells whether anything changed: an update is
 * not rejected for what was already invalid before.
 */
import { propertySchema } from './defaulting.ts';
import { isJsonObject, jsonEqual } from './json.ts';
import type { StructuralSchema } from './structuralSchema.ts';

export class Correlation {
  private readonly schema: StructuralSchema;
  private readonly value: unknown;
  readonly old: unknown;

  constructor(schema: StructuralSchema, value: unknown, old: unknown) {
    this.schema = schema;
    this.value = value;
    this.old = old;
  }

  /** Undefined when the field is new. */
  key(name: string): Correlation | undefined {
    if (!isJsonObject(this.value) || !isJsonObject(this.old)) return undefined;
    if (!Object.hasOwn(this.value, name) || !Object.hasOwn(this.old, name)) return undefined;
    const property = propertySchema(this.schema, name);
    return property === undefined ? undefined : new Correlation(property, this.value[name], this.old[name]);
  }

  /** Only items of a list-map have an identity; all others count as new. */
  index(position: number): Correlation | undefined {
    const { items } = this.schema;
    if (items === undefined || !Array.isArray(this.value) || !Array.isArray(this.old)) return undefined;
    if (this.schema['x-kubernetes-list-type'] !== 'map') return undefined;
    const keys = this.schema['x-kubernetes-list-map-keys'] ?? [];
    const item: unknown = this.value[position];
    const old: unknown = this.old.find((candidate: unknown) => sameKeys(item, candidate, keys));
    return old === undefined ? undefined : new Correlation(items, item, old);
  }

  unchanged(): boolean {
    const { value, old } = this;
    if (Array.isArray(value) && Array.isArray(old) && this.schema['x-kubernetes-list-type'] === 'map') {
      return value.length === old.length && value.every((_item, at) => this.index(at)?.unchanged() === true);
    }
    if (isJsonObject(value) && isJsonObject(old)) {
      const names = Object.keys(value);
      return names.length === Object.keys(old).length && names.every((name) => this.key(name)?.unchanged() === true);
    }
    return jsonEqual(value, old);
  }
}

/** A missing key field equals a missing one on the other side. */
export function sameKeys(left: unknown, right: unknown, keys: readonly string[]): boolean {
  return (
    isJsonObject(left) && isJsonObject(right) && keys.every((key) => jsonEqual(left[key] ?? null, right[key] ?? null))
  );
}
