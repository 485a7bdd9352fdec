import { poolTotals } from './balanced.ts';
import { keptNode, type Candidate } from './candidate.ts';
import { allowedTogether, commandsOf, consolidationCause, firstWithPods, withinBudgets } from './consolidation.ts';
import type { Kept, OutcomeCause } from './kept.ts';
import { MOST_PODS, type Decision, type Method, type Pass } from './method.ts';
import { likenessOf } from './likeness.ts';
import { outcomeOf, quickNet, type Outcome } from './moves.ts';
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
  const totals = poolTotals(pass);
  if (open.length <= FEW) return yield* bestOfAll(allSets(open), pass, totals);
  const expected = Math.ceil(open.length * Math.min(1, savings / bill));
  const stranded = new Set<Candidate>();
  const seen = new Set<string>();
  let best: Outcome | undefined;
  for (const ordered of orderings(open, worth)) {
    let start = yield* bestSize(ordered, { expected, stranded, pass, totals });
    if (!pass.settings.spotToSpot) {
      // Without spot-to-spot, spot nodes can only be removed without replacement: their pods use room on other nodes.
      const spot = ordered.filter(({ capacityType }) => capacityType === 'spot');
      if (spot.length >= 2) start = better(start, yield* removals(spot, pass, totals));
    }
    if (start === undefined && best === undefined) {
      const sets = windows(
        ordered.filter((each) => !stranded.has(each)),
        seen,
      );
      start = yield* bestOfAll(sets, pass, totals);
    }
    // A set that is not the best at first may lead to the best one.
    if (start !== undefined) best = better(best, yield* refined(start, { open, pass, worth, totals }));
  }
  return best;
}

/** The outcome with the larger net; undefined when neither pays. */
function better(one: Outcome | undefined, other: Outcome | undefined): Outcome | undefined {
  const paying = [one, other].filter((each) => each !== undefined && each.moves.length > 0);
  return paying.reduce((best, each) => (best === undefined || (each?.net ?? 0) > best.net ? each : best), undefined);
}

/** The candidates in each order; equal orders once. */
function orderings(open: readonly Candidate[], worth: Worth): readonly (readonly Candidate[])[] {
  const [first = [], ...others] = orders(worth).map((order) => {
    const ranks = new Map(open.map((candidate) => [candidate, order(candidate)]));
    return [...open].sort((left, right) => (ranks.get(left) ?? 0) - (ranks.get(right) ?? 0) || byName(left, right));
  });
  return [first, ...others.filter((other) => other.some((candidate, at) => candidate !== first[at]))];
}

interface Sizes {
  /** How many nodes are expected to be removed. */
  readonly expected: number;
  /** Nodes with pods that fit nowhere else; the search adds those that it finds. */
  readonly stranded: Set<Candidate>;
  readonly pass: Pass;
  readonly totals: ReturnType<typeof poolTotals>;
}

/** The best of the sets of first candidates in the order. */
function* bestSize(
  ordered: readonly Candidate[],
  { expected, stranded, pass, totals }: Sizes,
): Generator<void, Outcome | undefined> {
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
  for (const size of sizesAround(expected, ordered.length)) yield* ask(size);
  for (let round = 0; round < REFINEMENTS; round++) {
    for (const size of neighbours([...tried.keys()], bestOf(tried)?.[0] ?? 0)) yield* ask(size);
  }
  return better(undefined, bestOf(tried)?.[1]);
}

/** The best of small sets. A plan without a search dismisses sets that cannot be the best. */
function* bestOfAll(
  sets: Iterable<readonly Candidate[]>,
  pass: Pass,
  totals: Sizes['totals'],
): Generator<void, Outcome | undefined> {
  let best: Outcome | undefined;
  for (const set of sets) {
    const allowed = allowedTogether(set, pass);
    const isOpen = quickNet(allowed, pass) > (best?.net ?? 0);
    if (isOpen) best = better(best, outcomeOf(allowed, pass, totals));
    yield;
  }
  return best;
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
const firstOf = (ordered: readonly Candidate[], size: number, pass: Pass): readonly Candidate[] =>
  firstWithPods(allowedTogether(ordered, pass).slice(0, size), MOST_PODS);

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
