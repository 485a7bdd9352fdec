/**
 * Stored objects as JSON text, made once per object however many lists and watches carry it; the objects are frozen,
 * so the text stays true.
 */
import type { ApiObject } from './fields.ts';

/** Everything after kind and apiVersion, from `"metadata"` to the closing brace. */
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

/** In lists of built-in kinds, items do not repeat what the list's own kind says. */
export function listItemText(object: ApiObject, withKind: boolean): string {
  return withKind ? objectText(object) : `{${bodyText(object)}`;
}
