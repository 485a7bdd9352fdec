/**
 * The solver's reasons as plain data: every refusal, rejected instance type and suggested change with its stage, object
 * and quantities. Only `ledger/` turns them into sentences.
 */
import type { RequirementItem } from '../constraints/requirement.ts';

/** An exact quantity of a resource, as Kubernetes writes it: `{ resource: 'cpu', amount: '300m' }`. */
export interface Amount {
  readonly resource: string;
  readonly amount: string;
}

/** A taint that the pod does not tolerate. */
export interface RefusedTaint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

/** A label requirement that cannot be met. */
export interface LabelConflict {
  readonly key: string;
  /** The values asked for, as one or more items on the key. */
  readonly asked: readonly RequirementItem[];
  /** The values allowed; absent when nothing has the label. */
  readonly allowed?: readonly RequirementItem[];
  /** The known label that was probably meant. */
  readonly typoOf?: string;
}

/** A topology constraint that no domain satisfies, and the pods that it counts. */
export interface TopologyConflict {
  readonly kind: 'spread' | 'affinity' | 'anti-affinity';
  readonly topologyKey: string;
  /** Spread only. */
  readonly maxSkew?: number;
  readonly minDomains?: number;
  /** Counted pods by domain, at most `SHOWN_DOMAINS`. Empty: nothing has the label. */
  readonly domains: readonly { readonly domain: string; readonly pods: number }[];
  /** Number of domains not shown. */
  readonly more: number;
}

export interface PortConflict {
  readonly port: number;
  readonly protocol: string;
  readonly ip: string;
  /** `podKey` of the daemon that holds the port. */
  readonly daemon?: string;
}

/** The instance type that lacks least. */
export interface NearestType {
  readonly instanceType: string;
  readonly lacks: readonly Amount[];
}

/** A quota that leaves too little for any suitable instance type. */
export interface QuotaShortage {
  readonly quota: string;
  readonly limit: number;
  /** Includes nodes being launched and those of this plan. */
  readonly used: number;
  /** The least amount that an instance would use. */
  readonly needed: number;
}

export type StageRefusal =
  | { readonly stage: 'taints'; readonly taints: readonly RefusedTaint[] }
  /** The pod's own requirements contradict the pool's. */
  | { readonly stage: 'requirements'; readonly conflicts: readonly LabelConflict[] }
  /** The smallest set of requirements that no instance type of the pool meets together. */
  | { readonly stage: 'instance-types'; readonly unmet: readonly LabelConflict[]; readonly byPoolAlone: boolean }
  | { readonly stage: 'resources'; readonly nearest: NearestType }
  /** A resource that no instance type of the pool has. */
  | { readonly stage: 'resources'; readonly unknownResource: string }
  /** `unmet`: requirements on offerings; empty when suitable ones exist but are unavailable now. */
  | { readonly stage: 'offerings'; readonly instanceTypes: readonly string[]; readonly unmet: readonly LabelConflict[] }
  | { readonly stage: 'host-ports'; readonly ports: readonly PortConflict[] }
  /** `keys`: labels for which the volumes need different values. */
  | { readonly stage: 'volumes'; readonly keys: readonly string[] }
  | { readonly stage: 'volumes'; readonly alternatives: readonly (readonly RequirementItem[])[] }
  | { readonly stage: 'limits'; readonly limits: readonly string[] }
  | { readonly stage: 'quota'; readonly shortages: readonly QuotaShortage[] }
  | { readonly stage: 'min-values'; readonly key: string; readonly atLeast: number; readonly offered: number }
  | { readonly stage: 'topology'; readonly conflicts: readonly TopologyConflict[] };

export type RefusalStage = StageRefusal['stage'];

/** The stage that removed a pool's last candidate. */
export type PoolRefusal = StageRefusal & {
  readonly pool: string;
  /** Number of instance types removed by each stage, in the order of the stages. */
  readonly removed: readonly { readonly stage: RefusalStage; readonly count: number }[];
};

