/** Content of an event for the owner of an object, as typed data; `noticeText.ts` renders it. */
import type { Condition } from '../api/object.ts';
import type { DisruptionShield } from '../pods/doNotDisrupt.ts';
import type { UnplacedReason } from '../solver/reasons.ts';
import type { DisruptionNotice } from './disruptionNotice.ts';
import type { PodObjection } from './objection.ts';
import type { NominationRecord } from './record.ts';

/** Type, reason and message of an event, as Kubernetes has them. */
export interface NoticeText {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** A resource of which a node has less than its NodeClaim promised. Values are quantity texts. */
export interface ResourceShortfall {
  readonly resource: string;
  readonly expected: string;
  readonly found: string;
  /** Found amount as a share of the expected amount. */
  readonly share: number;
}

/** A launch that failed. `problem` is the cloud's or the API server's own message. */
interface LaunchNotice {
  readonly nodeClaim: string;
  readonly problem: string;
}

/** Deletion of a pod because its node must be gone at `deadline` (milliseconds since 1970). */
export interface ForcedDeletion {
  readonly deadline: number;
  /** Seconds granted to the pod, and seconds that its spec requests. */
  readonly granted: number;
  readonly asked: number;
}

/** `problem` is the API server's own message. */
export interface EvictionRefusal {
  readonly pod: string;
  readonly because: 'budget' | 'several-budgets';
  readonly problem: string;
}

export type Notice =
  | ({ readonly kind: 'nominated' } & Pick<NominationRecord, 'nodeClaim' | 'node'>)
  | { readonly kind: 'unschedulable'; readonly reason: UnplacedReason }
  | { readonly kind: 'ignored'; readonly objection: PodObjection }
  | { readonly kind: 'no-instance-types' }
  | ({ readonly kind: 'insufficient-capacity' } & LaunchNotice)
  | ({ readonly kind: 'node-class-not-ready' } & LaunchNotice)
  | ({ readonly kind: 'launch-failed'; readonly reason: string } & LaunchNotice)
  | { readonly kind: 'node-class-missing'; readonly problem: string }
  | { readonly kind: 'accepted-launch-failed'; readonly problem: string }
  | { readonly kind: 'unregistered-taint-missing' }
  | { readonly kind: 'resource-shortfall'; readonly shortfall: ResourceShortfall }
  | { readonly kind: 'repair-blocked'; readonly toleratedPercent: number; readonly scope: 'cluster' | 'nodepool' }
  | { readonly kind: 'evicted'; readonly cause: string }
  | ({ readonly kind: 'pod-deleted' } & ForcedDeletion)
  | ({ readonly kind: 'eviction-refused' } & EvictionRefusal)
  | { readonly kind: 'shield'; readonly shield: TemporaryShield }
  | { readonly kind: 'pods-to-evict'; readonly count: number }
  | { readonly kind: 'volumes-attached'; readonly attachments: readonly string[] }
  | { readonly kind: 'deadline'; readonly deadline: string }
  | { readonly kind: 'claims-remain'; readonly nodeClaims: readonly string[] }
  | { readonly kind: 'condition-changed'; readonly before: string; readonly condition: Condition }
  | { readonly kind: 'finalized'; readonly finalizer: string }
  | DisruptionNotice;

/** Readings of do-not-disrupt that the pod's owner should know about. */
type TemporaryShield = Extract<DisruptionShield, { readonly state: 'invalid' | 'elapsed' }> | ShieldUntil;
interface ShieldUntil {
  readonly state: 'until';
  /** Milliseconds since 1970. */
  readonly end: number;
}
