import { poolTotals } from './balanced.ts';
import { keptNode, type Candidate } from './candidate.ts';
import { allowedTogether, commandsOf, consolidationCause, withinBudgets } from './consolidation.ts';
import type { Kept, OutcomeCause } from './kept.ts';
import { MOST_PODS, type Decision, type Method, type Pass } from './method.ts';
import { likenessOf } from './likeness.ts';
import { outcomeOf, type Outcome } from './moves.ts';
import { byName } from './order.ts';
import { refined } from './refinement.ts';
import { removals } from './removals.ts';
import { inRounds, type Search } from './rounds.ts';
import { Worth } from './worth.ts';

/** Share of the bill below which a saving is not worth a search. */
const LEAST_SHARE = 0.005;
/** Extra what-ifs between two tested sizes. */
const REFINEMENTS = 2;
/** When no larger set pays: sizes of windows of neighbours in the order, and the number of windows tried. */
const WINDOWS = [2, 4, 8];
const PLACES = 24;
/** Up to this many nodes, every subset is tried. */
const FEW = 6;

/**
 * Replaces sets of nodes by fewer or cheaper ones. Starts with the nodes that cost most compared to the value of their
 * pods; sets grow until removing more saves less, and only parts that save money are executed.
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
    const open = withinBudgets(candidates, pass, kept);
    const searched: Search = (among, at) => search(among, at, worth);
    const best = yield* inRounds(open, pass, searched);
    const gone = new Set(best?.moves.flatMap((move) => move.candidates));
    const causes = new Map(best?.refused.map(({ candidate, cause }) => [candidate, cause]));
    for (const candidate of open) {
      if (!gone.has(candidate)) keep(kept, candidate, causes.get(candidate));
    }
    return {
      commands: commandsOf(best?.moves ?? []),
      kept,
      coverage: { evaluated: candidates.length, of: candidates.length },
    };
  },
};

function keep(kept: Kept[], { view }: Candidate, cause: OutcomeCause = { kind: 'next-pass' }): void {
  kept.push(keptNode(view, cause));
}

type Order = (candidate: Candidate) => number;

/** Two orders: by waste per moved pod, and by waste per dollar. */
function orders(worth: Worth): readonly Order[] {
  return [
    (candidate) => (worth.of(candidate) - candidate.pricePerHour) / candidate.disruptionCost,
    (candidate) => worth.share(candidate),
  ];
}

