/** Whether a move earns back what it costs: restarts of pods, and nodes that run beside those they replace. */
import type { Candidate } from './candidate.ts';
import type { OutcomeCause } from './kept.ts';

const HOUR = 3_600_000;
/** Dollars for each unit of disruption cost: what it is worth to leave an ordinary pod alone. */
const EVICTION = 0.0001;
/** Hours that a replacement runs beside the nodes that it replaces: boot, drain, and the cloud's own time. */
const OVERLAP = 2 / 60;
/** What has lasted for a while is expected to last as long again, within these hours. */
const LEAST_HOURS = 1;
const MOST_HOURS = 24 * 7;
/** A part of the bill of the nodes that is too small to move anything for. */
const LEAST_SHARE = 0.002;

interface Move {
  readonly candidates: readonly Candidate[];
  /** Dollars per hour of the new nodes. */
  readonly replacementPrice: number;
}

export interface Payback {
  readonly savingsPerHour: number;
  /** For how long the savings are counted. */
  readonly hours: number;
  /** Dollars. */
  readonly cost: number;
  /** Dollars that are left in the end. */
  readonly net: number;
}

export function paybackOf({ candidates, replacementPrice }: Move, now: number): Payback {
  const price = candidates.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
  const disruption = candidates.reduce((sum, { disruptionCost }) => sum + disruptionCost - 1, 0);
  const savingsPerHour = price - replacementPrice;
  const hours = expectedHours(candidates, now);
  const cost = disruption * EVICTION + replacementPrice * OVERLAP;
  return { savingsPerHour, hours, cost, net: savingsPerHour * hours - cost };
}

/** Why the move is not worth it. */
export function paybackCause({ savingsPerHour, hours, cost, net }: Payback, price: number): OutcomeCause | undefined {
  if (net > 0 && savingsPerHour > price * LEAST_SHARE) return undefined;
  return { kind: 'no-payback', savingsPerHour, hours, cost };
}

/** By the youngest of the nodes: what has just changed may change again soon. */
function expectedHours(candidates: readonly Candidate[], now: number): number {
  const ages = candidates.map(({ view }) => (now - Date.parse(view.claim.metadata.creationTimestamp ?? '')) / HOUR);
  const youngest = Math.min(...ages.map((age) => (Number.isFinite(age) ? age : 0)));
  return Math.min(MOST_HOURS, Math.max(LEAST_HOURS, youngest));
}
