/**
 * Pods of one counter on each existing node, and the most that may be there. What a plan changes lies over the tally of
 * running pods, so that a plan costs what it touches and not what the cluster has.
 */
import type { Tally } from './tally.ts';

/** No limit; more than any number of pods. */
export const UNLIMITED = 0x3fffffff;

export class HostCounts {
  private tally: Tally | undefined;
  /** Rows of nodes to which no more of the counted pods may come than run there. */
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

  /** Looked up node by node when it is asked for: there may be many more of them than a plan looks at. */
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
