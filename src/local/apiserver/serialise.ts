/**
 * Serialises stored objects to JSON, once per object however many lists and watches contain it: stored objects are
 * frozen, so the cached text stays valid.
 */
import type { ApiObject } from './fields.ts';

/** JSON of the fields after kind and apiVersion, including the closing brace. */
const bodies = new WeakMap<ApiObject, string>();

function bodyText(object: ApiObject): string {
  const known = bodies.get(object);
  if (known !== undefined) return known;
  const { apiVersion: _version, kind: _kind, ...rest } = object;
  const text = JSON.stringify(rest).slice(1);
  if (Object.isFrozen(object)) bodies.set(object, text);
  return text;
}

export function objectText(object: ApiObject): string {
  return `{"kind":${JSON.stringify(object.kind)},"apiVersion":${JSON.stringify(object.apiVersion)},${bodyText(object)}`;
}

/** Serialises a list item; items of built-in kinds have no kind and apiVersion. */
export function listItemText(object: ApiObject, withKind: boolean): string {
  return withKind ? objectText(object) : `{${bodyText(object)}`;
}
