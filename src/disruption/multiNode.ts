import { poolTotals } from './balanced.ts';
import { keptNode, type Candidate } from './candidate.ts';
import { allowedTogether, commandsOf, consolidationCause, withinBudgets } from './consolidation.ts';
import type { Kept } from './kept.ts';
import type { Decision, Method, Pass } from './method.ts';
import { outcomeOf, type Outcome } from './moves.ts';
import { byName } from './order.ts';
import { Worth } from './worth.ts';

/** Pods whose new places are looked for at once: more would hold up other loops. */
const MOST_PODS = 1_500;
/** A part of the bill that is not worth a search. */
const LEAST_SHARE = 0.005;
/** What-ifs between two sizes that were tried. */
const REFINEMENTS = 4;
/** Of two sets the larger must save at least this part of what an average pod costs for each pod that it moves more. */
const EVICTION_SHARE = 0.08;

/**
 * Replaces sets of nodes by fewer or cheaper ones. Nodes that cost most against what their pods are worth come first;
 * sets of them grow until removing more saves less, and only the parts that pay are carried out.
 */
export const multiNode: Method = {
  name: 'multi-node',
  reason: 'Underutilized',
  class: 'graceful',
  consolidationType: 'multi',

  consider: consolidationCause,

  *decide(candidates: readonly Candidate[], pass: Pass): Generator<void, Decision> {
    const kept: Kept[] = [];
    const worth = new Worth(candidates, pass);
    const open = withinBudgets(byWorth(candidates, worth), pass, kept);
    const best = yield* search(open, pass, worth);
    const gone = new Set(best?.moves.flatMap((move) => move.candidates));
    for (const candidate of open) {
      if (gone.has(candidate)) continue;
      const refused = best?.refused.find((each) => each.candidate === candidate)?.cause;
      kept.push(keptNode(candidate.view, refused ?? { kind: 'next-pass' }));
    }
    return {
      commands: commandsOf(best?.moves ?? []),
      kept,
      coverage: { evaluated: candidates.length, of: candidates.length },
    };
  },
};

/** Least worth for its price first. */
function byWorth(candidates: readonly Candidate[], worth: Worth): Candidate[] {
  return [...candidates].sort((left, right) => worth.share(left) - worth.share(right) || byName(left, right));
}

function* search(open: readonly Candidate[], pass: Pass, worth: Worth): Generator<void, Outcome | undefined> {
  const bill = open.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
  if (open.length < 2 || worth.mostSavings(open) < bill * LEAST_SHARE) return undefined;
  const totals = poolTotals(pass);
  const stranded = new Set<Candidate>();
  const tried = new Map<number, Outcome>();
  const ask = function* (size: number): Generator<void, Outcome> {
    const known = tried.get(size);
    if (known !== undefined) return known;
    for (;;) {
      const set = firstOf(
        open.filter((each) => !stranded.has(each)),
        size,
        pass,
      );
      const outcome = outcomeOf(set, pass, totals);
      yield;
      const before = stranded.size;
      for (const { candidate, cause } of outcome.refused) if (cause.kind === 'would-strand') stranded.add(candidate);
      if (stranded.size > before && set.length > 2) continue;
      tried.set(size, outcome);
      return outcome;
    }
  };
  const perPod =
    bill /
    Math.max(
      1,
      open.reduce((sum, { movable }) => sum + movable.length, 0),
    );
  const sizes: number[] = [];
  for (let size = 2; size < open.length * 2; size *= 2) sizes.push(Math.min(size, open.length));
  for (const size of sizes) yield* ask(size);
  for (let round = 0; round < REFINEMENTS; round++) {
    const [low, high] = neighbours([...tried.keys()], bestOf(tried, perPod)?.[0] ?? 0);
    for (const size of [low, high]) if (size !== undefined) yield* ask(size);
  }
  const found = bestOf(tried, perPod)?.[1];
  return found !== undefined && found.moves.length > 0 ? found : undefined;
}

/** The first candidates that may go together, as many as asked for and as the pods allow. */
function firstOf(ordered: readonly Candidate[], size: number, pass: Pass): readonly Candidate[] {
  const chosen: Candidate[] = [];
  let pods = 0;
  for (const candidate of allowedTogether(ordered, pass).slice(0, size)) {
    pods += candidate.movable.length;
    if (pods > MOST_PODS && chosen.length > 1) break;
    chosen.push(candidate);
  }
  return chosen;
}

/** The smallest size that leaves most, with moves of pods counted. */
function bestOf(tried: ReadonlyMap<number, Outcome>, perPod: number): [number, Outcome] | undefined {
  const score = ({ moves }: Outcome): number =>
    moves.reduce((sum, { savingsPerHour, candidates }) => {
      const pods = candidates.reduce((count, { movable }) => count + movable.length, 0);
      return sum + savingsPerHour - pods * perPod * EVICTION_SHARE;
    }, 0);
  const sorted = [...tried].sort(([left], [right]) => left - right);
  return sorted.reduce<[number, Outcome] | undefined>(
    (best, each) => (best === undefined || score(each[1]) > score(best[1]) ? each : best),
    undefined,
  );
}

/** Sizes half-way to the ones below and above that were tried. */
function neighbours(sizes: readonly number[], best: number): [number | undefined, number | undefined] {
  const below = Math.max(0, ...sizes.filter((size) => size < best));
  const above = Math.min(...sizes.filter((size) => size > best), Number.POSITIVE_INFINITY);
  const low = Math.floor((below + best) / 2);
  const high = Number.isFinite(above) ? Math.floor((above + best) / 2) : best;
  return [low >= 2 && low !== best ? low : undefined, high === best ? undefined : high];
}
