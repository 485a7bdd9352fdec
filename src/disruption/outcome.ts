/** Pods that have no place in a what-if. */
import { podKey } from '../pods/podKey.ts';
import type { Candidate } from './candidate.ts';
import type { OutcomeCause } from './kept.ts';
import type { Pass } from './method.ts';
import type { Part } from './parts.ts';

/** Stranded pods named in a cause. */
const NAMED = 5;

/** Why these nodes cannot be removed without new ones: the pods for which existing nodes have no room. */
export function strandedBy(without: readonly Candidate[], pass: Pass): OutcomeCause | undefined {
  const solution = pass.whatIf({ without, allowsUnsettled: false });
  if (solution.unplaced.length > 0) return wouldStrand(solution.unplaced);
  return solution.plannedNodes.length === 0
    ? undefined
    : { kind: 'not-cheaper', pricePerHour: 0, replacementPricePerHour: solution.pricePerHour };
}

/** The pods of the candidate that have no place. */
export function stranding({ unplaced }: Part, { movable }: Candidate): OutcomeCause | undefined {
  if (unplaced.length === 0) return undefined;
  const keys = new Set(movable.map(podKey));
  const own = unplaced.filter(({ pod }) => keys.has(pod));
  return own.length === 0 ? undefined : wouldStrand(own);
}

export function wouldStrand(pods: Part['unplaced']): OutcomeCause {
  return { kind: 'would-strand', pods: pods.slice(0, NAMED), count: pods.length };
}
