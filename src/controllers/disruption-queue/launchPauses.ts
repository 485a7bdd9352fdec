import type { Clock } from '../../clock/clock.ts';
import type { PlannedOffering } from '../../cloud/plannedOfferings.ts';

/** Milliseconds. */
const FIRST = 30_000;
const LONGEST = 15 * 60_000;
/** How long an offering that did not become a ready node is not used as a replacement. */
const OFFERING_MEMORY = 15 * 60_000;
const MOST_OFFERINGS = 2_000;

/**
 * Pools whose replacements did not become ready. Such a pool is paused, twice as long after each consecutive failure:
 * the cause is rarely fixed at once, and each try costs a node. Removals without replacement are not affected.
 */
export class LaunchPauses {
  private readonly clock: Clock;
  private readonly pauses = new Map<string, { readonly length: number; readonly until: number }>();
  private readonly offerings = new Map<string, number>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** `least`: minimum pause in milliseconds. */
  failed(pool: string, least = FIRST): void {
    const before = this.pauses.get(pool);
    const now = this.clock.now();
    // Commands that fail together count as one failure.
    if (before !== undefined && now < before.until) return;
    const length = Math.min(LONGEST, Math.max(least, before === undefined ? 0 : 2 * before.length));
    this.pauses.set(pool, { length, until: now + length });
  }

  /** Records that the bought or requested offering did not become a ready node. */
  offeringFailed(pool: string, offering: PlannedOffering): void {
    const key = keyOf(pool, offering);
    this.offerings.delete(key);
    this.offerings.set(key, this.clock.now() + OFFERING_MEMORY);
    const [oldest] = this.offerings.keys();
    if (this.offerings.size > MOST_OFFERINGS && oldest !== undefined) this.offerings.delete(oldest);
  }

  /** Until when the offering is excluded; undefined when it is not. */
  offeringUntil(pool: string, offering: PlannedOffering): number | undefined {
    const until = this.offerings.get(keyOf(pool, offering));
    return until !== undefined && this.clock.now() < until ? until : undefined;
  }

  succeeded(pool: string): void {
    this.pauses.delete(pool);
  }

  /** Until when the pool is paused; undefined when it is not. */
  until(pool: string): number | undefined {
    const pause = this.pauses.get(pool);
    return pause !== undefined && this.clock.now() < pause.until ? pause.until : undefined;
  }
}

const keyOf = (pool: string, { instanceType, zone, capacityType }: PlannedOffering): string =>
  `${pool}/${instanceType}/${zone}/${capacityType}`;
