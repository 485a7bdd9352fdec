import { balancedCause, balancedScores, poolTotals } from './balanced.ts';
import { keptNode, type Candidate } from './candidate.ts';
import { allowedTogether, commandsOf, consolidationCause, withinBudgets } from './consolidation.ts';
import type { Kept, OutcomeCause } from './kept.ts';
import { likenessOf } from './likeness.ts';
import type { Decision, Method, Pass } from './method.ts';
import { outcomeOf, outcomeOfOne, type Move } from './moves.ts';
import { bySavings } from './order.ts';
import { Worth } from './worth.ts';

/** What-ifs before the thread is yielded. */
const AT_ONCE = 16;
/** Limit on moves executed together. */
const MOST_MOVES = 32;

/** Causes that hold for all interchangeable nodes, whatever their names and ages. */
const SHARED: ReadonlySet<OutcomeCause['kind']> = new Set([
  'not-cheaper',
  'unknown-price',
  'min-values',
  'spot-to-spot-disabled',
  'spot-to-spot-flexibility',
]);

/** Evaluates every node alone: whether its pods fit elsewhere, or on a cheaper node. */
export const singleNode: Method = {
  name: 'single-node',
  reason: 'Underutilized',
  class: 'graceful',
  consolidationType: 'single',

  consider: consolidationCause,

  *decide(candidates: readonly Candidate[], pass: Pass): Generator<void, Decision> {
    const kept: Kept[] = [];
    const worth = new Worth(candidates, pass);
    const totals = poolTotals(pass);
    const paying: Move[] = [];
    const alike = new Map<string, OutcomeCause>();
    let asked = 0;
    for (const candidate of withinBudgets(bySavings(candidates), pass, kept)) {
      const dismissed =
        dismissal(candidate, worth) ??
        balancedCause(balancedScores([candidate], candidate.pricePerHour, totals)) ??
        (alike.size === 0 ? undefined : alike.get(likenessOf(candidate)));
      if (dismissed !== undefined) {
        kept.push(keptNode(candidate.view, dismissed));
        continue;
      }
      const { moves, refused } = outcomeOfOne(candidate, pass, totals);
      paying.push(...moves);
      for (const { cause } of refused) {
        kept.push(keptNode(candidate.view, cause));
        if (SHARED.has(cause.kind)) alike.set(likenessOf(candidate), cause);
      }
      asked += 1;
      if (asked % AT_ONCE === 0) yield;
    }
    const moves = yield* together(paying, pass);
    const gone = new Set(moves.flatMap((move) => move.candidates));
    for (const { candidates: own } of paying) {
      for (const { view } of own.filter((each) => !gone.has(each))) kept.push(keptNode(view, { kind: 'next-pass' }));
    }
    return {
      commands: commandsOf(moves),
      kept,
      coverage: { evaluated: candidates.length, of: candidates.length },
    };
  },
};

/** Rejects nodes on which nothing can be saved, without asking where their pods would go. */
function dismissal(candidate: Candidate, worth: Worth): OutcomeCause | undefined {
  const { pricePerHour } = candidate;
  const replacementPricePerHour = worth.leastReplacement(candidate);
  if (pricePerHour === 0 || replacementPricePerHour < pricePerHour) return undefined;
  return { kind: 'not-cheaper', pricePerHour, replacementPricePerHour };
}

/** Those that save most and do not use the same free room. */
function* together(paying: readonly Move[], pass: Pass): Generator<void, readonly Move[]> {
  const totals = poolTotals(pass);
  const sorted = [...paying].sort((left, right) => right.net - left.net);
  const [first] = sorted;
  if (first === undefined) return [];
  const wanted = allowedTogether(sorted.flatMap(({ candidates }) => candidates).slice(0, MOST_MOVES), pass);
  for (let count = wanted.length; count > 1; count = Math.floor(count / 2)) {
    const outcome = outcomeOf(wanted.slice(0, count), pass, totals);
    yield;
    if (outcome.net >= first.net) return outcome.moves;
  }
  return [first];
}
