/** Whether a move pays back its cost: restarts of pods, and nodes that run in parallel with their replacements. */
import { evictionCost } from '../pods/evictionCost.ts';
import type { Candidate } from './candidate.ts';
import type { OutcomeCause } from './kept.ts';
import type { Pass } from './method.ts';
import { patienceOf } from './settled.ts';

const HOUR = 3_600_000;
/**
 * Hours: moving a pod costs as much as running an average pod of its pool for this time. It is longer for pools with a
 * consolidateAfter.
 */
const EVICTION = 0.03;
const EVICTION_OF_PATIENT = 0.063;
/** Milliseconds; a younger node has only just settled. */
const YOUNG = 5 * 60_000;
/** Hours that a replacement runs in parallel with the replaced nodes: boot, drain, and instance deletion. */
const OVERLAP = 2 / 60;
/**
 * Hours for which savings are counted when nothing tells how long they last. A pool with a consolidateAfter expects its
 * demand to change, so savings must pay back sooner.
 */
const LEAST_HOURS = 1;
const LEAST_HOURS_OF_PATIENT = 0.03;
const MOST_HOURS = 12;
/** Share of the nodes' bill that is too small to move anything for; larger for young nodes. */
const LEAST_SHARE = 0.005;
const LEAST_SHARE_OF_YOUNG = 0.05;

interface Move {
  readonly candidates: readonly Candidate[];
  /** Dollars per hour of the new nodes. */
  readonly replacementPrice: number;
}

export interface Payback {
  readonly savingsPerHour: number;
  /** Minimum share of the nodes' bill that must be saved. */
  readonly leastShare: number;
  /** Hours for which the savings are counted. */
  readonly hours: number;
  /** Dollars. */
  readonly cost: number;
  /** Net gain in dollars. */
  readonly net: number;
}

type Moment = Pick<Pass, 'now' | 'calmFor' | 'podPrices'>;

export function paybackOf({ candidates, replacementPrice }: Move, moment: Moment): Payback {
  const price = candidates.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
  const savingsPerHour = price - replacementPrice;
  const age = youngest(candidates, moment.now);
  const hours = expectedHours(candidates, age, moment);
  const evictions = candidates.reduce((sum, candidate) => sum + evictionPrice(candidate, moment), 0);
  const cost = evictions + replacementPrice * OVERLAP;
  // Age matters only with a replacement: otherwise there is no new node that could be removed again.
  const isYoung = replacementPrice > 0 && age < YOUNG;
  return {
    savingsPerHour,
    leastShare: isYoung ? LEAST_SHARE_OF_YOUNG : LEAST_SHARE,
    hours,
    cost,
    net: savingsPerHour * hours - cost,
  };
}

/** Upper limit in dollars of the net gain from removing the candidate, alone or with others: no replacement needed. */
export function mostNet(candidate: Candidate, moment: Moment): number {
  return Math.max(0, paybackOf({ candidates: [candidate], replacementPrice: 0 }, moment).net);
}

/** Why the move does not pay. */
export function paybackCause(payback: Payback, price: number): OutcomeCause | undefined {
  const { savingsPerHour, hours, cost, net, leastShare } = payback;
  if (net > 0 && savingsPerHour > price * leastShare) return undefined;
  return { kind: 'no-payback', savingsPerHour, hours, cost };
}

/** Candidates are new objects in each pass and are asked many times in it. */
const prices = new WeakMap<Candidate, number>();

/** Value in dollars of not moving the candidate's pods. */
function evictionPrice(candidate: Candidate, { podPrices }: Moment): number {
  let price = prices.get(candidate);
  if (price === undefined) {
    const { pool, pods } = candidate;
    const weight = pods.reduce((sum, pod) => sum + Math.max(0, evictionCost(pod)), 0);
    const hours = isPatient(pool) ? EVICTION_OF_PATIENT : EVICTION;
    price = weight * hours * (podPrices.get(pool.metadata.name) ?? 0);
    prices.set(candidate, price);
  }
  return price;
}

/** Milliseconds. */
function youngest(candidates: readonly Candidate[], now: number): number {
  const ages = candidates.map(({ view }) => now - Date.parse(view.claim.metadata.creationTimestamp ?? ''));
  return Math.min(...ages.map((age) => (Number.isFinite(age) ? age : 0)));
}

/** A state that has lasted for a while is expected to last as long again, unless demand is known to return sooner. */
function expectedHours(candidates: readonly Candidate[], age: number, { calmFor }: Moment): number {
  const least = candidates.some(({ pool }) => isPatient(pool)) ? LEAST_HOURS_OF_PATIENT : LEAST_HOURS;
  const hours = Math.min(MOST_HOURS, Math.max(least, age / HOUR));
  const pools = new Set(candidates.map(({ pool }) => pool.metadata.name));
  return Math.min(hours, ...[...pools].map((pool) => (calmFor(pool) ?? Number.POSITIVE_INFINITY) / HOUR));
}

const isPatient = ({ spec }: Candidate['pool']): boolean => patienceOf(spec.disruption.consolidateAfter) > 0;
