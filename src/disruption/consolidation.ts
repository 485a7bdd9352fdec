/** Shared by the two consolidation methods. */
import { Labels } from '../api/labels.ts';
import { Allowance } from './allowance.ts';
import { keptNode, type Candidate } from './candidate.ts';
import { commandOf, type Command } from './command.ts';
import { isConsolidatable, isEmpty } from './emptiness.ts';
import type { Kept, KeptCause } from './kept.ts';
import type { Pass } from './method.ts';
import type { Move } from './moves.ts';
import { byName } from './order.ts';

/** Why consolidation skips the candidate. */
export function consolidationCause(candidate: Candidate): KeptCause | undefined {
  const { pool, view, instanceType, zone, capacityType } = candidate;
  const { consolidateAfter, consolidationPolicy } = pool.spec.disruption;
  if (pool.spec.replicas !== undefined) return { kind: 'static-pool' };
  if (instanceType === undefined) {
    return { kind: 'unknown-instance-type', instanceType: view.labels[Labels.instanceType] };
  }
  if (capacityType === undefined) return { kind: 'unknown-capacity-type' };
  if (zone === undefined) return { kind: 'unknown-zone' };
  if (consolidateAfter === 'Never') return { kind: 'consolidation-disabled' };
  if (isEmpty(candidate)) return { kind: 'empty' };
  if (consolidationPolicy === 'WhenEmpty') return { kind: 'policy', policy: consolidationPolicy };
  return isConsolidatable(candidate) ? undefined : { kind: 'too-young', consolidateAfter };
}

/** Candidates of pools whose budgets allow a disruption now; the others are recorded in `kept`. */
export function withinBudgets(ordered: readonly Candidate[], pass: Pass, kept: Kept[]): readonly Candidate[] {
  const open: Candidate[] = [];
  for (const candidate of ordered) {
    const { name } = candidate.pool.metadata;
    if (pass.budgets.allowed(name, 'Underutilized') > 0) open.push(candidate);
    else kept.push(keptNode(candidate.view, new Allowance(pass.budgets, 'Underutilized').cause(name)));
  }
  return open;
}

/** Candidates, taken in order, that budgets allow to be disrupted together. */
export function allowedTogether(ordered: readonly Candidate[], pass: Pass): readonly Candidate[] {
  const allowance = new Allowance(pass.budgets, 'Underutilized');
  return ordered.filter((candidate) => {
    if (!allowance.allows([candidate])) return false;
    allowance.take([candidate]);
    return true;
  });
}

/** The first of them, as many as have no more than this many pods to move together. */
export function firstWithPods(ordered: readonly Candidate[], mostPods: number): readonly Candidate[] {
  let pods = 0;
  const end = ordered.findIndex(({ movable }) => (pods += movable.length) > mostPods);
  return end < 0 ? ordered : ordered.slice(0, end);
}

export function commandsOf(moves: readonly Move[]): readonly Command[] {
  return moves
    .map((move) => ({
      ...commandOf('Underutilized', move.candidates.length > 1 ? 'multi' : 'single', move),
      scores: move.scores,
    }))
    .sort((left, right) => {
      const [one, other] = [left.candidates[0], right.candidates[0]];
      return one === undefined || other === undefined ? 0 : byName(one, other);
    });
}
