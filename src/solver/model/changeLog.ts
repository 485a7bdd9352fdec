/**
 * Which rows changed, in order. A table that was derived from the rows remembers the version that it is good for and
 * catches up by looking at the rows that changed since, whenever it is next read.
 */
const MAX_CHANGES = 8192;

export class ChangeLog {
  private rows: number[] = [];
  /** Changes that are no longer in the list. */
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

  /** The different rows that changed since; undefined when that is no longer known. */
  since(version: number): ReadonlySet<number> | undefined {
    if (version < this.dropped) return undefined;
    return new Set(version === this.version ? [] : this.rows.slice(version - this.dropped));
  }
}
