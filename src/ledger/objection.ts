/** Why a pod is excluded from provisioning before any node is considered. */
import type { FieldError } from '../api/schema/fieldError.ts';

/** Problem with a PersistentVolumeClaim of the pod. */
export type ClaimProblem =
  | { readonly problem: 'missing' | 'deleting' | 'lost' | 'unbound' | 'no-storage-class' }
  | { readonly problem: 'storage-class-missing' | 'binds-immediately'; readonly storageClass: string }
  | { readonly problem: 'volume-missing' | 'volume-deleting'; readonly volume: string };

export type PodObjection =
  /** The pod excludes nodes with the NodePool label. This is intended, so no event is published. */
  | { readonly kind: 'opted-out'; readonly label: string }
  | { readonly kind: 'invalid'; readonly errors: readonly FieldError[] }
  | ({ readonly kind: 'volume-claim'; readonly claim: string } & ClaimProblem);
