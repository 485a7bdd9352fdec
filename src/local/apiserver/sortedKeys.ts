/**
 * The keys of a table in the order of lists and pages, which is etcd's. Most writes are not followed by a list, so keys
 * are sorted on the next read.
 */

/** Up to this number, inserting new keys one by one is cheaper than merging. */
const FEW = 16;

export class SortedKeys {
  private keys: string[] = [];
  /** Keys added since the last read, unsorted. */
  private fresh: string[] = [];
  /** Removed keys that are still in `keys` or `fresh`. */
  private readonly gone = new Set<string>();

  /** `key` must be absent. */
  add(key: string): void {
    if (!this.gone.delete(key)) this.fresh.push(key);
  }

  /** `key` must be present. */
  remove(key: string): void {
    this.gone.add(key);
  }

  /** Returns sorted, distinct keys, possibly including removed ones. Valid until the next write. */
  sorted(): readonly string[] {
    if (this.gone.size > FEW && this.gone.size > this.keys.length / 2) this.sweep();
    if (this.fresh.length === 0) return this.keys;
    if (this.fresh.length <= FEW) {
      for (const key of this.fresh) this.keys.splice(firstAfter(this.keys, key, true), 0, key);
    } else {
      this.keys = merged(this.keys, this.fresh.sort());
    }
    this.fresh = [];
    return this.keys;
  }

  private sweep(): void {
    this.keys = this.keys.filter((key) => !this.gone.has(key));
    this.fresh = this.fresh.filter((key) => !this.gone.has(key));
    this.gone.clear();
  }
}

function merged(left: readonly string[], right: readonly string[]): string[] {
  const result: string[] = [];
  let index = 0;
  for (const key of right) {
    for (let next = left[index]; next !== undefined && next < key; next = left[++index]) result.push(next);
    result.push(key);
  }
  for (let next = left[index]; next !== undefined; next = left[++index]) result.push(next);
  return result;
}

/** Returns the index of the first key > `bound` (≥ if `inclusive`) in a sorted list. */
export function firstAfter(keys: readonly string[], bound: string, inclusive: boolean): number {
  return firstIndex(keys, (key) => key > bound || (inclusive && key === bound));
}

/** Returns the index of the first item that is `after`, in a list with those items last. */
export function firstIndex<T>(list: readonly T[], after: (item: T) => boolean): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (after(list[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}
