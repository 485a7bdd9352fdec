/** Small predicates on a node class used in several files. */
import type { AksNodeClass } from '../api/kinds/aksNodeClass.ts';
import { findCondition } from '../api/conditions.ts';

/** Whether a part of the status is for the current spec. */
export function isCurrent(nodeClass: AksNodeClass, type: string): boolean {
  const condition = findCondition(nodeClass, type);
  return condition?.status === 'True' && condition.observedGeneration === nodeClass.metadata.generation;
}
