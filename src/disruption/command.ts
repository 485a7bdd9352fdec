/** Decision of a pass as plain data: nodes to remove, their replacements, and where the pods go. */
import type { DisruptionReason } from '../api/kinds/nodePool.ts';
import type { PlannedNode } from '../solver/problem.ts';
import type { Candidate } from './candidate.ts';
import type { Part } from './parts.ts';

export type ConsolidationType = '' | 'empty' | 'multi' | 'single';

export interface Command {
  readonly reason: DisruptionReason;
  readonly consolidationType: ConsolidationType;
  /** Never empty; sorted by node name. */
  readonly candidates: readonly Candidate[];
  readonly replacements: readonly Replacement[];
  /** Pods that go to existing nodes, by node name; pods by `podKey`. */
  readonly onExisting: readonly { readonly node: string; readonly pods: readonly string[] }[];
  /** US dollars per hour: price of the candidates minus that of their replacements; 0 when a price is unknown. */
  readonly savingsPerHour: number;
  /** Pods that have to move. */
  readonly evictions: number;
  /** Scores for pools with the policy Balanced; absent when the command is not rated. */
  readonly scores?: readonly BalancedScore[];
}

/** Score of a move for a pool with the policy Balanced. */
export interface BalancedScore {
  readonly pool: string;
  readonly score: number;
  readonly threshold: number;
  /** Shares of the pool's bill and of its disruption cost. */
  readonly savingsShare: number;
  readonly disruptionShare: number;
}

/**
 * A node that is launched before the candidates are removed.
 * @public
 */
export type Replacement = PlannedReplacement | StaticReplacement;

/** @public */
export interface PlannedReplacement {
  readonly kind: 'planned';
  /** Restricted to alternatives and requirements that pay off. */
  readonly plan: PlannedNode;
}

/**
 * A node of a static pool, made only from the pool's template.
 * @public
 */
export interface StaticReplacement {
  readonly kind: 'static';
  readonly pool: string;
}

/** @public */
export type CommandDecision = 'delete' | 'replace';

/** @public */
export const decisionOf = ({ replacements }: Command): CommandDecision =>
  replacements.length === 0 ? 'delete' : 'replace';

/** The part as a command. Savings are set only when every price is known. */
export function commandOf(reason: DisruptionReason, consolidationType: ConsolidationType, part: Part): Command {
  const { candidates, plannedNodes, onExisting } = part;
  const price = candidates.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
  const isKnown = candidates.every(({ pricePerHour }) => pricePerHour > 0);
  return {
    reason,
    consolidationType,
    candidates,
    replacements: plannedNodes.map((plan) => ({ kind: 'planned', plan })),
    onExisting,
    savingsPerHour: isKnown ? price - priceOfAll(plannedNodes) : 0,
    evictions: candidates.reduce((sum, { pods }) => sum + pods.length, 0),
  };
}

/** Dollars per hour of planned nodes at their first alternatives. */
export function priceOfAll(plans: readonly PlannedNode[]): number {
  return plans.reduce((sum, { alternatives }) => sum + (alternatives[0]?.pricePerHour ?? 0), 0);
}
