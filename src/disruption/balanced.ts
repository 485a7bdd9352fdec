/**
 * The policy Balanced: the share of the pool's bill that a move saves must be at least half the share of the pool's
 * pods that it disturbs.
 */
import { Labels } from '../api/labels.ts';
import { isReschedulable } from '../pods/podPredicates.ts';
import type { Candidate } from './candidate.ts';
import type { BalancedScore } from './command.ts';
import { rescheduleDisruptionCost } from './costs.ts';
import type { OutcomeCause } from './kept.ts';
import type { Pass } from './method.ts';

const THRESHOLD = 0.5;

export interface PoolTotals {
  /** Dollars per hour. */
  readonly price: number;
  readonly disruptionCost: number;
}

/** Price of all nodes of each pool, and the cost of disrupting all of them. */
export function poolTotals(pass: Pass): ReadonlyMap<string, PoolTotals> {
  const byName = new Map(pass.candidates.map((candidate) => [candidate.view.name, candidate]));
  const totals = new Map<string, { price: number; disruptionCost: number }>();
  for (const view of pass.views) {
    const pool = view.labels[Labels.nodePool];
    if (pool === undefined || view.claim === undefined) continue;
    const candidate = byName.get(view.name);
    const total = totals.get(pool) ?? { price: 0, disruptionCost: 0 };
    total.price += candidate?.pricePerHour ?? 0;
    total.disruptionCost += candidate?.disruptionCost ?? rescheduleDisruptionCost(view.pods.filter(isReschedulable));
    totals.set(pool, total);
  }
  return totals;
}

/** Why a pool with the policy Balanced rejects the move; all such pools must approve. */
export function balancedCause(scores: readonly BalancedScore[]): OutcomeCause | undefined {
  const refusing = scores.find(({ score }) => score < THRESHOLD);
  return refusing && { kind: 'balanced-score', score: refusing.score, threshold: THRESHOLD };
}

/** One per pool with the policy. */
export function balancedScores(
  candidates: readonly Candidate[],
  savingsPerHour: number,
  totals: ReadonlyMap<string, PoolTotals>,
): readonly BalancedScore[] {
  const scores: BalancedScore[] = [];
  const price = candidates.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
  const pools = new Set(candidates.map(({ pool }) => pool));
  for (const pool of pools) {
    if (pool.spec.disruption.consolidationPolicy !== 'Balanced') continue;
    const own = candidates.filter((candidate) => candidate.pool === pool);
    const ownPrice = own.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
    const share = price === 0 ? 0 : (savingsPerHour * ownPrice) / price;
    const disruption = own.reduce((sum, { disruptionCost }) => sum + disruptionCost, 0);
    const total = totals.get(pool.metadata.name);
    scores.push({
      pool: pool.metadata.name,
      score: balancedScore(share, disruption, total),
      threshold: THRESHOLD,
      savingsShare: total && total.price > 0 ? share / total.price : 0,
      disruptionShare: total && total.disruptionCost > 0 ? disruption / total.disruptionCost : 0,
    });
  }
  return scores;
}

function balancedScore(savings: number, disruptionCost: number, totals: PoolTotals | undefined): number {
  if (savings <= 0 || totals === undefined || totals.price <= 0 || totals.disruptionCost <= 0) return 0;
  const disturbed = disruptionCost / totals.disruptionCost;
  return disturbed === 0 ? Number.POSITIVE_INFINITY : savings / totals.price / disturbed;
}
