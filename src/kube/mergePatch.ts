/** A JSON merge patch (RFC 7386): values to set, `null` for removed fields. */
export type MergePatch = Readonly<Record<string, unknown>>;

/**
 * The patch from `before` to `after`; `undefined` when they are equal. Both are API JSON, where `null` or `undefined`
 * equals an absent field. Lists are replaced as a whole.
 */
export function mergePatch(before: object, after: object): MergePatch | undefined {
  const changes: [string, unknown][] = [];
  const old = new Map(Object.entries(before));
  const wanted = new Map(Object.entries(after));
  for (const [key, value] of wanted) {
    const change = difference(old.get(key), value);
    if (change !== undefined) changes.push([key, change]);
  }
  for (const [key, value] of old) {
    if (!wanted.has(key) && !isAbsent(value)) changes.push([key, null]);
  }
  // `fromEntries` treats a key such as `__proto__` as an ordinary key.
  return changes.length === 0 ? undefined : Object.fromEntries(changes);
}

/** New value of a key; `undefined` when it does not change. */
function difference(before: unknown, after: unknown): unknown {
  if (isAbsent(after)) return isAbsent(before) ? undefined : null;
  if (isObject(before) && isObject(after)) return mergePatch(before, after);
  return isEqual(before, after) ? undefined : after;
}

function isEqual(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => isEqual(item, other[index]));
  }
  if (isObject(one) && isObject(other)) return mergePatch(one, other) === undefined;
  return isAbsent(one) && isAbsent(other);
}

const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null;

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
