/** What a pass decides to do, as plain data: these nodes go, these come in their place, and there go the pods. */
import type { DisruptionReason } from '../api/kinds/nodePool.ts';
import type { PlannedNode } from '../solver/problem.ts';
import type { Candidate } from './candidate.ts';
import type { Part } from './parts.ts';

export type ConsolidationType = '' | 'empty' | 'multi' | 'single';

export interface Command {
  readonly reason: DisruptionReason;
  readonly consolidationType: ConsolidationType;
  /** Never empty; in order of the node's name. */
  readonly candidates: readonly Candidate[];
  readonly replacements: readonly Replacement[];
  /** Where the pods go that stay off new nodes, by the name of the node; pods by `podKey`. */
  readonly onExisting: readonly { readonly node: string; readonly pods: readonly string[] }[];
  /** US dollars per hour that the candidates cost more than their replacements; 0 when a price is not known. */
  readonly savingsPerHour: number;
  /** Pods that have to move. */
  readonly evictions: number;
  /** What it is worth to pools with the policy Balanced; absent of commands that are not weighed. */
  readonly scores?: readonly BalancedScore[];
}

/** What a move is worth to a pool with the policy Balanced. */
export interface BalancedScore {
  readonly pool: string;
  readonly score: number;
  readonly threshold: number;
  /** Parts of the pool's bill and of its disruption cost. */
  readonly savingsShare: number;
  readonly disruptionShare: number;
}

/**
 * A node that is bought first.
 * @public
 */
export type Replacement = PlannedReplacement | StaticReplacement;

/** @public */
export interface PlannedReplacement {
  readonly kind: 'planned';
  /** Its alternatives and requirements allow nothing that would not pay. */
  readonly plan: PlannedNode;
}

/**
 * A node of a static pool, from nothing but the pool's template.
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

/** The part as a command. Savings are counted where every price is known. */
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

/** Dollars per hour of planned nodes, each at its first alternative. */
export function priceOfAll(plans: readonly PlannedNode[]): number {
  return plans.reduce((sum, { alternatives }) => sum + (alternatives[0]?.pricePerHour ?? 0), 0);
}
