/**
 * Why a node is kept, as plain data: every node that a pass does not disrupt has one cause. Only `ledger/` and the
 * loop's events turn causes into sentences.
 */
import type { DisruptionReason } from '../api/kinds/nodePool.ts';
import type { UnplacedReason } from '../solver/reasons.ts';

/** A node or claim that a pass considered and kept. */
export interface Kept {
  /** Absent while the claim has no Node. */
  readonly node?: string;
  readonly nodeClaim?: string;
  readonly nodePool?: string;
  readonly cause: KeptCause;
}

/** Pods and PodDisruptionBudgets go by `namespace/name`. */
export type KeptCause = CandidateCause | MethodCause | OutcomeCause;

/** The node is not a candidate for any method. In the order of the checks. */
export type CandidateCause =
  | { readonly kind: 'queued' }
  | { readonly kind: 'no-node' }
  | { readonly kind: 'not-initialized' }
  | { readonly kind: 'deleting' }
  | { readonly kind: 'nominated' }
  | { readonly kind: 'do-not-disrupt-node' }
  | { readonly kind: 'no-pool-label' }
  | { readonly kind: 'pool-not-found'; readonly pool: string }
  | PodCause;

/** The node has a pod that must not be evicted now. */
export type PodCause =
  | { readonly kind: 'do-not-disrupt-pod'; readonly pod: string; readonly until?: number }
  | { readonly kind: 'pdb'; readonly pod: string; readonly budgets: readonly string[] };

/** The method does not apply to the node, or the pool's settings exclude it. */
type MethodCause =
  | { readonly kind: 'static-pool' }
  | { readonly kind: 'not-static-pool' }
  | { readonly kind: 'not-drifted' }
  | { readonly kind: 'not-empty' }
  | { readonly kind: 'empty' }
  | { readonly kind: 'buffer-pods' }
  | { readonly kind: 'consolidation-disabled' }
  | { readonly kind: 'policy'; readonly policy: string }
  | { readonly kind: 'too-young'; readonly consolidateAfter: string }
  | { readonly kind: 'unknown-instance-type'; readonly instanceType: string | undefined }
  | { readonly kind: 'unknown-capacity-type' }
  | { readonly kind: 'unknown-zone' };

/** Removing the node was considered, but is not worth it, not possible or not allowed now. */
export type OutcomeCause =
  | { readonly kind: 'budget'; readonly reason: DisruptionReason; readonly allowed: number; readonly window: boolean }
  | { readonly kind: 'would-strand'; readonly pods: readonly StrandedPod[]; readonly count: number }
  | { readonly kind: 'not-cheaper'; readonly pricePerHour: number; readonly replacementPricePerHour: number }
  | { readonly kind: 'unknown-price' }
  | { readonly kind: 'min-values'; readonly key: string; readonly atLeast: number; readonly offered: number }
  | { readonly kind: 'spot-to-spot-disabled' }
  | { readonly kind: 'spot-to-spot-flexibility'; readonly instanceTypes: number; readonly needed: number }
  | { readonly kind: 'balanced-score'; readonly score: number; readonly threshold: number }
  | { readonly kind: 'no-payback'; readonly savingsPerHour: number; readonly hours: number; readonly cost: number }
  | { readonly kind: 'recent-launch-failure'; readonly until: number }
  | { readonly kind: 'scale-down-first'; readonly nodes: number; readonly replicas: number }
  | { readonly kind: 'node-limit' }
  | { readonly kind: 'other-zone-first'; readonly zone: string }
  | { readonly kind: 'next-pass' };

/** A pod that would not have a place. */
interface StrandedPod {
  readonly pod: string;
  readonly reason: UnplacedReason;
}
