/** Why a pod is left out of provisioning before any node is looked at. */
import type { FieldError } from '../api/schema/fieldError.ts';

/** What is wrong with a PersistentVolumeClaim of the pod. */
export type ClaimProblem =
  | { readonly problem: 'missing' | 'deleting' | 'lost' | 'unbound' | 'no-storage-class' }
  | { readonly problem: 'storage-class-missing' | 'binds-immediately'; readonly storageClass: string }
  | { readonly problem: 'volume-missing' | 'volume-deleting'; readonly volume: string };

export type PodObjection =
  /** The pod asks for nodes without the NodePool label: meant that way, so no event is published. */
  | { readonly kind: 'opted-out'; readonly label: string }
  | { readonly kind: 'invalid'; readonly errors: readonly FieldError[] }
  | ({ readonly kind: 'volume-claim'; readonly claim: string } & ClaimProblem);
