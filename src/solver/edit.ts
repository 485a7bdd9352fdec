/** A change that may place an unplaced pod, in a form that can be applied and solved with. */
import type { Pod } from '../api/kinds.ts';
import type { PoolOffer } from './problem.ts';
import type { SmallestChange, UnplacedReason } from './reasons.ts';

export type Refused = UnplacedReason & { readonly kind: 'refused' };

/** What an edit changes: the waiting pod and the offered pools. */
export interface EditSubject {
  readonly pod: Pod;
  readonly pools: readonly PoolOffer[];
}

/** Addresses the field by path, so that it applies both to the pod and to the template that made the pod. */
export interface Edit {
  readonly change: SmallestChange;
  apply(subject: EditSubject): EditSubject;
}

/** Applied from last to first, so that removing a list entry does not shift the paths of the other edits. */
export function applyEdits(edits: readonly Edit[], subject: EditSubject): EditSubject {
  return edits.reduceRight<EditSubject>((before, edit) => edit.apply(before), subject);
}
