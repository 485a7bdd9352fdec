import type { Alternative } from '../solver/problem.ts';

/** How long an offering that failed is not bought in place of other nodes, in milliseconds. */
const MEMORY = 15 * 60_000;
/** How long a pool rests after its first failures in a row; twice as long after each further one, up to the last. */
const FIRST_PAUSE = 60_000;
const FIRST_SLOW_PAUSE = 5 * 60_000;
const LONGEST_PAUSE = 30 * 60_000;
/** Failures in a row from which on a pool rests. */
const PATIENCE = 2;
const MOST_KEPT = 2_000;

/**
 * Replacements that failed to come up: what failed is not tried again for a while, and a pool whose replacements fail one
 * after the other rests.
 */
export class LaunchFailures {
  private readonly offerings = new Map<string, number>();
  private readonly pools = new Map<string, { readonly failures: number; readonly until: number }>();

  /**
   * The replacement did not come up; `tried` is what would have been bought first, if that is known. One that was bought
   * and never became ready makes its pool rest at once: another offering would not do better.
   */
  failed(
    pool: string,
    tried: Alternative | undefined,
    now: number,
    cause: 'refused' | 'never-ready' = 'refused',
  ): void {
    if (tried !== undefined) {
      this.offerings.delete(keyOf(pool, tried));
      this.offerings.set(keyOf(pool, tried), now + MEMORY);
      const [oldest] = this.offerings.keys();
      if (this.offerings.size > MOST_KEPT && oldest !== undefined) this.offerings.delete(oldest);
    }
    const failures = (this.pools.get(pool)?.failures ?? 0) + 1;
    const first = cause === 'refused' ? FIRST_PAUSE : FIRST_SLOW_PAUSE;
    const pause = Math.min(LONGEST_PAUSE, first * 2 ** Math.max(0, failures - PATIENCE));
    const isPatient = cause === 'refused' && failures < PATIENCE;
    this.pools.set(pool, { failures, until: isPatient ? 0 : now + pause });
  }

  /** A replacement of the pool came up. */
  succeeded(pool: string): void {
    this.pools.delete(pool);
  }

  failedUntil(pool: string, alternative: Alternative, now: number): number | undefined {
    const until = this.offerings.get(keyOf(pool, alternative));
    return until !== undefined && until > now ? until : undefined;
  }

  pausedUntil(pool: string, now: number): number | undefined {
    const until = this.pools.get(pool)?.until;
    return until !== undefined && until > now ? until : undefined;
  }
}

const keyOf = (pool: string, { instanceType, zone, capacityType }: Alternative): string =>
  `${pool}/${instanceType}/${zone}/${capacityType}`;
