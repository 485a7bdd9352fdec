/**
 * The solver's question and answer. The order of pods, nodes and types in the question does not matter. The answer is
 * plain data without references to the model or the cluster; it can be stored as JSON and read back.
 */
import type { LabelSelector } from 'kubernetes-types/meta/v1.js';
import type { TopologySpreadConstraint } from 'kubernetes-types/core/v1.js';
import type { Pod } from '../api/kinds.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import type { Taint } from '../api/kinds/nodeTemplate.ts';
import type { InstanceType, QuotaFigure } from '../cloud/instanceType.ts';
import type { RequirementItem } from '../constraints/requirement.ts';
import type { NamespaceLabels } from '../constraints/topology.ts';
import type { PodVolumes } from '../constraints/volumes.ts';
import type { HostPort } from '../pods/hostPorts.ts';
import type { Resources } from '../units/resources.ts';
import type { NodeChoice, UnplacedReason } from './reasons.ts';

/** State of the cluster: compiled once, asked many times. */
export interface Snapshot {
  /**
   * In order of preference: a pool is used only for pods that pools of higher weight cannot take. Among pools of equal
   * weight the price decides; ties go by list order.
   */
  readonly pools: readonly PoolOffer[];
  readonly nodes: readonly ExistingNode[];
  /** One pod per DaemonSet: runs on every new node where it fits. */
  readonly daemons: readonly Pod[];
  readonly namespaces?: NamespaceLabels;
  /** By `podKey`; pods without an entry have no relevant volumes. */
  readonly volumes?: Pick<ReadonlyMap<string, PodVolumes>, 'get'>;
  readonly defaultSpread?: DefaultSpread;
  /** By quota name: the total that all pools may use. A quota without an entry is unlimited. */
  readonly quotas?: ReadonlyMap<string, QuotaFigure>;
}

/** One question: the waiting pods, and the nodes to ignore together with their pods. */
export interface Overlay {
  readonly pods: readonly Pod[];
  readonly withoutNodes?: ReadonlySet<string>;
  /** Nodes that exist but accept none of these pods. */
  readonly closedNodes?: ReadonlySet<string>;
}

export interface Problem extends Snapshot {
  readonly pods: readonly Pod[];
}

/** Default spread constraints for pods without any, and the selector that the scheduler would derive for a pod. */
interface DefaultSpread {
  readonly constraints: readonly TopologySpreadConstraint[];
  selectorOf(pod: Pod): LabelSelector | undefined;
}

export interface PoolOffer {
  readonly pool: NodePool;
  readonly instanceTypes: readonly InstanceType[];
  /** Counts against `spec.limits`; includes the resource `nodes`. */
  readonly used: Resources;
  /** Quotas that restrict new nodes in addition to the pool's limits; the same for all pools. */
  readonly quotas?: readonly string[];
}

/** An existing or launching node, with its free room. */
export interface ExistingNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly free: Resources;
  readonly pods: readonly Pod[];
  readonly initialized: boolean;
  /** Host ports needed by daemons that are not running there yet. */
  readonly reservedPorts?: readonly HostPort[];
  /** How many disks can be attached, by driver; a driver without an entry is unlimited. */
  readonly volumeLimits?: ReadonlyMap<string, number>;
}

export interface SolveOptions {
  /** Respect: try preferences as requirements and drop them one by one. Ignore: leave them to the scheduler. */
  readonly preferencePolicy?: 'Respect' | 'Ignore';
  readonly minValuesPolicy?: 'Strict' | 'BestEffort';
  /**
   * For pods that could use a reservation which this plan uses up: wait for the next plan, which knows what is left
   * (Strict), or get a node at the normal price now (Fallback).
   */
  readonly reservedCapacity?: 'Strict' | 'Fallback';
  /** Extra cost per node in dollars per hour: affects the choice, but is not part of the reported price. */
  readonly nodeOverheadCost?: number;
  /** Largest share of the waiting pods that one new node may hold, above 0 up to 1. */
  readonly maxPodsSharePerNode?: number;
  /**
   * Keeps pods of different priorities on different planned nodes, for pods packed class by class. Disables other
   * orders.
   */
  readonly keepsPrioritiesApart?: boolean;
  /** Maximum rounds of improvement after the first plan. A count, so that the same input has the same answer. */
  readonly searchRounds?: number;
  /** Stops the improvement early by `now`; only then may two runs differ. */
  readonly timeBudgetMs?: number;
  readonly now?: () => number;
  /** Explains the instance type of each planned node. Not needed for what-ifs that are only compared. */
  readonly explainChoices?: boolean;
  /**
   * For a what-if: only where pods go, which nodes are planned and at what price; nothing that only a report reads. A
   * planned node has only its first alternative, an unplaced pod has no details of its refusal, and no bound is
   * computed.
   */
  readonly outcomeOnly?: boolean;
  /** Searches, by solving again, for the smallest change that would place each unplaced kind of pod. */
  readonly suggestChanges?: boolean;
}

/**
 * The answer: every pod of the problem is in exactly one of the three lists. Pods are named by their `podKey`; pools,
 * nodes and instance types by name.
 */
export interface Solution {
  readonly onExisting: readonly { readonly node: string; readonly pods: readonly string[] }[];
  readonly plannedNodes: readonly PlannedNode[];
  readonly unplaced: readonly { readonly pod: string; readonly reason: UnplacedReason }[];
  /** Total of the planned nodes, at the first alternative of each. */
  readonly pricePerHour: number;
  readonly lowerBound: LowerBound;
  /** Rounds of improvement made. */
  readonly searchRounds: number;
}

export interface LowerBound {
  /** No plan that places the same pods on new nodes costs less. */
  readonly pricePerHour: number;
  readonly proof: BoundProof;
  readonly gap: readonly GapPart[];
}

/**
 * How the bound was proven. none: not proven, the bound is 0. fractional-covering: instance types may be bought in
 * fractions. whole-fillings: stronger, pods fill whole nodes.
 */
export type BoundProof = 'none' | 'fractional-covering' | 'whole-fillings';

/** A part of the gap between price and bound, in dollars per hour. */
export interface GapPart {
  readonly cause: 'unused-capacity' | 'dearer-types' | 'daemons' | 'constraints';
  readonly pricePerHour: number;
}

/** A node to create for pods that fit on no existing one. */
export interface PlannedNode {
  readonly pool: string;
  /** The pool's requirements narrowed by those of the pods, sorted by key. */
  readonly requirements: readonly RequirementItem[];
  readonly pods: readonly string[];
  /** Quantity text by resource: sum of the pods and of the daemons common to all alternatives. */
  readonly requests: Readonly<Record<string, string>>;
  /**
   * Offerings that hold the pods, cheapest first; never empty, at most 600 instance types. Planned nodes with the same
   * alternatives share one list. With `outcomeOnly` only the first.
   */
  readonly alternatives: readonly Alternative[];
  /** Fewer distinct values were left than the pool's `minValues` requires, and the policy allows that. */
  readonly minValuesRelaxed: boolean;
  /** Reason for the first alternative, and which pod made a smaller one impossible; with `explainChoices`. */
  readonly choice?: NodeChoice;
}

export interface Alternative {
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: string;
  readonly pricePerHour: number;
}
