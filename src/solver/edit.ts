/** A change that may give an unplaced pod a place, as something that can be made and solved with. */
import type { Pod } from '../api/kinds.ts';
import type { PoolOffer } from './problem.ts';
import type { SmallestChange, UnplacedReason } from './reasons.ts';

export type Refused = UnplacedReason & { readonly kind: 'refused' };

/** What an edit changes: the pod that waits and the pools as they are offered. */
export interface EditSubject {
  readonly pod: Pod;
  readonly pools: readonly PoolOffer[];
}

/** Names what it edits by place, so that it can be made to the pod and to the template that the pod was made from. */
export interface Edit {
  readonly change: SmallestChange;
  apply(subject: EditSubject): EditSubject;
}

/** The last first: what an edit removes from a list does not move what the edits before it name. */
export function applyEdits(edits: readonly Edit[], subject: EditSubject): EditSubject {
  return edits.reduceRight<EditSubject>((before, edit) => edit.apply(before), subject);
}
