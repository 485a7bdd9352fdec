/** Reads members of JSON values of unknown shape. */
import { at } from '../apiserver/fields.ts';

export { at, listAt, textAt } from '../apiserver/fields.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export function objectAt(value: unknown, ...path: readonly string[]): JsonObject {
  const found = at(value, ...path);
  return typeof found === 'object' && found !== null && !Array.isArray(found) ? (found as JsonObject) : {};
}

/** Returns the members whose values are text, for example tags. */
export function textsAt(value: unknown, ...path: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(objectAt(value, ...path)).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

/** Returns text unchanged, nothing for null and undefined, and JSON for other values. */
export function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
