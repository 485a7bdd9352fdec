/** Label requirements that cannot be met, as data. */
import type { Requirement } from '../constraints/requirement.ts';
import { Requirements, type Incompatibility } from '../constraints/requirements.ts';
import type { LabelConflict } from './reasons.ts';

export function conflictOf(incompatibility: Incompatibility): LabelConflict {
  const { key, incoming } = incompatibility;
  if (incompatibility.kind === 'conflict') {
    return { key, asked: incoming.toItems(), allowed: incompatibility.existing.toItems() };
  }
  const { typoOf } = incompatibility;
  return { key, asked: incoming.toItems(), ...(typoOf === undefined ? {} : { typoOf }) };
}

/**
 * A smallest set of the requirements that no candidate meets together: leaving out any one of them would leave a
 * candidate. Empty when there are no candidates at all.
 */
export function unmetTogether(requirements: Requirements, candidates: readonly Requirements[]): LabelConflict[] {
  if (candidates.length === 0) return [];
  let needed = [...requirements].filter(({ key }) => candidates.some((each) => each.has(key)));
  const isMet = (asked: readonly Requirement[]): boolean => {
    const set = Requirements.of(...asked);
    return candidates.some((each) => each.intersects(set));
  };
  for (const requirement of needed) {
    const rest = needed.filter((each) => each !== requirement);
    if (!isMet(rest)) needed = rest;
  }
  return needed.map((requirement) => ({ key: requirement.key, asked: requirement.toItems() }));
}
