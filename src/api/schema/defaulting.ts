/**
 * Applies defaults and drops unknown fields, as the API server does on every write. Does not modify the given object.
 */
import { isJsonObject } from './json.ts';
import type { JsonObject } from './json.ts';
import type { StructuralSchema } from './structuralSchema.ts';

/** Missing fields, and nulls that the schema does not allow, get their default; then nested defaults apply. */
export function applyDefaults(schema: StructuralSchema | undefined, value: unknown): unknown {
  if (schema === undefined) return value;
  if (Array.isArray(value)) {
    const { items } = schema;
    return value.map((item: unknown) => applyDefaults(items, isForbiddenNull(item, items) ? copyDefault(items) : item));
  }
  if (!isJsonObject(value)) return value;
  const result: JsonObject = { ...value };
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (property.default === undefined || property.default === null) continue;
    if (!Object.hasOwn(result, name) || isForbiddenNull(result[name], property)) {
      result[name] = copyDefault(property);
    }
  }
  for (const name of Object.keys(result)) {
    const property = propertySchema(schema, name);
    if (property === undefined) continue;
    const inner = result[name];
    const isAdditional = !Object.hasOwn(schema.properties ?? {}, name);
    const start = isAdditional && isForbiddenNull(inner, property) ? copyDefault(property) : inner;
    setOwn(result, name, applyDefaults(property, start));
  }
  return result;
}

/** Drops unknown fields, then nulls that are neither allowed nor defaulted. */
export function prune(schema: StructuralSchema, value: unknown): unknown {
  return dropNulls(schema, pruneUnknown({ ...schema, 'x-kubernetes-embedded-resource': true }, value));
}

const META_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

function pruneUnknown(schema: StructuralSchema | undefined, value: unknown): unknown {
  if (Array.isArray(value)) {
    // A list that keeps unknown fields also keeps those of its items.
    const items = schema?.items ?? (keepsUnknown(schema) ? KEEP_ALL : undefined);
    const inherited =
      items !== undefined && keepsUnknown(schema) ? { ...items, 'x-kubernetes-preserve-unknown-fields': true } : items;
    return value.map((item: unknown) => pruneUnknown(inherited, item));
  }
  if (!isJsonObject(value)) return value;
  const result: JsonObject = {};
  for (const [name, inner] of Object.entries(value)) {
    const property = schema === undefined ? undefined : propertySchema(schema, name);
    if (schema?.['x-kubernetes-embedded-resource'] === true && META_FIELDS.has(name)) {
      setOwn(result, name, inner);
    } else if (property !== undefined) {
      setOwn(result, name, pruneUnknown(property, inner));
    } else if (schema !== undefined && (keepsUnknown(schema) || schema.additionalProperties === true)) {
      // `additionalProperties: true` keeps the key but, without a schema, nothing below it.
      setOwn(result, name, keepsUnknown(schema) ? inner : pruneUnknown(undefined, inner));
    }
  }
  return result;
}

const KEEP_ALL: StructuralSchema = { 'x-kubernetes-preserve-unknown-fields': true };

function keepsUnknown(schema: StructuralSchema | undefined): boolean {
  return schema?.['x-kubernetes-preserve-unknown-fields'] === true;
}

function dropNulls(schema: StructuralSchema | undefined, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => dropNulls(schema?.items, item));
  if (!isJsonObject(value)) return value;
  const result: JsonObject = {};
  for (const [name, inner] of Object.entries(value)) {
    const property = schema === undefined ? undefined : propertySchema(schema, name);
    const hasDefault = property?.default !== undefined && property.default !== null;
    if (isForbiddenNull(inner, property) && !hasDefault) continue;
    setOwn(result, name, dropNulls(property, inner));
  }
  return result;
}

/** Assigns even the name `__proto__` as an ordinary key. */
function setOwn(target: JsonObject, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}

/** The schema of a field: a declared property, else that of additional properties. */
export function propertySchema(schema: StructuralSchema, name: string): StructuralSchema | undefined {
  if (schema.properties !== undefined && Object.hasOwn(schema.properties, name)) return schema.properties[name];
  return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
}

function isForbiddenNull(value: unknown, schema: StructuralSchema | undefined): boolean {
  return value === null && schema !== undefined && schema.nullable !== true;
}

function copyDefault(schema: StructuralSchema | undefined): unknown {
  return schema?.default === undefined ? null : structuredClone(schema.default);
}
