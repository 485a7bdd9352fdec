/**
 * What the solver is asked and what it answers. The order of pods, nodes and types in the question does not matter. The
 * answer is plain data: it holds no model and no object of the cluster, can be written as JSON, kept and read back.
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

/** The world as it stands: compiled once, asked many times. */
export interface Snapshot {
  /**
   * In order of preference: a pool is used only for what those of higher weight cannot take. Among pools of one weight
   * the price decides, and at the same price the order.
   */
  readonly pools: readonly PoolOffer[];
  readonly nodes: readonly ExistingNode[];
  /** One pod per DaemonSet: what will run on every new node that it fits. */
  readonly daemons: readonly Pod[];
  readonly namespaces?: NamespaceLabels;
  /** By `podKey`; pods without an entry have no volumes that matter. */
  readonly volumes?: Pick<ReadonlyMap<string, PodVolumes>, 'get'>;
  readonly defaultSpread?: DefaultSpread;
  /** By name: what all pools together may take of what offerings count against. A quota without an entry is not limited. */
  readonly quotas?: ReadonlyMap<string, QuotaFigure>;
}

/** One question: these pods wait, and these nodes (with the pods on them) are not there. */
export interface Overlay {
  readonly pods: readonly Pod[];
  readonly withoutNodes?: ReadonlySet<string>;
  /** Nodes that are there, but take none of these pods. */
  readonly closedNodes?: ReadonlySet<string>;
}

export interface Problem extends Snapshot {
  readonly pods: readonly Pod[];
}

/** Spread constraints for pods that have none, and the selector that the scheduler would deduce for a pod. */
interface DefaultSpread {
  readonly constraints: readonly TopologySpreadConstraint[];
  selectorOf(pod: Pod): LabelSelector | undefined;
}

export interface PoolOffer {
  readonly pool: NodePool;
  readonly instanceTypes: readonly InstanceType[];
  /** Counts against `spec.limits`; includes the resource `nodes`. */
  readonly used: Resources;
  /** Quotas that new nodes are held to, beside the pool's own limits; the same for all pools. */
  readonly quotas?: readonly string[];
}

/** A node that is there or on its way, with the room that is left on it. */
export interface ExistingNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly free: Resources;
  readonly pods: readonly Pod[];
  readonly initialized: boolean;
  /** Host ports that daemons will take which have yet to come. */
  readonly reservedPorts?: readonly HostPort[];
  /** Disks that may be attached, by driver; a driver without an entry is not limited. */
  readonly volumeLimits?: ReadonlyMap<string, number>;
}

export interface SolveOptions {
  /** Whether preferences are tried as if they were required, and dropped one by one, or left to the scheduler. */
  readonly preferencePolicy?: 'Respect' | 'Ignore';
  readonly minValuesPolicy?: 'Strict' | 'BestEffort';
  /**
   * What happens to pods that could use a reservation which this plan uses up: they wait for the next plan, which knows
   * what is left of it (Strict), or get a node at the usual price now (Fallback).
   */
  readonly reservedCapacity?: 'Strict' | 'Fallback';
  /** Dollars per hour that a node costs beside its price; steers the choice, is not part of the result's price. */
  readonly nodeOverheadCost?: number;
  /** Largest share of the waiting pods that one new node may hold, above 0 up to 1. */
  readonly maxPodsSharePerNode?: number;
  /**
   * No planned node is shared by pods of different priorities, as far as pods are packed class by class: other orders are
   * not tried.
   */
  readonly keepsPrioritiesApart?: boolean;
  /** How many rounds of improvement may follow the first plan. Counted, so that the same input has the same answer. */
  readonly searchRounds?: number;
  /** Stops the improvement early by `now`; only then may two runs differ. */
  readonly timeBudgetMs?: number;
  readonly now?: () => number;
  /** Says for each planned node why it has its instance type. What-ifs that are only compared do without. */
  readonly explainChoices?: boolean;
  /**
   * For a what-if: where the pods go, which nodes are planned and at what price, and nothing that only a report reads.
   * A planned node has only its first alternative, an unplaced pod no detail of its refusal, and no bound is proven.
   */
  readonly outcomeOnly?: boolean;
  /** Looks for the smallest change that would place each unplaced kind of pod, by solving again. */
  readonly suggestChanges?: boolean;
}

/**
 * What the solver answers: every pod of the problem is in exactly one of the three lists. Pods go by their `podKey`,
 * pools, nodes and instance types by their names.
 */
export interface Solution {
  readonly onExisting: readonly { readonly node: string; readonly pods: readonly string[] }[];
  readonly plannedNodes: readonly PlannedNode[];
  readonly unplaced: readonly { readonly pod: string; readonly reason: UnplacedReason }[];
  /** Of the planned nodes, at the first alternative of each. */
  readonly pricePerHour: number;
  readonly lowerBound: LowerBound;
  /** Rounds of improvement that were made. */
  readonly searchRounds: number;
}

export interface LowerBound {
  /** No plan that places the same pods on new nodes costs less. */
  readonly pricePerHour: number;
  readonly proof: BoundProof;
  readonly gap: readonly GapPart[];
}

/**
 * What was solved to prove a bound, which says what it leaves out of account: nothing, so that the bound is 0; the
 * fractional covering of resources by instance types; or, stronger, of pods by whole fillings of nodes.
 */
export type BoundProof = 'none' | 'fractional-covering' | 'whole-fillings';

/** A part of the distance between price and bound, in dollars per hour. */
export interface GapPart {
  readonly cause: 'unused-capacity' | 'dearer-types' | 'daemons' | 'constraints';
  readonly pricePerHour: number;
}

/** A node to be created for pods that fit on no existing one. */
export interface PlannedNode {
  readonly pool: string;
  /** The pool's requirements narrowed by those of the pods, in order of their keys. */
  readonly requirements: readonly RequirementItem[];
  readonly pods: readonly string[];
  /** Quantity text by resource: the sum of the pods and of the daemons that come with every alternative. */
  readonly requests: Readonly<Record<string, string>>;
  /**
   * What holds the pods, cheapest first; never empty, and of at most 600 instance types. Planned nodes that the same
   * types hold share one list. With `outcomeOnly` only the first.
   */
  readonly alternatives: readonly Alternative[];
  /** Fewer different values than the pool's `minValues` asks for were left, and the policy allows that. */
  readonly minValuesRelaxed: boolean;
  /** Why the first alternative, and which pod made a smaller one impossible; with `explainChoices`. */
  readonly choice?: NodeChoice;
}

export interface Alternative {
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: string;
  readonly pricePerHour: number;
}