function* search(open: readonly Candidate[], pass: Pass, worth: Worth): Generator<void, Outcome | undefined> {
  const bill = open.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
  const savings = worth.mostSavings(open);
  if (open.length < 2 || savings < bill * LEAST_SHARE) return undefined;
  const expected = Math.ceil(open.length * Math.min(1, savings / bill));
  const totals = poolTotals(pass);
  const stranded = new Set<Candidate>();
  const seen = new Set<string>();
  let best: Outcome | undefined;
  if (open.length <= FEW) {
    for (const set of allSets(open)) {
      const outcome = outcomeOf(allowedTogether(set, pass), pass, totals);
      yield;
      if (best === undefined || outcome.net > best.net) best = outcome;
    }
    return best !== undefined && best.moves.length > 0 ? best : undefined;
  }
  let before: readonly Candidate[] = [];
  for (const order of orders(worth)) {
    const ranks = new Map(open.map((candidate) => [candidate, order(candidate)]));
    const ordered = [...open].sort(
      (left, right) => (ranks.get(left) ?? 0) - (ranks.get(right) ?? 0) || byName(left, right),
    );
    if (ordered.every((candidate, at) => candidate === before[at])) continue;
    before = ordered;
    const tried = new Map<number, Outcome>();
    const ask = function* (size: number): Generator<void> {
      for (;;) {
        const set = firstOf(
          ordered.filter((each) => !stranded.has(each)),
          size,
          pass,
        );
        if (tried.has(set.length)) return;
        const outcome = outcomeOf(set, pass, totals);
        yield;
        const before = stranded.size;
        for (const { candidate, cause } of outcome.refused) if (cause.kind === 'would-strand') stranded.add(candidate);
        if (stranded.size > before && set.length > 2) continue;
        tried.set(set.length, outcome);
        return;
      }
    };
    for (const size of sizesAround(expected, open.length)) yield* ask(size);
    for (let round = 0; round < REFINEMENTS; round++) {
      for (const size of neighbours([...tried.keys()], bestOf(tried)?.[0] ?? 0)) yield* ask(size);
    }
    const found = bestOf(tried)?.[1];
    if (found !== undefined && (best === undefined || found.net > best.net)) best = found;
    if (!pass.settings.spotToSpot) {
      // Without spot-to-spot, spot nodes can only be removed without replacement: their pods use room on other nodes.
      const spot = ordered.filter(({ capacityType }) => capacityType === 'spot');
      const removed = spot.length < 2 ? undefined : yield* removals(spot, pass, totals);
      if (removed !== undefined && (best === undefined || removed.net > best.net)) best = removed;
    }
    if (best !== undefined && best.moves.length > 0) continue;
    for (const set of windows(
      ordered.filter((each) => !stranded.has(each)),
      seen,
    )) {
      const outcome = outcomeOf(allowedTogether(set, pass), pass, totals);
      yield;
      if (best === undefined || outcome.net > best.net) best = outcome;
    }
  }
  return best !== undefined && best.moves.length > 0 ? yield* refined(best, { open, pass, worth, totals }) : undefined;
}

/**
 * All subsets including single nodes: if one node can be removed alone, replacing two by a new one moves more pods for
 * no gain.
 */
function* allSets(open: readonly Candidate[]): Generator<readonly Candidate[]> {
  for (let bits = 1; bits < 1 << open.length; bits++) yield open.filter((_, at) => (bits & (1 << at)) !== 0);
}

/** A few neighbouring nodes at a time; equivalent sets once. */
function* windows(ordered: readonly Candidate[], seen: Set<string>): Generator<readonly Candidate[]> {
  for (const size of WINDOWS) {
    const step = Math.max(1, size / 2);
    for (let at = step; at + size <= ordered.length && at < PLACES * step; at += step) {
      const set = ordered.slice(at, at + size);
      const key = set.map(likenessOf).sort().join('\n\n');
      if (!seen.has(key)) yield set;
      seen.add(key);
    }
  }
}

/** From a few to all, denser around the expected number. */
function sizesAround(expected: number, all: number): readonly number[] {
  const sizes = [2, expected / 4, expected / 2, (expected * 3) / 4, expected, (expected + all) / 2, all];
  const inRange = sizes.map((size) => Math.min(all, Math.max(2, Math.round(size))));
  return [...new Set(inRange)].sort((left, right) => left - right);
}

/** The first candidates that may be disrupted together, up to the size asked for and the limit on pods. */
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

/** The smallest size with the largest savings. */
function bestOf(tried: ReadonlyMap<number, Outcome>): [number, Outcome] | undefined {
  const sorted = [...tried].sort(([left], [right]) => left - right);
  return sorted.reduce<[number, Outcome] | undefined>(
    (best, each) => (best === undefined || each[1].net > best[1].net ? each : best),
    undefined,
  );
}

/** Sizes half-way to the next smaller and larger tested sizes. */
function neighbours(sizes: readonly number[], best: number): readonly number[] {
  const below = Math.max(0, ...sizes.filter((size) => size < best));
  const above = Math.min(...sizes.filter((size) => size > best), Number.POSITIVE_INFINITY);
  const halves = [Math.floor((below + best) / 2), Number.isFinite(above) ? Math.floor((above + best) / 2) : best];
  return halves.filter((size) => size >= 2 && !sizes.includes(size));
}
