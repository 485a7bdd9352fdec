/** Decisions as plain data. A record can be stored as JSON and read by another version. */
import type { Alternative } from '../solver/problem.ts';
import type { NodeChoice, UnplacedReason } from '../solver/reasons.ts';
import type {
  DisruptionEndRecord,
  DisruptionRecord,
  DriftRecord,
  KeptRecord,
  SavingsRecord,
} from './disruptionRecord.ts';
import type { PodObjection } from './objection.ts';
import type { PodList } from './podList.ts';

/** Incremented when a record loses a field or a field changes its meaning; not for new fields and kinds. */
export const SCHEMA_VERSION = 1;

/** One pass of the provisioner. */
export interface PlanRecord {
  readonly kind: 'plan';
  readonly pods: number;
  readonly plannedNodes: number;
  readonly onExistingNodes: number;
  readonly unplaced: number;
  readonly pricePerHour: number;
  readonly milliseconds: number;
  /** Planned nodes bought as spares, because the scheduler gets no hints and may fill the others differently. */
  readonly spare?: { readonly nodes: number; readonly pricePerHour: number };
}

/** A NodeClaim that was created for pods. */
export interface LaunchRecord {
  readonly kind: 'launch';
  readonly nodeClaim: string;
  readonly nodePool: string;
  /** Quantity text by resource. */
  readonly requests: Readonly<Record<string, string>>;
  /** The cheapest alternative, requested first. */
  readonly chosen: Alternative;
  /** Other suitable alternatives in the order of attempts; the first few. */
  readonly ladder?: readonly Alternative[];
  /** Names of suitable instance types, cheapest first; the first few. */
  readonly instanceTypes: readonly string[];
  readonly instanceTypeCount: number;
  readonly pods: PodList;
  readonly choice?: NodeChoice;
  /** The disruption command whose nodes it replaces. */
  readonly command?: string;
}

/** NodeClaims created for a static NodePool, or why none was created. */
export interface ReplicasRecord {
  readonly kind: 'replicas';
  readonly nodePool: string;
  readonly replicas: number;
  /** Number of nodes before, without those being removed. */
  readonly nodes: number;
  /** Number of NodeClaims created, and the first few names. */
  readonly nodeClaims: PodList;
  /** The pool's node limit, if it prevented some. */
  readonly limit?: string;
}

/** A NodeClaim deleted by a loop other than disruption. */
export interface RemovalRecord {
  readonly kind: 'removal';
  readonly nodeClaim: string;
  readonly nodePool?: string;
  readonly node?: string;
  readonly reason:
    'expired' | 'unhealthy' | 'instance-gone' | 'surplus' | 'launch-timeout' | 'registration-timeout' | 'node-deleted';
  /** For an unhealthy node: the condition that lasted too long. */
  readonly condition?: string;
  /** Pods that must move. */
  readonly pods: PodList;
}

/** An unhealthy node that is not repaired for now; written when that is new. */
export interface RepairHeldRecord {
  readonly kind: 'repair-held';
  readonly node: string;
  readonly nodeClaim: string;
  readonly nodePool?: string;
  /** The condition that has lasted too long. */
  readonly condition: string;
  readonly cause: 'too-many-unhealthy' | 'budget';
}

/** A launch that the cloud rejected or could not complete. */
interface LaunchFailureRecord {
  readonly kind: 'launch-failure';
  readonly nodeClaim: string;
  readonly nodePool?: string;
  /** The offering that the plan wanted first. */
  readonly planned?: Omit<Alternative, 'pricePerHour'>;
  /** A stable name: `InsufficientCapacity`, `NodeClassNotReady`, `LaunchFailed`, … */
  readonly reason: string;
  /** The cloud's message. */
  readonly message: string;
}

/** Progress of a NodeClaim's instance. */
export interface InstanceRecord {
  readonly kind: 'instance';
  readonly nodeClaim: string;
  readonly state: 'bought' | 'leaving' | 'gone';
  /** The purchased offering; the price is absent when unknown. */
  readonly offering?: Omit<Alternative, 'pricePerHour'> & Partial<Pick<Alternative, 'pricePerHour'>>;
}

/** Pods expected on an existing or launching node. */
export interface NominationRecord {
  readonly kind: 'nomination';
  readonly pods: PodList;
  readonly nodeClaim?: string;
  readonly node?: string;
}

/** Pods without a place, all for the same reason. */
interface RefusalRecord {
  readonly kind: 'refusal';
  readonly pods: PodList;
  readonly reason: UnplacedReason;
}

/** A pod excluded before any node was considered. */
interface ObjectionRecord {
  readonly kind: 'objection';
  readonly pods: PodList;
  readonly objection: PodObjection;
}

/** Pods with a hint, and the node that the scheduler chose. */
export interface HintRecord {
  readonly kind: 'hint';
  readonly pods: PodList;
  /** The planned node. */
  readonly node: string;
  /** The node on which they run. */
  readonly took: string;
}

/** Images that a node class uses from now on, or would use, and the effect on its running nodes. */
export interface ImagesRecord {
  readonly kind: 'images';
  readonly nodeClass: string;
  /** From now on; when the maintenance window opens; or if the class were pinned to them. */
  readonly when: 'now' | 'window' | 'pinned';
  /** Distinct versions. */
  readonly from: readonly string[];
  readonly to: readonly string[];
  /** A previewed version that Azure does not publish for the class. */
  readonly missing?: string;
  /** Whether the class itself specifies the version. */
  readonly pinned: boolean;
  /** Number of the class's NodeClaims with another image, which therefore drift. */
  readonly drifting: number;
  readonly claims: number;
}

/** A user's edit that affects nodes. */
export interface EditRecord {
  readonly kind: 'edit';
  readonly object: { readonly kind: string; readonly namespace?: string; readonly name: string };
  /** Paths of changed fields, the first few; empty when the object was deleted. */
  readonly fields: readonly string[];
  /**
   * Effect on the nodes: they drift, are kept, may be removed again, are removed with their pool, or other settings
   * apply.
   */
  readonly outcome: 'drift' | 'kept' | 'released' | 'deletion' | 'rules';
  readonly nodes: PodList;
}

export type DecisionRecord =
  | PlanRecord
  | LaunchRecord
  | LaunchFailureRecord
  | InstanceRecord
  | ReplicasRecord
  | RemovalRecord
  | RepairHeldRecord
  | NominationRecord
  | HintRecord
  | RefusalRecord
  | ObjectionRecord
  | ImagesRecord
  | EditRecord
  | DisruptionRecord
  | DisruptionEndRecord
  | KeptRecord
  | SavingsRecord
  | DriftRecord;