/** Existing nodes that refuse the pod for the same reason. */
export interface NodeRefusal {
  readonly stage: 'not-ready' | 'taints' | 'requirements' | 'volumes' | 'resources' | 'host-ports' | 'topology';
  readonly nodes: number;
  /** One of them. */
  readonly example: string;
}

/** One change that places the pod, verified by solving with it. */
export type SmallestChange =
  | { readonly kind: 'toleration'; readonly pool: string; readonly taints: readonly RefusedTaint[] }
  | { readonly kind: 'node-selector'; readonly key: string; readonly value: string }
  | { readonly kind: 'affinity-term'; readonly term: RequirementItem }
  | { readonly kind: 'spread'; readonly topologyKey: string }
  | {
      readonly kind: 'pod-affinity';
      readonly relation: 'affinity' | 'anti-affinity';
      readonly topologyKey: string;
    }
  | { readonly kind: 'host-ports'; readonly ports: readonly number[] }
  /** Stop requesting a resource that nothing has. */
  | { readonly kind: 'resource'; readonly resource: string }
  | { readonly kind: 'requests'; readonly less: readonly Amount[]; readonly instanceType: string }
  /** Remove the taint from the pool. */
  | { readonly kind: 'pool-taint'; readonly pool: string; readonly taints: readonly RefusedTaint[] }
  /** Allow the pod's values of this label in the pool; `allow` undefined: drop the pool's requirement on the label. */
  | {
      readonly kind: 'pool-requirement';
      readonly pool: string;
      readonly key: string;
      readonly allow?: RequirementItem;
    }
  /** Add a label that the pod selects on to the pool's nodes. */
  | { readonly kind: 'pool-label'; readonly pool: string; readonly key: string; readonly value: string }
  | { readonly kind: 'min-values'; readonly pool: string; readonly key: string; readonly to: number }
  | {
      readonly kind: 'limit';
      readonly pool: string;
      readonly resource: string;
      readonly from: string;
      readonly to: string;
    };

/** Why a pod is unplaced: an unsupported feature, or what each pool and node lacks. */
export type UnplacedReason =
  | { readonly kind: 'unsupported'; readonly feature: 'dynamic-resource-claims' }
  /** No NodePool is ready, and no existing node takes it. */
  | { readonly kind: 'no-pools'; readonly nodes: readonly NodeRefusal[] }
  /** Fewer members of its group could be placed than required, so none is. */
  | { readonly kind: 'group'; readonly group: string; readonly placeable: number; readonly needed: number }
  /** Suitable reservations are used up by this plan; the next plan knows what is left of them. */
  | { readonly kind: 'reservation'; readonly pool: string; readonly reservations: readonly string[] }
  | {
      readonly kind: 'refused';
      readonly pools: readonly PoolRefusal[];
      readonly nodes: readonly NodeRefusal[];
      readonly smallestChange?: SmallestChange;
    };

/** A rejected type: dearer, or cheaper but too small or not available. */
export type RejectedType = { readonly instanceType: string; readonly pricePerHour?: number } & (
  | { readonly because: 'fit'; readonly lacks: Amount }
  | { readonly because: 'price'; readonly morePerHour: number }
  | { readonly because: 'availability' }
);

/** Why a planned node has its instance type. */
export interface NodeChoice {
  /**
   * `podKey` of the pod without which a cheaper instance type would suffice; absent when no cheaper type holds any pod.
   */
  readonly boundBy?: string;
  /** The resource of which the next cheaper type has too little for the pods. */
  readonly boundByResource?: string;
  readonly others: readonly RejectedType[];
  /** Number of the pool's instance types, and how many each stage removed; absent in older records. */
  readonly candidates?: CandidateCounts;
}

export interface CandidateCounts {
  readonly offered: number;
  readonly removed: readonly { readonly stage: CandidateStage; readonly count: number }[];
}

/** `replacement`: types that may not replace the removed nodes. */
export type CandidateStage = RefusalStage | 'replacement';
