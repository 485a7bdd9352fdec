/** Decisions as plain data. A record can be written as JSON, kept, and read back by another version. */
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

/** Rises when a record loses a field or a field changes its meaning; new fields and kinds do not raise it. */
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
  /** Of the planned nodes: bought because the scheduler is not told the plan, and may fill the others its own way. */
  readonly spare?: { readonly nodes: number; readonly pricePerHour: number };
}

/** A NodeClaim that was created for pods. */
export interface LaunchRecord {
  readonly kind: 'launch';
  readonly nodeClaim: string;
  readonly nodePool: string;
  /** Quantity text by resource. */
  readonly requests: Readonly<Record<string, string>>;
  /** The cheapest alternative, which is asked for first. */
  readonly chosen: Alternative;
  /** What else would do, in the order in which it is tried; the first few. */
  readonly ladder?: readonly Alternative[];
  /** Names of the instance types that would do, cheapest first; the first few. */
  readonly instanceTypes: readonly string[];
  readonly instanceTypeCount: number;
  readonly pods: PodList;
  readonly choice?: NodeChoice;
  /** The disruption command whose nodes it replaces. */
  readonly command?: string;
}

/** NodeClaims that a static NodePool lacked and that were created, or why none was. */
export interface ReplicasRecord {
  readonly kind: 'replicas';
  readonly nodePool: string;
  readonly replicas: number;
  /** Nodes before it that were not on their way out. */
  readonly nodes: number;
  /** How many NodeClaims were created, and the names of the first few. */
  readonly nodeClaims: PodList;
  /** The pool's limit of nodes, where it holds back some. */
  readonly limit?: string;
}

/** A NodeClaim that a loop deleted on its own, not by a disruption command. */
export interface RemovalRecord {
  readonly kind: 'removal';
  readonly nodeClaim: string;
  readonly nodePool?: string;
  readonly node?: string;
  readonly reason:
    'expired' | 'unhealthy' | 'instance-gone' | 'surplus' | 'launch-timeout' | 'registration-timeout' | 'node-deleted';
  /** Of an unhealthy node: the condition that it has had for too long. */
  readonly condition?: string;
  /** Pods that have to move. */
  readonly pods: PodList;
}

/** An unhealthy node that is not replaced for now; written when that is new. */
export interface RepairHeldRecord {
  readonly kind: 'repair-held';
  readonly node: string;
  readonly nodeClaim: string;
  readonly nodePool?: string;
  /** The condition that it has had for too long. */
  readonly condition: string;
  readonly cause: 'too-many-unhealthy' | 'budget';
}

/** A launch that the cloud refused or could not complete. */
interface LaunchFailureRecord {
  readonly kind: 'launch-failure';
  readonly nodeClaim: string;
  readonly nodePool?: string;
  /** Why, as a stable name: `InsufficientCapacity`, `NodeClassNotReady`, `LaunchFailed`, … */
  readonly reason: string;
  /** What the cloud said. */
  readonly message: string;
}

/** What became of the instance of a NodeClaim. */
export interface InstanceRecord {
  readonly kind: 'instance';
  readonly nodeClaim: string;
  readonly state: 'bought' | 'leaving' | 'gone';
  /** What was bought; the price is absent where it is not known. */
  readonly offering?: Omit<Alternative, 'pricePerHour'> & Partial<Pick<Alternative, 'pricePerHour'>>;
}

/** Pods that are expected on a node that exists or is on its way. */
export interface NominationRecord {
  readonly kind: 'nomination';
  readonly pods: PodList;
  readonly nodeClaim?: string;
  readonly node?: string;
}

/** Pods that found no place, all for the same reason. */
interface RefusalRecord {
  readonly kind: 'refusal';
  readonly pods: PodList;
  readonly reason: UnplacedReason;
}

/** A pod that was left out before any node was looked at. */
interface ObjectionRecord {
  readonly kind: 'objection';
  readonly pods: PodList;
  readonly objection: PodObjection;
}

/** Pods that the scheduler was told a node for, and the node that it took. */
export interface HintRecord {
  readonly kind: 'hint';
  readonly pods: PodList;
  /** The node that the plan had for them. */
  readonly node: string;
  /** The node that they run on. */
  readonly took: string;
}

/** The images that a node class boots from now on, or would boot, and what that does to the nodes that run. */
export interface ImagesRecord {
  readonly kind: 'images';
  readonly nodeClass: string;
  /** From now on, when the maintenance window opens, or if the class were pinned to them. */
  readonly when: 'now' | 'window' | 'pinned';
  /** Versions, each once. */
  readonly from: readonly string[];
  readonly to: readonly string[];
  /** The version of a preview that Azure does not publish for the class. */
  readonly missing?: string;
  /** Whether the class names the version itself. */
  readonly pinned: boolean;
  /** How many of the class's NodeClaims run another image and drift. */
  readonly drifting: number;
  readonly claims: number;
}

/** An edit by a user that changes what becomes of nodes. */
export interface EditRecord {
  readonly kind: 'edit';
  readonly object: { readonly kind: string; readonly namespace?: string; readonly name: string };
  /** Paths of what was changed, the first few; none when the object was deleted. */
  readonly fields: readonly string[];
  /** The nodes drift, are kept, may go again, go with their pool, or other settings hold for them. */
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
