/**
 * Log of changed rows, in order. A table derived from the rows remembers the version it reflects and, when it is read,
 * catches up with the rows changed since then.
 */
const MAX_CHANGES = 8192;

export class ChangeLog {
  private rows: number[] = [];
  /** Changes already removed from the list. */
  private dropped = 0;

  get version(): number {
    return this.dropped + this.rows.length;
  }

  add(row: number): void {
    if (this.rows.length >= MAX_CHANGES) {
      this.dropped += this.rows.length / 2;
      this.rows = this.rows.slice(this.rows.length / 2);
    }
    this.rows.push(row);
  }

  /** Distinct rows changed since the version; undefined when the log no longer reaches back that far. */
  since(version: number): ReadonlySet<number> | undefined {
    if (version < this.dropped) return undefined;
    return new Set(version === this.version ? [] : this.rows.slice(version - this.dropped));
  }
}
