import type { Clock } from '../../clock/clock.ts';
import type { Candidate } from '../../disruption/candidate.ts';
import { isConsolidatable } from '../../disruption/emptiness.ts';
import { patienceOf, settledFrom } from '../../disruption/settled.ts';

/**
 * Nodes that settle within this many milliseconds count as about to settle; also covers the delay until their condition
 * is written.
 */
const NEAR = 2_000;
/** Maximum milliseconds to wait for nodes. */
const PATIENCE = 3_000;
/** Milliseconds between checks. */
const STEP = 500;

/**
 * Nodes whose consolidateAfter is about to end. After a workload has shrunk, they all become candidates within a second
 * or two: a move chosen among the first of them would evict pods although other nodes are empty.
 */
export class Settling {
  private readonly clock: Clock;
  private began: number | undefined;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Milliseconds until the next check; 0 when no node is about to settle, or when the total wait is over. */
  wait(candidates: readonly Candidate[]): number {
    const now = this.clock.now();
    if (!candidates.some((candidate) => isSettling(candidate, now))) {
      this.began = undefined;
      return 0;
    }
    this.began ??= now;
    if (now - this.began < PATIENCE) return STEP;
    // Pause for the same time before waiting for others.
    if (now - this.began >= 2 * PATIENCE) this.began = undefined;
    return 0;
  }
}

function isSettling(candidate: Candidate, now: number): boolean {
  const { pool, view } = candidate;
  if (patienceOf(pool.spec.disruption.consolidateAfter) === 0 || isConsolidatable(candidate)) return false;
  const from = settledFrom(view.claim, pool);
  return from !== undefined && Math.abs(from - now) <= NEAR;
}
