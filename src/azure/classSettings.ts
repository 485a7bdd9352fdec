/** Small questions about a node class that several files ask. */
import type { AksNodeClass } from '../api/kinds/aksNodeClass.ts';
import { findCondition } from '../api/conditions.ts';

/** Whether a part of the status describes the spec as it is now. */
export function isCurrent(nodeClass: AksNodeClass, type: string): boolean {
  const condition = findCondition(nodeClass, type);
  return condition?.status === 'True' && condition.observedGeneration === nodeClass.metadata.generation;
}
