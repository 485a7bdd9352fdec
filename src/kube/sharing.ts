/**
 * Shares equal parts between two JSON values: returns a value equal to the new one that reuses equal parts of the old
 * one. Neither argument is modified.
 */

/** `raw`, with every part replaced by its counterpart in `model` if they are equal. */
export function shareWith<V>(model: V | undefined, raw: V): V {
  if (model === undefined || raw === model) return model ?? raw;
  if (typeof raw !== 'object' || raw === null || typeof model !== 'object' || model === null) return raw;
  if (sameJson(model, raw)) return model;
  if (Array.isArray(raw)) {
    if (!Array.isArray(model)) return raw;
    const elements: readonly unknown[] = model;
    return raw.map((value: unknown, index) => shareWith(elements[index], value)) as V;
  }
  const known = model as Readonly<Record<string, unknown>>;
  const copy: Record<string, unknown> = {};
  for (const key in raw) {
    // Assigning this name would change the copy's prototype instead of adding a key.
    if (key === '__proto__') return raw;
    copy[key] = shareWith<unknown>(known[key], raw[key]);
  }
  return copy as V;
}

/** Equality of JSON values; absent and `undefined` members are the same. */
export function sameJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    for (let index = 0; index < left.length; index++) if (!sameJson(left[index], right[index])) return false;
    return true;
  }
  const known = left as Readonly<Record<string, unknown>>;
  const other = right as Readonly<Record<string, unknown>>;
  let keys = 0;
  for (const key in other) {
    if (!sameJson(known[key], other[key])) return false;
    if (other[key] !== undefined) keys++;
  }
  for (const key in known) if (known[key] !== undefined) keys--;
  return keys === 0;
}

/**
 * Stores one copy of each frequent string (node names, timestamps). Bounded: when half of the capacity is used, strings
 * not used since are dropped, which costs memory but never correctness.
 */
export class StringPool {
  private readonly limit: number;
  private young = new Map<string, string>();
  private old = new Map<string, string>();

  constructor(limit = 65_536) {
    this.limit = limit;
  }

  intern(text: string): string {
    const known = this.young.get(text);
    if (known !== undefined) return known;
    const canonical = this.old.get(text) ?? text;
    if (this.young.size >= this.limit / 2) {
      this.old = this.young;
      this.young = new Map();
    }
    this.young.set(canonical, canonical);
    return canonical;
  }
}
