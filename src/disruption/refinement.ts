/** Improves a good set of nodes to remove, a few nodes at a time. */
import type { Pod } from '../api/kinds.ts';
import { podKey } from '../pods/podKey.ts';
import type { PoolTotals } from './balanced.ts';
import type { Candidate } from './candidate.ts';
import { allowedTogether } from './consolidation.ts';
import { MOST_PODS, type Pass } from './method.ts';
import { outcomeOf, type Outcome } from './moves.ts';
import { byName } from './order.ts';
import { mostNet } from './payback.ts';
import type { Worth } from './worth.ts';

/**
 * Limits on the what-ifs of one search and on the pods in all of them, so that its time does not grow with the cluster.
 */
const MOST_ASKED = 48;
const MOST_PODS_ASKED = 16 * MOST_PODS;
/** How many nodes are added to the set, or removed from it, at once. */
const STEPS = [4, 2, 1];
/** From this many nodes on, steps are also a fraction of the set: a few at a time would take too many what-ifs. */
const LARGE_SET = 36;
const LARGE_STEP = 0.25;
/** How many nodes in the set are tried in exchange for how many outside it. */
const EXCHANGED = 4;

interface Refinement {
  readonly open: readonly Candidate[];
  readonly pass: Pass;
  readonly worth: Worth;
  readonly totals: ReadonlyMap<string, PoolTotals>;
}

/**
 * Adds the nodes with the most unused room in the plan to the set, and removes nodes whose pods have the highest value
 * or exchanges them for such nodes, as long as that saves more.
 */
export function* refined(first: Outcome, { open, pass, worth, totals }: Refinement): Generator<void, Outcome> {
  const most = new Map(open.map((candidate) => [candidate, mostNet(candidate, pass)]));
  const mightBeBetter = (set: readonly Candidate[]): boolean =>
    set.reduce((sum, candidate) => sum + (most.get(candidate) ?? 0), 0) > best.net;
  let best = first;
  let [asked, podsAsked] = [0, 0];
  const mayAsk = (): boolean => asked < MOST_ASKED && podsAsked < MOST_PODS_ASKED;
  for (let isBetter = true; isBetter && mayAsk();) {
    isBetter = false;
    for (const set of neighbours(best, open, worth)) {
      const pods = set.reduce((sum, { movable }) => sum + movable.length, 0);
      if (pods > MOST_PODS || allowedTogether(set, pass).length < set.length) continue;
      if (!mayAsk() || !mightBeBetter(set)) continue;
      const outcome = outcomeOf(set, pass, totals);
      asked += 1;
      podsAsked += pods;
      yield;
      if (outcome.net <= best.net) continue;
      best = outcome;
      isBetter = true;
      break;
    }
  }
  return best;
}

/** Sets that differ by a few nodes, most promising first. */
function* neighbours(best: Outcome, open: readonly Candidate[], worth: Worth): Generator<readonly Candidate[]> {
  const going = best.moves.flatMap(({ candidates }) => candidates);
  const gone = new Set(going);
  const come = comingTo(best);
  const wasteful = open
    .filter((candidate) => !gone.has(candidate))
    .map((candidate) => ({
      candidate,
      waste: worth.wasteWith(candidate, come.get(candidate.view.name) ?? []) / candidate.disruptionCost,
    }))
    .sort((left, right) => right.waste - left.waste || byName(left.candidate, right.candidate))
    .map(({ candidate }) => candidate);
  const worthy = [...going].sort((left, right) => worth.share(right) - worth.share(left) || byName(left, right));
  const steps = going.length < LARGE_SET ? STEPS : [Math.floor(going.length * LARGE_STEP), ...STEPS];
  for (const count of steps) {
    for (let at = 0; at < 3; at++) {
      const more = wasteful.slice(at * count, (at + 1) * count);
      if (more.length > 0) yield [...going, ...more];
      const fewer = new Set(worthy.slice(at * count, (at + 1) * count));
      if (fewer.size > 0 && fewer.size < going.length) yield going.filter((each) => !fewer.has(each));
    }
  }
  for (const out of worthy.slice(0, EXCHANGED)) {
    for (const more of wasteful.slice(0, EXCHANGED)) yield [...going.filter((each) => each !== out), more];
  }
}

/** Pods that the plan moves to remaining nodes, by node. */
function comingTo({ moves }: Outcome): ReadonlyMap<string, readonly Pod[]> {
  const pods = new Map(moves.flatMap(({ candidates }) => candidates.flatMap(({ movable }) => movable.map(keyed))));
  const come = new Map<string, Pod[]>();
  for (const { node, pods: keys } of moves.flatMap(({ onExisting }) => onExisting)) {
    const own = come.get(node) ?? [];
    own.push(...keys.flatMap((key) => pods.get(key) ?? []));
    come.set(node, own);
  }
  return come;
}

const keyed = (pod: Pod): [string, Pod] => [podKey(pod), pod];
