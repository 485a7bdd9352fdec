/**
 * Untyped API JSON: typed reads, copies and comparisons. Objects from the store are frozen: copy one before changing
 * it.
 */
import type { ObjectMeta } from '../../api/object.ts';

export { sameJson } from '../../kube/sharing.ts';

export type Fields = Record<string, unknown>;

/** An object as the server stores it. */
export interface ApiObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  [field: string]: unknown;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the JSON type of a value, as named in validation errors. */
export function jsonType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** Returns the value at a path of field names; undefined if it or a parent is absent. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const name of path) {
    if (!isFields(current)) return undefined;
    current = current[name];
  }
  return current;
}

export function fieldsAt(value: unknown, ...path: readonly string[]): Fields | undefined {
  const found = at(value, ...path);
  return isFields(found) ? found : undefined;
}

export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : undefined;
}

export function numberAt(value: unknown, ...path: readonly string[]): number | undefined {
  const found = at(value, ...path);
  return typeof found === 'number' ? found : undefined;
}

/** Returns the object at `name`, creating it if absent. */
export function ensureFields(parent: Fields, name: string): Fields {
  const found = parent[name];
  if (isFields(found)) return found;
  const made: Fields = {};
  parent[name] = made;
  return made;
}

/** Sets fields that are absent; never overwrites. */
export function setDefaults(target: Fields, defaults: Fields): void {
  for (const [name, value] of Object.entries(defaults)) target[name] ??= value;
}

/** Returns the members that are not undefined. */
export function withoutAbsent<T extends object>(members: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  const known = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as ReturnType<typeof withoutAbsent<T>>;
}

/** Returns a deep copy without undefined members. */
export function copyJson<T>(value: T): T {
  return copy(value) as T;
}

function copy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copy);
  if (!isFields(value)) return value;
  const result: Fields = {};
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (member !== undefined) result[name] = copy(member);
  }
  return result;
}

/** Freezes deeply; frozen parts are skipped, because their members are frozen too. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
}

/** Returns the value with the members of all objects sorted by name. */
export function sortedJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedJson);
  if (!isFields(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sortedJson(value[name])]));
}

/** Returns the path of a field as messages show it, such as `spec.template`. */
export function joinPath(parent: string, field: string): string {
  return parent === '' ? field : `${parent}.${field}`;
}
