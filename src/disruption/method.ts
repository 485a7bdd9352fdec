/**
 * Interface of the disruption methods, and their input. A method returns a decision and yields the thread between
 * what-ifs; the loop executes the decision.
 */
import type { DisruptionReason } from '../api/kinds/nodePool.ts';
import type { NodeView } from '../cluster/nodeView.ts';
import type { Alternative, Solution } from '../solver/problem.ts';
import type { Budgets } from './budgets.ts';
import { keptNode, type Candidate, type PoolCatalogue } from './candidate.ts';
import type { Command, ConsolidationType } from './command.ts';
import type { Kept, KeptCause } from './kept.ts';

/** Limit on pods placed in one what-if: more would block other loops. */
export const MOST_PODS = 1_000;

export interface Method {
  readonly name: 'emptiness' | 'static-drift' | 'drift' | 'multi-node' | 'single-node';
  readonly reason: DisruptionReason;
  /**
   * Graceful: pods that must not be evicted always keep the node. Eventual: not if the node has a
   * terminationGracePeriod.
   */
  readonly class: 'graceful' | 'eventual';
  readonly consolidationType: ConsolidationType;
  /** Why the method does not apply to the candidate. */
  consider(candidate: Candidate, pass: Pass): KeptCause | undefined;
  /**
   * `candidates`: those for which `consider` found no cause. Yields after each piece of work that takes milliseconds.
   */
  decide(candidates: readonly Candidate[], pass: Pass): Generator<void, Decision>;
}

export interface Decision {
  /** Disjoint, so that all of them can be executed. */
  readonly commands: readonly Command[];
  /** One per candidate that is in no command. */
  readonly kept: readonly Kept[];
  readonly coverage: Coverage;
}

/**
 * How many of the candidates were evaluated.
 * @public
 */
export interface Coverage {
  readonly evaluated: number;
  readonly of: number;
}

/** The cluster at one moment, with the questions that can be asked about it. */
export interface Pass {
  readonly now: number;
  /** All nodes, candidates or not. */
  readonly views: readonly NodeView[];
  /** For all methods. */
  readonly candidates: readonly Candidate[];
  /** By name; pools with known instance types, including static ones. */
  readonly pools: ReadonlyMap<string, PoolCatalogue>;
  readonly budgets: Budgets;
  readonly settings: DisruptionSettings;
  /** Where the waiting pods would go now: that room is not free. */
  readonly baseline: Solution;
  /** Until when this alternative is not used as a replacement, because its launch failed recently. */
  failedUntil(pool: string, alternative: Alternative): number | undefined;
  /** Until when no nodes of the pool are replaced, because several replacements in a row failed. */
  pausedUntil(pool: string): number | undefined;
  /** By pool: the average price of one of its pods, in dollars per hour. */
  readonly podPrices: ReadonlyMap<string, number>;
  /** Milliseconds for which savings in the pool are expected to last, when demand is known to return. */
  calmFor(pool: string): number | undefined;
  /** Solution after removing these nodes. Always asks about the moment of the pass, whatever has changed since. */
  whatIf(question: WhatIf): Solution;
}

export interface WhatIf {
  readonly without: readonly Candidate[];
  /** Whether pods may go to nodes that are inside their own consolidateAfter window. */
  readonly allowsUnsettled: boolean;
  /** Names of more nodes that accept none of the pods. */
  readonly avoiding?: ReadonlySet<string>;
  /** Forbids new nodes for them. */
  readonly existingOnly?: boolean;
  /** Only where pods go and what new nodes cost: one alternative each, and no details of refusals. */
  readonly outcomeOnly?: boolean;
}

export interface DisruptionSettings {
  /** The feature gate SpotToSpotConsolidation. */
  readonly spotToSpot: boolean;
  readonly minValuesPolicy: 'Strict' | 'BestEffort';
}

/** Splits the pass's candidates into those for the method and those it keeps. */
export function candidatesFor(
  method: Method,
  pass: Pass,
): { readonly candidates: readonly Candidate[]; readonly kept: readonly Kept[] } {
  const candidates: Candidate[] = [];
  const kept: Kept[] = [];
  for (const candidate of pass.candidates) {
    const cause = (isHeld(method, candidate) ? candidate.heldBy : undefined) ?? method.consider(candidate, pass);
    if (cause === undefined) candidates.push(candidate);
    else kept.push(keptNode(candidate.view, cause));
  }
  return { candidates, kept };
}

/** With a terminationGracePeriod the node's pods are eventually deleted, whatever protects them. */
function isHeld(method: Method, { heldBy, view }: Candidate): boolean {
  if (heldBy === undefined) return false;
  return method.class === 'graceful' || view.claim.spec.terminationGracePeriod === undefined;
}
