/** Deterministic order in which candidates are taken. */
import type { Candidate } from './candidate.ts';

/** Most dollars per unit of disruption first. */
export function bySavings(candidates: readonly Candidate[]): Candidate[] {
  return [...candidates].sort((left, right) => right.savingsRatio - left.savingsRatio || byName(left, right));
}

/**
 * The oldest drift first, and nodes without pods before all others.
 * @public
 */
export function byDrift(candidates: readonly Candidate[]): Candidate[] {
  return [...candidates].sort(
    (left, right) =>
      Number(left.pods.length > 0) - Number(right.pods.length > 0) ||
      (left.driftedSince ?? 0) - (right.driftedSince ?? 0) ||
      byName(left, right),
  );
}

export function byName(left: Candidate, right: Candidate): number {
  return left.view.name < right.view.name ? -1 : Number(left.view.name > right.view.name);
}
