/** Sets of nodes that can be removed without replacement: their pods fit on the remaining nodes. */
import type { PoolTotals } from './balanced.ts';
import type { Candidate } from './candidate.ts';
import { allowedTogether, firstWithPods } from './consolidation.ts';
import { MOST_PODS, type Pass } from './method.ts';
import { judged, type Outcome } from './moves.ts';
import { partsOf } from './parts.ts';

/** Limit on what-ifs per search. */
const MOST_ASKED = 40;

/**
 * Takes the candidates in order, many at a time, and fewer when some pods have no room. A node that does not fit alone
 * is not tried again.
 */
export function* removals(
  ordered: readonly Candidate[],
  pass: Pass,
  totals: ReadonlyMap<string, PoolTotals>,
): Generator<void, Outcome | undefined> {
  const queue = [...allowedTogether(ordered, pass)];
  let chosen: readonly Candidate[] = [];
  let best: Outcome | undefined;
  let podsLeft = MOST_PODS;
  let step = Math.ceil(queue.length / 2);
  for (let asked = 0; asked < MOST_ASKED && queue.length > 0; asked++) {
    const more = firstWithPods(queue.slice(0, step), podsLeft);
    if (more.length === 0) break;
    const without = [...chosen, ...more];
    const solution = pass.whatIf({ without, allowsUnsettled: false, existingOnly: true, outcomeOnly: true });
    yield;
    const isPlaced = partsOf(without, solution).every(({ unplaced }) => unplaced.length === 0);
    if (isPlaced) {
      queue.splice(0, more.length);
      podsLeft -= more.reduce((sum, { movable }) => sum + movable.length, 0);
      chosen = without;
      const outcome = judged(without, solution, pass, totals);
      if (best === undefined || outcome.net > best.net) best = outcome;
    } else if (more.length === 1) queue.shift();
    else step = Math.ceil(more.length / 2);
  }
  return best;
}
