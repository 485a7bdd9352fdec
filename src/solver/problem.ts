import type { Pod } from '../api/kinds.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import type { Taint } from '../api/kinds/nodeTemplate.ts';
import type { InstanceType } from '../cloud/instanceType.ts';
import type { Requirements } from '../constraints/requirements.ts';
import type { Resources } from '../units/resources.ts';

/** What the solver is asked. Order of pods, nodes and types does not matter; order of pools does. */
export interface Problem {
  readonly pods: readonly Pod[];
  /** In order of preference: a later pool is used only for what earlier ones cannot take. */
  readonly pools: readonly PoolOffer[];
  readonly nodes: readonly ExistingNode[];
  /** One pod per DaemonSet: what will run on every new machine that it fits. */
  readonly daemons: readonly Pod[];
}

export interface PoolOffer {
  readonly pool: NodePool;
  readonly instanceTypes: readonly InstanceType[];
  /** Counts against `spec.limits`; includes the resource `nodes`. */
  readonly used: Resources;
}

/** A machine that is there or on its way, with the room that is left on it. */
export interface ExistingNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly free: Resources;
  readonly pods: readonly Pod[];
  readonly initialized: boolean;
}

/** What the solver answers: every pod of the problem is in exactly one of the three lists. */
export interface Solution {
  readonly onExisting: readonly { readonly node: string; readonly pods: readonly Pod[] }[];
  readonly newNodes: readonly NewNode[];
  readonly unplaced: readonly { readonly pod: Pod; readonly reason: UnplacedReason }[];
  /** Of the new nodes, at the first choice of each. */
  readonly pricePerHour: number;
}

export interface NewNode {
  readonly pool: NodePool;
  /** The pool's requirements narrowed by those of the pods. */
  readonly requirements: Requirements;
  readonly pods: readonly Pod[];
  /** Of the pods and of the daemons that come with any of the alternatives. */
  readonly requests: Resources;
  /** Machines that hold the pods, cheapest first; never empty. */
  readonly alternatives: readonly Alternative[];
}

export interface Alternative {
  readonly instanceType: InstanceType;
  readonly zone: string;
  readonly capacityType: string;
  readonly pricePerHour: number;
}

/** Why a pod has no place: what it asks for that the solver does not do, or what each pool lacks. */
export type UnplacedReason =
  | { readonly kind: 'unsupported'; readonly feature: string }
  | { readonly kind: 'no-pools' }
  | { readonly kind: 'refused'; readonly pools: readonly PoolRefusal[] };

/** The stage that removed a pool's last candidate. */
export type PoolRefusal =
  | { readonly pool: string; readonly stage: 'taints'; readonly detail: string }
  | { readonly pool: string; readonly stage: 'requirements'; readonly detail: string }
  | {
      readonly pool: string;
      readonly stage: 'instance-types' | 'resources' | 'offerings' | 'limits';
      readonly detail: string;
    };
