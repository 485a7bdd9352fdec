/**
 * Pods of one counter on each existing node, and the limit there. A plan's changes are an overlay on the tally of
 * running pods, so a plan costs what it touches, not the size of the cluster.
 */
import type { Tally } from './tally.ts';

/** No limit; larger than any number of pods. */
export const UNLIMITED = 0x3fffffff;

export class HostCounts {
  private tally: Tally | undefined;
  /** Rows of nodes that accept no more of the counted pods than already run there. */
  private closed: ReadonlySet<number> | undefined;
  private readonly changed = new Map<number, number>();
  private readonly limits = new Map<number, number>();

  copy(): HostCounts {
    const copy = new HostCounts();
    copy.tally = this.tally;
    copy.closed = this.closed;
    for (const [row, pods] of this.changed) copy.changed.set(row, pods);
    for (const [row, most] of this.limits) copy.limits.set(row, most);
    return copy;
  }

  /** Starts from the running pods. */
  seed(tally: Tally): void {
    this.tally = tally;
  }

  on(row: number): number {
    return this.changed.get(row) ?? this.tally?.on(row) ?? 0;
  }

  limit(row: number): number {
    const own = this.limits.get(row) ?? UNLIMITED;
    return this.closed?.has(row) === true ? Math.min(own, this.tally?.on(row) ?? 0) : own;
  }

  /** Kept as a set and looked up per node: there may be far more such nodes than a plan looks at. */
  close(rows: ReadonlySet<number>): void {
    this.closed = rows;
  }

  add(row: number, pods: number): void {
    this.changed.set(row, this.on(row) + pods);
  }

  limitTo(row: number, most: number): void {
    this.limits.set(row, Math.min(most, this.limits.get(row) ?? UNLIMITED));
  }
}
