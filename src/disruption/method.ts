/**
 * The ways to disrupt nodes, each behind one small interface, and what they are given. A method is asked for a decision
 * and gives the thread back between what-ifs; the loop carries the decision out.
 */
import type { DisruptionReason } from '../api/kinds/nodePool.ts';
import type { NodeView } from '../cluster/nodeView.ts';
import type { Alternative, Solution } from '../solver/problem.ts';
import type { Budgets } from './budgets.ts';
import { keptNode, type Candidate, type PoolCatalogue } from './candidate.ts';
import type { Command, ConsolidationType } from './command.ts';
import type { Kept, KeptCause } from './kept.ts';

/** Pods whose new places are looked for at once: more would hold up other loops. */
export const MOST_PODS = 1_000;

export interface Method {
  readonly name: 'emptiness' | 'static-drift' | 'drift' | 'multi-node' | 'single-node';
  readonly reason: DisruptionReason;
  /** Graceful: pods that must not be evicted always hold. Eventual: not against a terminationGracePeriod. */
  readonly class: 'graceful' | 'eventual';
  readonly consolidationType: ConsolidationType;
  /** Why the method has nothing to do with the candidate. */
  consider(candidate: Candidate, pass: Pass): KeptCause | undefined;
  /** `candidates` are those that `consider` left. Yields after each piece of work that takes milliseconds. */
  decide(candidates: readonly Candidate[], pass: Pass): Generator<void, Decision>;
}

export interface Decision {
  /** Disjoint: all of them may be carried out. */
  readonly commands: readonly Command[];
  /** One for each candidate that is in no command. */
  readonly kept: readonly Kept[];
  readonly coverage: Coverage;
}

/**
 * How many candidates were looked at, of how many.
 * @public
 */
export interface Coverage {
  readonly evaluated: number;
  readonly of: number;
}

/** The cluster at one moment, and the questions that can be asked about it. */
export interface Pass {
  readonly now: number;
  /** Every node, also those that are no candidates. */
  readonly views: readonly NodeView[];
  /** Of all methods. */
  readonly candidates: readonly Candidate[];
  /** By name; pools whose instance types are known, static ones included. */
  readonly pools: ReadonlyMap<string, PoolCatalogue>;
  readonly budgets: Budgets;
  readonly settings: DisruptionSettings;
  /** Where pods that wait already would go now: their room is not free. */
  readonly baseline: Solution;
  /** Until when this is not launched in place of other nodes, because a launch of it lately failed. */
  failedUntil(pool: string, alternative: Alternative): number | undefined;
  /** Until when nodes of the pool are not replaced, because their replacements failed one after the other. */
  pausedUntil(pool: string): number | undefined;
  /** Milliseconds for which savings in the pool are expected to last, where demand is known to come back. */
  calmFor(pool: string): number | undefined;
  /** What happens when these nodes go. Asks about the same moment as before, whatever has changed since. */
  whatIf(question: WhatIf): Solution;
}

export interface WhatIf {
  readonly without: readonly Candidate[];
  /** Whether pods may go to nodes that are inside their own consolidateAfter window. */
  readonly allowsUnsettled: boolean;
  /** Names of further nodes that take none of the pods. */
  readonly avoiding?: ReadonlySet<string>;
  /** Whether no new node may be bought for them. */
  readonly existingOnly?: boolean;
  /** Only where pods go and what new nodes cost: one alternative for each, and no detail of a refusal. */
  readonly outcomeOnly?: boolean;
}

export interface DisruptionSettings {
  /** The feature gate SpotToSpotConsolidation. */
  readonly spotToSpot: boolean;
  readonly minValuesPolicy: 'Strict' | 'BestEffort';
}

/** Splits the pass's candidates into those for the method and those that it leaves alone. */
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

/** A node that has a terminationGracePeriod loses its pods in the end, whatever holds them. */
function isHeld(method: Method, { heldBy, view }: Candidate): boolean {
  if (heldBy === undefined) return false;
  return method.class === 'graceful' || view.claim.spec.terminationGracePeriod === undefined;
}
