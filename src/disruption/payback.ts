/** Whether a move earns back what it costs: restarts of pods, and nodes that run beside those they replace. */
import { evictionCost } from '../pods/evictionCost.ts';
import type { Candidate } from './candidate.ts';
import type { OutcomeCause } from './kept.ts';
import type { Pass } from './method.ts';
import { patienceOf } from './settled.ts';

const HOUR = 3_600_000;
/**
 * Dollars for each unit of disruption cost: what it is worth to leave an ordinary pod alone. A pool that waits before it
 * consolidates says that its pods move less gladly.
 */
const EVICTION = 0.001;
const EVICTION_OF_PATIENT = 0.0014;
/** Milliseconds; a node younger than this has only just come to rest. */
const YOUNG = 5 * 60_000;
/** Hours that a replacement runs beside the nodes that it replaces: boot, drain, and the cloud's own time. */
const OVERLAP = 2 / 60;
/**
 * Hours for which savings are counted where nothing tells how long they last. A pool that waits before it consolidates
 * expects its demand to come and go: what it saves has to pay sooner.
 */
const LEAST_HOURS = 1;
const LEAST_HOURS_OF_PATIENT = 0.03;
const MOST_HOURS = 12;
/** A part of the bill of the nodes that is too small to move anything for; a larger one for nodes that are young. */
const LEAST_SHARE = 0.005;
const LEAST_SHARE_OF_YOUNG = 0.05;

interface Move {
  readonly candidates: readonly Candidate[];
  /** Dollars per hour of the new nodes. */
  readonly replacementPrice: number;
}

export interface Payback {
  readonly savingsPerHour: number;
  /** The part of the nodes' bill that has to be saved at least. */
  readonly leastShare: number;
  /** For how long the savings are counted. */
  readonly hours: number;
  /** Dollars. */
  readonly cost: number;
  /** Dollars that are left in the end. */
  readonly net: number;
}

type Moment = Pick<Pass, 'now' | 'calmFor'>;

export function paybackOf({ candidates, replacementPrice }: Move, moment: Moment): Payback {
  const price = candidates.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
  const savingsPerHour = price - replacementPrice;
  const age = youngest(candidates, moment.now);
  const hours = expectedHours(candidates, age, moment);
  const evictions = candidates.reduce((sum, candidate) => sum + evictionPrice(candidate), 0);
  const cost = evictions + replacementPrice * OVERLAP;
  // A node that goes without a successor is no exchange: nothing comes that might go again.
  const isYoung = replacementPrice > 0 && age < YOUNG;
  return {
    savingsPerHour,
    leastShare: isYoung ? LEAST_SHARE_OF_YOUNG : LEAST_SHARE,
    hours,
    cost,
    net: savingsPerHour * hours - cost,
  };
}

/** Dollars that are left at most when the candidate goes, alone or with others: when nothing has to take its place. */
export function mostNet(candidate: Candidate, moment: Moment): number {
  return Math.max(0, paybackOf({ candidates: [candidate], replacementPrice: 0 }, moment).net);
}

/** Why the move is not worth it. */
export function paybackCause(payback: Payback, price: number): OutcomeCause | undefined {
  const { savingsPerHour, hours, cost, net, leastShare } = payback;
  if (net > 0 && savingsPerHour > price * leastShare) return undefined;
  return { kind: 'no-payback', savingsPerHour, hours, cost };
}

/** Candidates are made anew for each pass, and asked about many times in it. */
const prices = new WeakMap<Candidate, number>();

/** Dollars that it is worth not to move the pods of the candidate. */
function evictionPrice(candidate: Candidate): number {
  let price = prices.get(candidate);
  if (price === undefined) {
    const weight = candidate.pods.reduce((sum, pod) => sum + Math.max(0, evictionCost(pod)), 0);
    price = weight * (isPatient(candidate.pool) ? EVICTION_OF_PATIENT : EVICTION);
    prices.set(candidate, price);
  }
  return price;
}

/** Milliseconds. */
function youngest(candidates: readonly Candidate[], now: number): number {
  const ages = candidates.map(({ view }) => now - Date.parse(view.claim.metadata.creationTimestamp ?? ''));
  return Math.min(...ages.map((age) => (Number.isFinite(age) ? age : 0)));
}

/** What has lasted for a while is expected to last as long again, unless demand is known to come back sooner. */
function expectedHours(candidates: readonly Candidate[], age: number, { calmFor }: Moment): number {
  const least = candidates.some(({ pool }) => isPatient(pool)) ? LEAST_HOURS_OF_PATIENT : LEAST_HOURS;
  const hours = Math.min(MOST_HOURS, Math.max(least, age / HOUR));
  const pools = new Set(candidates.map(({ pool }) => pool.metadata.name));
  return Math.min(hours, ...[...pools].map((pool) => (calmFor(pool) ?? Number.POSITIVE_INFINITY) / HOUR));
}

const isPatient = ({ spec }: Candidate['pool']): boolean => patienceOf(spec.disruption.consolidateAfter) > 0;
