/**
 * Data from the server to the page, per screen, as JSON. Plain types without imports: the page is compiled for the
 * browser and shares no other code with the server. Dollars are US dollars, times are milliseconds since 1970.
 */

/** State of the controller. */
export type ControllerState =
  /** This process is the leader and acts. */
  | 'leading'
  /** Another process is the leader; this one only watches. */
  | 'standby'
  | 'starting'
  /** Stopped or failed; the data shown is outdated. */
  | 'stopped'
  /** There is no controller here: the cluster is only read. */
  | 'outside';

export interface NodeRow {
  readonly name: string;
  readonly nodePool: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: string;
  /** Per hour; 0 when unknown. */
  readonly price: number;
  /** Requested share of the resources allocatable to pods. */
  readonly cpu: number;
  readonly memory: number;
  /** Allocatable cores and GiB. */
  readonly cores: number;
  readonly gib: number;
  readonly pods: number;
  readonly maxPods: number;
  readonly created: number;
  readonly status: string;
}

export interface DecisionRow {
  readonly sequence: number;
  readonly time: number;
  readonly kind: string;
  readonly text: string;
}

/** One point of the charts on Now. */
export interface HistoryPoint {
  readonly time: number;
  readonly price: number;
  readonly nodes: number;
  readonly pending: number;
  readonly pods: number;
}

export interface Totals {
  readonly nodes: number;
  readonly readyNodes: number;
  readonly pods: number;
  readonly pending: number;
  readonly pricePerHour: number;
  readonly pricePerMonth: number;
  /** Share of the bill, from 0 to 1. */
  readonly spotShare: number;
  /** Over all nodes, from 0 to 1. */
  readonly cpu: number;
  readonly memory: number;
  /** Per hour: blocked savings, and savings of commands so far. */
  readonly heldPerHour: number;
  readonly savedPerHour: number;
}

export interface PoolRow {
  readonly name: string;
  readonly nodes: number;
  readonly pods: number;
  readonly pricePerHour: number;
  readonly cpu: number;
  readonly memory: number;
}

export interface NowScreen {
  readonly time: number;
  readonly state: ControllerState;
  readonly title: string;
  /** The state of the cluster in a sentence. */
  readonly sentence: string;
  readonly mood: 'good' | 'busy' | 'bad';
  readonly totals: Totals;
  readonly pools: readonly PoolRow[];
  readonly history: readonly HistoryPoint[];
  /** Newest first. */
  readonly decisions: readonly DecisionRow[];
}

/** Message of the stream: changes since the last message to the same client. */
export interface StreamMessage {
  readonly time: number;
  readonly state: ControllerState;
  /** Increases whenever anything shown on a screen has changed. */
  readonly version: number;
  readonly totals: Totals;
  readonly nodes?: { readonly changed: readonly NodeRow[]; readonly gone: readonly string[] };
}

export interface NodesScreen {
  readonly time: number;
  readonly nodes: readonly NodeRow[];
}

interface Fix {
  readonly sentence: string;
  /** Commands that apply the fix; empty where no patch can. */
  readonly commands: readonly string[];
}

export interface Answer {
  readonly sentence: string;
  readonly constraint: string;
  readonly evidence: readonly string[];
  readonly fixes: readonly Fix[];
}

export interface PendingGroup {
  /** `namespace/Kind/name` of the pods' owner. */
  readonly workload: string;
  readonly count: number;
  /** Those of them that nodes are planned for; not gated ones, and none of other schedulers. */
  readonly counted: number;
  /** Since when the first of them has been waiting. */
  readonly since: number;
  /** `namespace/name` of one of them. */
  readonly example: string;
  /** Result of the last plan; empty before the first one. */
  readonly reason: string;
  /** The claim of the node being launched for it. */
  readonly promised?: string;
}

export interface PendingScreen {
  readonly time: number;
  readonly groups: readonly PendingGroup[];
}

export interface Offer {
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: string;
  readonly pricePerHour?: number;
}

export interface DecisionDetail extends DecisionRow {
  /** More facts as text. */
  readonly lines: readonly string[];
  /** Offerings in the order of attempts. */
  readonly ladder: readonly Offer[];
  /** Rejected instance types, and why. */
  readonly rejected: readonly { readonly instanceType: string; readonly price?: number; readonly why: string }[];
  readonly pods: readonly string[];
  readonly podCount: number;
  readonly nodes: readonly string[];
}

export interface DecisionsScreen {
  readonly time: number;
  /** Newest first. */
  readonly decisions: readonly DecisionRow[];
  readonly more: boolean;
}

export interface NodePod {
  readonly name: string;
  readonly workload: string;
  /** Cores and GiB. */
  readonly cpu: number;
  readonly memory: number;
}

export interface NodeScreen {
  readonly time: number;
  readonly node: NodeRow;
  readonly nodeClaim: string;
  readonly explanation?: Answer;
  /** Why there is no explanation. */
  readonly unexplained?: string;
  readonly boughtForPods: number;
  readonly replaces: readonly string[];
  readonly offerings: readonly Offer[];
  /** What would be bought for its pods today. */
  readonly today: readonly Offer[];
  readonly pods: readonly NodePod[];
  /** Newest first. */
  readonly decisions: readonly DecisionRow[];
}

export interface SavingsScreen {
  readonly time: number;
  /** Time of the computation; absent: not computed yet. */
  readonly asOf?: number;
  readonly pricePerHour: number;
  readonly leastPricePerHour: number;
  readonly savingsPerHour: number;
  readonly savedPerHour: number;
  readonly blockers: readonly {
    readonly pool: string;
    readonly cause: string;
    readonly meaning: string;
    readonly nodes: number;
    readonly savingsPerHour: number;
    readonly example: string;
  }[];
  readonly kept: readonly {
    readonly node: string;
    readonly pool: string;
    readonly price: number;
    readonly sentence: string;
    readonly since: number;
  }[];
}

