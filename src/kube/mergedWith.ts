/** Applies a JSON merge patch (RFC 7386) to a value, as a server does. */
export function mergedWith(value: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const fields = new Map(Object.entries(isRecord(value) ? value : {}));
  for (const [key, change] of Object.entries(patch)) {
    if (change === null) fields.delete(key);
    else fields.set(key, mergedWith(fields.get(key), change));
  }
  return Object.fromEntries(fields);
}

const isRecord = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
