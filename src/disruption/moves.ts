/**
 * Evaluates a what-if by the rules of consolidation: which parts save money and may be executed, and why the other
 * nodes are kept.
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

/** A part that saves money. */
export interface Move extends Part {
  readonly savingsPerHour: number;
  /** Net gain in dollars, and the hours for which savings are counted. */
  readonly net: number;
  readonly hours: number;
  /** Scores for pools with the policy Balanced; all of them approve. */
  readonly scores: readonly BalancedScore[];
}

export interface Outcome {
  readonly moves: readonly Move[];
  readonly refused: readonly { readonly candidate: Candidate; readonly cause: OutcomeCause }[];
  /**
   * Net gain of all moves, minus the cost of nodes for pods that the scheduler will place differently from the plan.
   */
  readonly net: number;
}

/** Number of cheaper instance types required before a spot node is replaced by a spot node. */
const SPOT_FLEXIBILITY = 15;

/** Asks the what-if without these nodes and evaluates it. */
export function outcomeOf(without: readonly Candidate[], pass: Pass, totals: ReadonlyMap<string, PoolTotals>): Outcome {
  return judged(without, pass.whatIf({ without, allowsUnsettled: false }), pass, totals);
}

/** The same for one node, with cheap checks first that rule out savings. */
export function outcomeOfOne(candidate: Candidate, pass: Pass, totals: ReadonlyMap<string, PoolTotals>): Outcome {
  const without = [candidate];
  const quick = pass.whatIf({ without, allowsUnsettled: false, outcomeOnly: true });
  const isOpen =
    quick.unplaced.length > 0 || (quick.plannedNodes.length > 0 && quick.pricePerHour < candidate.pricePerHour);
  return isOpen ? outcomeOf(without, pass, totals) : judged(without, quick, pass, totals);
}

/** A longer search lowers the price of the new nodes by this part at most. */
const BETTER_PLAN = 0.05;

/** An upper estimate of the net of `outcomeOf`, in dollars, from a plan without a search. */
export function quickNet(without: readonly Candidate[], pass: Pass): number {
  const quick = pass.whatIf({ without, allowsUnsettled: false, outcomeOnly: true });
  return partsOf(without, quick).reduce((sum, { candidates, plannedNodes }) => {
    if (!pass.settings.spotToSpot && isSpotOnly(candidates) && plannedNodes.some(isSpot)) return sum;
    const replacementPrice = (1 - BETTER_PLAN) * priceOfAll(plannedNodes);
    return sum + Math.max(0, paybackOf({ candidates, replacementPrice }, pass).net);
  }, 0);
}

/** Which parts of the what-if save money. */
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

/** Drops moves if they save less than the scheduler's own placement will cost. */
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
  // Do not keep a node for its unknown price if it needs no replacement.
  const isFree = narrowed.length === 0 && price === 0;
  const scores = balancedScores(part.candidates, payback.savingsPerHour, totals);
  const cause = (isFree ? undefined : paybackCause(payback, price)) ?? balancedCause(scores);
  if (cause !== undefined) return cause;
  const { savingsPerHour, net, hours } = payback;
  return { ...part, plannedNodes: narrowed, savingsPerHour, net, hours, scores };
}

/** The planned nodes, narrowed to offerings cheaper than the removed nodes. */
function cheaperNodes(part: Part, pass: Pass): readonly PlannedNode[] | OutcomeCause {
  const { candidates, plannedNodes } = part;
  if (plannedNodes.length === 0) return [];
  const price = priceOf(part);
  if (candidates.every(({ pricePerHour }) => pricePerHour === 0)) return { kind: 'unknown-price' };
  const slack = (price - priceOfAll(plannedNodes)) / plannedNodes.length;
  const spotOnly = isSpotOnly(candidates);
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

/** Replacing spot by spot swaps one eviction risk for another: only if enabled, and with a wide choice of types. */
function spotForSpot(plan: PlannedNode, pass: Pass, below: number, candidates: number): PlannedNode | OutcomeCause {
  const own = pinned(plan, pass, { below });
  if ('kind' in own || !isSpot(own)) return own;
  if (!pass.settings.spotToSpot) return { kind: 'spot-to-spot-disabled' };
  if (candidates > 1) return own;
  const instanceTypes = new Set(own.alternatives.map(({ instanceType }) => instanceType)).size;
  if (instanceTypes < SPOT_FLEXIBILITY) {
    return { kind: 'spot-to-spot-flexibility', instanceTypes, needed: SPOT_FLEXIBILITY };
  }
  return pinned(plan, pass, { below, mostTypes: SPOT_FLEXIBILITY });
}

const priceOf = ({ candidates }: Part): number => candidates.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);

const isSpotOnly = (candidates: readonly Candidate[]): boolean =>
  candidates.every(({ capacityType }) => capacityType === 'spot');

/** The first choice. */
const isSpot = ({ alternatives }: PlannedNode): boolean => alternatives[0]?.capacityType === 'spot';
