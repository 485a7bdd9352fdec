/**
 * Judges what a what-if comes to under the rules of consolidation: which parts of it save money and may be carried out,
 * and why the other nodes are kept.
 */
import { balancedCause, balancedScores, type PoolTotals } from './balanced.ts';
import type { Candidate } from './candidate.ts';
import { priceOfAll, type BalancedScore } from './command.ts';
import type { OutcomeCause } from './kept.ts';
import type { Pass } from './method.ts';
import { stranding, wouldStrand } from './outcome.ts';
import { partsOf, type Part } from './parts.ts';
import { paybackCause, paybackOf } from './payback.ts';
import { pinned } from './pinned.ts';
import { displacedPrice } from './schedulerReplay.ts';
import type { PlannedNode, Solution } from '../solver/problem.ts';

/** A part that pays. */
export interface Move extends Part {
  readonly savingsPerHour: number;
  /** Dollars that are left when the move has been paid for, and the hours for which savings are counted. */
  readonly net: number;
  readonly hours: number;
  /** Of the pools with the policy Balanced; all of them approve. */
  readonly scores: readonly BalancedScore[];
}

export interface Outcome {
  readonly moves: readonly Move[];
  readonly refused: readonly { readonly candidate: Candidate; readonly cause: OutcomeCause }[];
  /** Of all moves, without what has to be bought for pods that the scheduler puts elsewhere than planned. */
  readonly net: number;
}

/** Cheaper instance types that a spot node must have a choice of before it is replaced by another. */
const SPOT_FLEXIBILITY = 15;

/** Asks what happens without these nodes, and judges it. */
export function outcomeOf(without: readonly Candidate[], pass: Pass, totals: ReadonlyMap<string, PoolTotals>): Outcome {
  return judged(without, pass.whatIf({ without, allowsUnsettled: false }), pass, totals);
}

/** The same about one node, of which little is asked as long as nothing can be saved. */
export function outcomeOfOne(candidate: Candidate, pass: Pass, totals: ReadonlyMap<string, PoolTotals>): Outcome {
  const without = [candidate];
  const quick = pass.whatIf({ without, allowsUnsettled: false, outcomeOnly: true });
  const isOpen =
    quick.unplaced.length > 0 || (quick.plannedNodes.length > 0 && quick.pricePerHour < candidate.pricePerHour);
  return isOpen ? outcomeOf(without, pass, totals) : judged(without, quick, pass, totals);
}

/** Which parts of what happens pay. */
export function judged(
  without: readonly Candidate[],
  solution: Solution,
  pass: Pass,
  totals: ReadonlyMap<string, PoolTotals>,
): Outcome {
  const moves: Move[] = [];
  const refused: { candidate: Candidate; cause: OutcomeCause }[] = [];
  for (const part of partsOf(without, solution)) {
    const judgement = judge(part, pass, totals);
    if ('net' in judgement) moves.push(judgement);
    else {
      for (const candidate of part.candidates) {
        refused.push({ candidate, cause: stranding(part, candidate) ?? judgement });
      }
    }
  }
  return afterReplay(moves, refused, pass);
}

/** Moves that save less than the scheduler's own ways will cost are not made. */
export function afterReplay(moves: readonly Move[], refused: Outcome['refused'], pass: Pass): Outcome {
  const price = moves.length === 0 ? 0 : displacedPrice(moves, pass);
  const hours = Math.max(0, ...moves.map((move) => move.hours));
  const net = moves.reduce((sum, move) => sum + move.net, 0) - price * hours;
  if (price === 0 || net > 0) return { moves, refused, net };
  const savingsPerHour = moves.reduce((sum, move) => sum + move.savingsPerHour, 0);
  const cause: OutcomeCause = { kind: 'no-payback', savingsPerHour, hours, cost: savingsPerHour * hours - net };
  const dropped = moves.flatMap(({ candidates }) => candidates.map((candidate) => ({ candidate, cause })));
  return { moves: [], refused: [...refused, ...dropped], net: 0 };
}

function judge(part: Part, pass: Pass, totals: ReadonlyMap<string, PoolTotals>): Move | OutcomeCause {
  if (part.unplaced.length > 0) return wouldStrand(part.unplaced);
  const narrowed = cheaperNodes(part, pass);
  if ('kind' in narrowed) return narrowed;
  const replacementPrice = priceOfAll(narrowed);
  const price = priceOf(part);
  const payback = paybackOf({ candidates: part.candidates, replacementPrice }, pass);
  // An unknown price is no reason to keep a node that nothing needs to replace.
  const isFree = narrowed.length === 0 && price === 0;
  const scores = balancedScores(part.candidates, payback.savingsPerHour, totals);
  const cause = (isFree ? undefined : paybackCause(payback, price)) ?? balancedCause(scores);
  if (cause !== undefined) return cause;
  const { savingsPerHour, net, hours } = payback;
  return { ...part, plannedNodes: narrowed, savingsPerHour, net, hours, scores };
}

/** The planned nodes, narrowed so that whatever is bought costs less than what goes. */
function cheaperNodes(part: Part, pass: Pass): readonly PlannedNode[] | OutcomeCause {
  const { candidates, plannedNodes } = part;
  if (plannedNodes.length === 0) return [];
  const price = priceOf(part);
  if (candidates.every(({ pricePerHour }) => pricePerHour === 0)) return { kind: 'unknown-price' };
  const slack = (price - priceOfAll(plannedNodes)) / plannedNodes.length;
  const spotOnly = candidates.every(({ capacityType }) => capacityType === 'spot');
  const narrowed: PlannedNode[] = [];
  for (const plan of plannedNodes) {
    const below = slack + (plan.alternatives[0]?.pricePerHour ?? 0);
    const own = spotOnly ? spotForSpot(plan, pass, below, candidates.length) : pinned(plan, pass, { below });
    if ('kind' in own) {
      return own.kind === 'not-cheaper'
        ? { kind: 'not-cheaper', pricePerHour: price, replacementPricePerHour: priceOfAll(plannedNodes) }
        : own;
    }
    narrowed.push(own);
  }
  return narrowed;
}

/** Spot for spot trades one risk of eviction for another: only where that is wanted, and with a wide choice. */
function spotForSpot(plan: PlannedNode, pass: Pass, below: number, candidates: number): PlannedNode | OutcomeCause {
  const own = pinned(plan, pass, { below });
  if ('kind' in own || own.alternatives[0]?.capacityType !== 'spot') return own;
  if (!pass.settings.spotToSpot) return { kind: 'spot-to-spot-disabled' };
  if (candidates > 1) return own;
  const instanceTypes = new Set(own.alternatives.map(({ instanceType }) => instanceType)).size;
  if (instanceTypes < SPOT_FLEXIBILITY) {
    return { kind: 'spot-to-spot-flexibility', instanceTypes, needed: SPOT_FLEXIBILITY };
  }
  return pinned(plan, pass, { below, mostTypes: SPOT_FLEXIBILITY });
}

const priceOf = ({ candidates }: Part): number => candidates.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
