import type { Clock } from '../../clock/clock.ts';
import type { Candidate } from '../../disruption/candidate.ts';
import { isConsolidatable } from '../../disruption/emptiness.ts';
import { patienceOf, settledFrom } from '../../disruption/settled.ts';

/** Milliseconds until a node settles, or since when its condition has yet to be written. */
const NEAR = 2_000;
/** Milliseconds for which nodes are waited for in all. */
const PATIENCE = 3_000;
/** Milliseconds after which it is looked again. */
const STEP = 500;

/**
 * Nodes whose consolidateAfter is about to end. After a workload has shrunk, all of them become candidates within a second
 * or two: a move that is chosen among the first of them evicts pods although others are empty.
 */
export class Settling {
  private readonly clock: Clock;
  private began: number | undefined;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Milliseconds until it is worth looking again; 0 when no node is about to settle, or too many have one by one. */
  wait(candidates: readonly Candidate[]): number {
    const now = this.clock.now();
    if (!candidates.some((candidate) => isSettling(candidate, now))) {
      this.began = undefined;
      return 0;
    }
    this.began ??= now;
    if (now - this.began < PATIENCE) return STEP;
    // As long again before others are waited for.
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
