import { NodeClaimConditions } from '../api/conditionTypes.ts';
import { Allowance } from './allowance.ts';
import { keptNode, type Candidate } from './candidate.ts';
import type { Command } from './command.ts';
import type { Kept, KeptCause } from './kept.ts';
import type { Decision, Method, Pass } from './method.ts';
import { byName, bySavings } from './order.ts';
import { strandedBy } from './outcome.ts';

/** Deletes nodes without pods to reschedule, as many as budgets allow, in one command. */
export const emptiness: Method = {
  name: 'emptiness',
  reason: 'Empty',
  class: 'graceful',
  consolidationType: 'empty',

  consider(candidate: Candidate, pass: Pass): KeptCause | undefined {
    const { pool, view } = candidate;
    const { consolidateAfter } = pool.spec.disruption;
    if (pool.spec.replicas !== undefined) return { kind: 'static-pool' };
    if (consolidateAfter === 'Never') return { kind: 'consolidation-disabled' };
    if (!isEmpty(candidate)) return { kind: 'not-empty' };
    if (!isConsolidatable(candidate)) return { kind: 'too-young', consolidateAfter };
    // A node whose room is planned for pods of buffers is not empty.
    if (pass.baseline.onExisting.some(({ node }) => node === view.name)) return { kind: 'buffer-pods' };
    return undefined;
  },

  *decide(candidates: readonly Candidate[], pass: Pass): Generator<void, Decision> {
    const allowance = new Allowance(pass.budgets, 'Empty');
    const chosen: Candidate[] = [];
    const kept: Kept[] = [];
    for (const candidate of bySavings(candidates)) {
      const cause = allowance.allows([candidate])
        ? // Pods with disruption cost 0 still need a place.
          candidate.movable.length > 0
          ? strandedBy([...chosen, candidate], pass)
          : undefined
        : allowance.cause(candidate.pool.metadata.name);
      if (cause !== undefined) {
        kept.push(keptNode(candidate.view, cause));
        continue;
      }
      allowance.take([candidate]);
      chosen.push(candidate);
      if (candidate.movable.length > 0) yield;
    }
    return {
      commands: chosen.length === 0 ? [] : [deletionOf(chosen, pass)],
      kept,
      coverage: { evaluated: candidates.length, of: candidates.length },
    };
  },
};

/** No pod on it has a disruption cost. */
export const isEmpty = ({ disruptionCost }: Candidate): boolean => disruptionCost <= 1;

/** The pool's consolidateAfter has passed without a pod event. */
export function isConsolidatable({ view }: Candidate): boolean {
  return (view.claim.status?.conditions ?? []).some(
    ({ type, status }) => type === NodeClaimConditions.consolidatable && status === 'True',
  );
}

/** One command for all of them. */
function deletionOf(candidates: readonly Candidate[], pass: Pass): Command {
  const isBare = candidates.every(({ movable }) => movable.length === 0);
  const sorted = [...candidates].sort(byName);
  return {
    reason: 'Empty',
    consolidationType: 'empty',
    candidates: sorted,
    replacements: [],
    onExisting: isBare ? [] : pass.whatIf({ without: sorted, allowsUnsettled: false }).onExisting,
    savingsPerHour: candidates.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0),
    evictions: candidates.reduce((sum, { pods }) => sum + pods.length, 0),
  };
}