export interface ChurnScreen {
  readonly time: number;
  /** Start of the ledger's data. */
  readonly since: number;
  readonly launches: number;
  readonly removals: number;
  readonly podsMoved: number;
  readonly takenBack: number;
  /** By reason, most frequent first. */
  readonly reasons: readonly {
    readonly reason: string;
    readonly commands: number;
    readonly nodes: number;
    readonly pods: number;
  }[];
  /** Launches and removals in equal time steps, oldest first. */
  readonly steps: readonly { readonly time: number; readonly launches: number; readonly removals: number }[];
  /** Ages of the current nodes. */
  readonly lifetimes: readonly { readonly label: string; readonly nodes: number }[];
  /** Nodes removed soon after they were bought. */
  readonly shortLives: readonly {
    readonly nodeClaim: string;
    readonly pool: string;
    readonly minutes: number;
    readonly reason: string;
  }[];
}

export interface CapacityScreen {
  readonly time: number;
  readonly quotas: readonly { readonly name: string; readonly remaining: number }[];
  readonly throttle: readonly { readonly bucket: string; readonly remaining: number }[];
  readonly throttleWait: number;
  readonly unavailable: readonly {
    readonly offering: string;
    readonly zone: string;
    readonly capacityType: string;
    readonly until: number;
  }[];
  readonly reservations: readonly { readonly name: string; readonly remaining: number }[];
  readonly limits: readonly {
    readonly pool: string;
    readonly resource: string;
    readonly used: number;
    readonly limit: number;
  }[];
  /** IPv4 addresses of the nodes' subnets. */
  readonly subnets: readonly { readonly name: string; readonly used: number; readonly free: number }[];
  readonly failures: readonly DecisionRow[];
}

export interface SpotScreen {
  readonly time: number;
  readonly spotNodes: number;
  readonly spotPerHour: number;
  /** Price of the same instances on demand. */
  readonly onDemandPerHour: number;
  readonly shareOfNodes: number;
  readonly shareOfBill: number;
  readonly groups: readonly {
    readonly instanceType: string;
    readonly zone: string;
    readonly nodes: number;
    readonly price: number;
    readonly onDemandPrice: number;
    readonly isOffered: boolean;
  }[];
  readonly leaving: readonly { readonly node: string; readonly reason: string }[];
  readonly failures: readonly DecisionRow[];
}

export interface CalendarPeriod {
  readonly from: number;
  readonly until: number;
  /** Nodes that may be disrupted at once; null: unlimited. */
  readonly drifted: number | null;
  readonly underutilized: number | null;
}

export interface RolloutScreen {
  readonly time: number;
  readonly pools: readonly {
    readonly pool: string;
    readonly nodes: number;
    readonly drifted: number;
    readonly underWay: number;
    readonly allowed: number | null;
    readonly blocker?: string;
    readonly blockedNodes?: number;
    readonly expectedEnd?: number;
    readonly periods: readonly CalendarPeriod[];
  }[];
  readonly nodes: readonly { readonly node: string; readonly pool: string; readonly reason: string }[];
  readonly expiries: readonly { readonly nodeClaim: string; readonly pool: string; readonly at: number }[];
  readonly until: number;
  readonly waves: readonly DecisionRow[];
}

/** Pods of the nodes that are large enough in the treemap. */
export interface MapScreen {
  readonly time: number;
  readonly pods: readonly (NodePod & { readonly node: string })[];
  readonly omitted: number;
}

export interface WhatIfScreen {
  readonly time: number;
  readonly pools: readonly { readonly name: string; readonly manifest: string }[];
  /** Whether the visitor may change NodePools. */
  readonly mayApply: boolean;
}

export interface ApplyAnswer {
  readonly problems: readonly string[];
  /** Actions taken, as text. */
  readonly applied: readonly string[];
}

interface Bill {
  readonly nodes: number;
  readonly pricePerHour: number;
  readonly pricePerMonth: number;
}

export interface WhatIfAnswer {
  readonly problems: readonly string[];
  readonly report?: {
    readonly before: Bill;
    readonly after: Bill;
    readonly drifting: readonly { readonly node: string; readonly reason: string }[];
    readonly steps: readonly {
      readonly minute: number;
      readonly reason: string;
      readonly nodes: readonly string[];
      readonly replacements: readonly (Offer & { readonly nodePool: string })[];
      readonly evictions: number;
    }[];
    /** vCPU quota use of the nodes. */
    readonly quotas: readonly {
      readonly quota: string;
      readonly before: number;
      readonly peak: number;
      readonly after: number;
    }[];
    readonly evictions: number;
    readonly unplaced: readonly { readonly pod: string; readonly reason: string }[];
    readonly held: readonly { readonly node: string; readonly sentence: string }[];
    readonly complete: boolean;
  };
}

interface Figure {
  readonly name: string;
  readonly value: string;
  readonly detail?: string;
}

export interface ControllerScreen {
  readonly time: number;
  readonly state: ControllerState;
  readonly version: string;
  readonly figures: readonly Figure[];
  readonly passes: readonly { readonly time: number; readonly milliseconds: number; readonly pods: number }[];
  readonly loops: readonly {
    readonly name: string;
    readonly runs: number;
    readonly errors: number;
    readonly meanMilliseconds: number;
    readonly waiting: number;
  }[];
  readonly calls: readonly {
    readonly target: string;
    readonly method: string;
    readonly code: string;
    readonly count: number;
  }[];
}
