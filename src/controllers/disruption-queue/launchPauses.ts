import type { Clock } from '../../clock/clock.ts';

/** Milliseconds. */
const FIRST = 30_000;
const LONGEST = 15 * 60_000;

/**
 * Pools whose replacements did not become ready. Such a pool is left alone for a while, twice as long after each failure
 * in a row: the cause is rarely gone at once, and each try costs a node. Nodes that go without a replacement are no try.
 */
export class LaunchPauses {
  private readonly clock: Clock;
  private readonly pauses = new Map<string, { readonly length: number; readonly until: number }>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  failed(pool: string): void {
    const before = this.pauses.get(pool);
    const now = this.clock.now();
    // Commands that fail together are one failure.
    if (before !== undefined && now < before.until) return;
    const length = before === undefined ? FIRST : Math.min(LONGEST, 2 * before.length);
    this.pauses.set(pool, { length, until: now + length });
  }

  succeeded(pool: string): void {
    this.pauses.delete(pool);
  }

  /** Until when the pool is left alone; undefined when it is not. */
  until(pool: string): number | undefined {
    const pause = this.pauses.get(pool);
    return pause !== undefined && this.clock.now() < pause.until ? pause.until : undefined;
  }
}
