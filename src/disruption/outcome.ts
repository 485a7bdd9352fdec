/** What a what-if comes to. */
import type { Solution } from '../solver/problem.ts';
import type { Candidate } from './candidate.ts';
import type { OutcomeCause } from './kept.ts';
import type { Pass } from './method.ts';

/** Stranded pods that a cause names. */
const NAMED = 5;

/** Why these nodes cannot go without new ones: the pods that existing nodes have no room for. */
export function strandedBy(without: readonly Candidate[], pass: Pass): OutcomeCause | undefined {
  const solution = pass.whatIf({ without, allowsUnsettled: false });
  const stranded = strandedPods(solution);
  if (stranded !== undefined) return stranded;
  return solution.plannedNodes.length === 0
    ? undefined
    : { kind: 'not-cheaper', pricePerHour: 0, replacementPricePerHour: solution.pricePerHour };
}

/** Pods without a place that have one now, and those that wait and had a place in sight. */
function strandedPods({ unplaced }: Solution): OutcomeCause | undefined {
  if (unplaced.length === 0) return undefined;
  return { kind: 'would-strand', pods: unplaced.slice(0, NAMED), count: unplaced.length };
}
