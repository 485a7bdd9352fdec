/** With more simultaneous changes than this, merging is cheaper than shifting the array for each of them. */
const FEW_CHANGES = 32;

/**
 * Values sorted by key. `values` returns the same array until something changes, and a few changes cost one copy of it,
 * not a sort.
 */
export class SortedValues<V extends object> {
  private keys: string[] = [];
  private sorted: readonly V[] = [];
  /** Not yet applied to `sorted`; undefined for a removed value. */
  private readonly changes = new Map<string, V | undefined>();

  set(key: string, value: V): void {
    this.changes.set(key, value);
  }

  delete(key: string): void {
    this.changes.set(key, undefined);
  }

  values(): readonly V[] {
    if (this.changes.size > 0) {
      if (this.changes.size <= FEW_CHANGES) this.edit();
      else this.merge();
      this.changes.clear();
    }
    return this.sorted;
  }

  private edit(): void {
    let copy: V[] | undefined;
    for (const [key, value] of this.changes) {
      const at = this.position(key);
      const present = this.keys[at] === key;
      const current = copy ?? this.sorted;
      if (value === (present ? current[at] : undefined)) continue;
      copy ??= this.sorted.slice();
      if (value === undefined) {
        this.keys.splice(at, 1);
        copy.splice(at, 1);
      } else if (present) copy[at] = value;
      else {
        this.keys.splice(at, 0, key);
        copy.splice(at, 0, value);
      }
    }
    if (copy !== undefined) this.sorted = copy;
  }

  private merge(): void {
    const changed = [...this.changes].sort(([left], [right]) => (left < right ? -1 : 1));
    const keys: string[] = [];
    const sorted: V[] = [];
    let at = 0;
    const keepUntil = (key: string | undefined): void => {
      for (; at < this.keys.length; at++) {
        const known = this.keys[at];
        const value = this.sorted[at];
        if (known === undefined || value === undefined || (key !== undefined && known >= key)) return;
        keys.push(known);
        sorted.push(value);
      }
    };
    for (const [key, value] of changed) {
      keepUntil(key);
      if (this.keys[at] === key) at++;
      if (value === undefined) continue;
      keys.push(key);
      sorted.push(value);
    }
    keepUntil(undefined);
    this.keys = keys;
    this.sorted = sorted;
  }

  /** Index of the key, or its insertion point. */
  private position(key: string): number {
    let low = 0;
    let high = this.keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.keys[middle] ?? '') < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
