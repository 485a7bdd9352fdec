/** Unsatisfiable label requirements, as data. */
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
 * The failing requirements: those that no candidate meets, or else a minimal set that no candidate meets together.
 * Empty when there are no candidates.
 */
export function unmetTogether(requirements: Requirements, candidates: readonly Requirements[]): LabelConflict[] {
  if (candidates.length === 0) return [];
  const relevant = [...requirements].filter(({ key }) => candidates.some((each) => each.has(key)));
  const isMet = (asked: readonly Requirement[]): boolean => {
    const set = Requirements.of(...asked);
    return candidates.some((each) => each.intersects(set));
  };
  const alone = relevant.filter((requirement) => !isMet([requirement]));
  const failing = alone.length > 0 ? alone : smallestUnmet(relevant, isMet);
  return failing.map((requirement) => ({ key: requirement.key, asked: requirement.toItems() }));
}

function smallestUnmet(
  requirements: readonly Requirement[],
  isMet: (asked: readonly Requirement[]) => boolean,
): Requirement[] {
  let needed = [...requirements];
  for (const requirement of requirements) {
    const rest = needed.filter((each) => each !== requirement);
    if (!isMet(rest)) needed = rest;
  }
  return needed;
}
