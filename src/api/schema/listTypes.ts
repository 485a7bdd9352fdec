/** Finds duplicates in lists that must not have any: sets, and maps by key. */
import { propertySchema } from './defaulting.ts';
import { childPath, indexPath, keyPath } from './fieldError.ts';
import type { FieldError } from './fieldError.ts';
import { encodeJson, isJsonObject } from './json.ts';
import type { StructuralSchema } from './structuralSchema.ts';

export function validateListTypes(schema: StructuralSchema, path: string, value: unknown): FieldError[] {
  if (!hasListTypes(schema)) return [];
  if (Array.isArray(value)) {
    const items = value as readonly unknown[];
    const inner = schema.items;
    return [
      ...repetitions(schema, path, items),
      ...(inner === undefined ? [] : items.flatMap((item, at) => validateListTypes(inner, indexPath(path, at), item))),
    ];
  }
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const property = propertySchema(schema, name);
    if (property === undefined) return [];
    const declared = Object.hasOwn(schema.properties ?? {}, name);
    return validateListTypes(property, declared ? childPath(path, name) : keyPath(path, name), inner);
  });
}

function repetitions(schema: StructuralSchema, path: string, items: readonly unknown[]): FieldError[] {
  const listType = schema['x-kubernetes-list-type'];
  if (listType === 'set') return duplicates(path, items);
  if (listType !== 'map') return [];
  const stray = items.findIndex((item) => item !== null && !isJsonObject(item));
  if (stray >= 0) {
    const detail = 'must be an object for an array of list-type map';
    return [{ type: 'FieldValueInvalid', field: indexPath(path, stray), value: items[stray], detail }];
  }
  const keyFields = schema['x-kubernetes-list-map-keys'] ?? [];
  return duplicates(
    path,
    items.map((item) =>
      Object.fromEntries(
        keyFields.flatMap((key) => (isJsonObject(item) && Object.hasOwn(item, key) ? [[key, item[key]]] : [])),
      ),
    ),
  );
}

/** Each repeated value is reported once, at its first repetition. */
function duplicates(path: string, identities: readonly unknown[]): FieldError[] {
  const seen = new Map<string, number>();
  return identities.flatMap((identity, at) => {
    const text = encodeJson(identity);
    const times = (seen.get(text) ?? 0) + 1;
    seen.set(text, times);
    return times === 2
      ? [{ type: 'FieldValueDuplicate' as const, field: indexPath(path, at), value: identity, detail: '' }]
      : [];
  });
}

const WITH_LIST_TYPES = new WeakMap<StructuralSchema, boolean>();

/** Most schemas contain no such list, so validation can be skipped. */
function hasListTypes(schema: StructuralSchema): boolean {
  const known = WITH_LIST_TYPES.get(schema);
  if (known !== undefined) return known;
  const { 'x-kubernetes-list-type': listType, properties, additionalProperties, items } = schema;
  const found =
    listType === 'set' ||
    listType === 'map' ||
    (items !== undefined && hasListTypes(items)) ||
    (typeof additionalProperties === 'object' && hasListTypes(additionalProperties)) ||
    Object.values(properties ?? {}).some(hasListTypes);
  WITH_LIST_TYPES.set(schema, found);
  return found;
}
