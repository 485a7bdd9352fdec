/**
 * What the server tells the page, screen by screen, as JSON. Plain types without imports: the page is compiled for the
 * browser and shares nothing else with the server. Dollars are US dollars, moments are milliseconds since 1970.
 */

/** What the controller is doing, as far as the page is concerned. */
export type ControllerState =
  /** It leads and acts. */
  | 'leading'
  /** Another process leads; this one only watches. */
  | 'standby'
  | 'starting'
  /** It was stopped or died; what is shown grows old. */
  | 'stopped'
  /** There is no controller here: the cluster is read from outside. */
  | 'outside';

export interface NodeRow {
  readonly name: string;
  readonly nodePool: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: string;
  /** Per hour; 0 when it is not known. */
  readonly price: number;
  /** Parts of what pods can have, from 0. */
  readonly cpu: number;
  readonly memory: number;
  /** What there is for pods: cores and GiB. */
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

/** One point of the curves on Now. */
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
  /** Of the bill, from 0 to 1. */
  readonly spotShare: number;
  /** Of all nodes together, from 0 to 1. */
  readonly cpu: number;
  readonly memory: number;
  /** Per hour: what could be saved but for what holds it, and what commands have saved so far. */
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
  /** The health of the cluster in a sentence. */
  readonly sentence: string;
  readonly mood: 'good' | 'busy' | 'bad';
  readonly totals: Totals;
  readonly pools: readonly PoolRow[];
  readonly history: readonly HistoryPoint[];
  /** Newest first. */
  readonly decisions: readonly DecisionRow[];
}

/** The stream: what changed since the last message to the same client. */
export interface StreamMessage {
  readonly time: number;
  readonly state: ControllerState;
  /** Grows whenever anything that a screen shows has changed. */
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
  /** What to type to make it; empty where no patch can. */
  readonly commands: readonly string[];
}

export interface Answer {
  readonly sentence: string;
  readonly constraint: string;
  readonly evidence: readonly string[];
  readonly fixes: readonly Fix[];
}

export interface PendingGroup {
  /** `namespace/Kind/name` of what owns the pods. */
  readonly workload: string;
  readonly count: number;
  /** Since when the first of them waits. */
  readonly since: number;
  /** `namespace/name` of one of them. */
  readonly example: string;
  /** What the last plan said of it; empty before it was looked at. */
  readonly reason: string;
  /** The claim of the node that is on its way for it. */
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
  /** Further facts in words. */
  readonly lines: readonly string[];
  /** Offerings in the order in which they are tried. */
  readonly ladder: readonly Offer[];
  /** Instance types that were not chosen, and why. */
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
  /** Why there is none. */
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
  /** When this was worked out; absent: not yet. */
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
  /** Since when the ledger knows. */
  readonly since: number;
  readonly launches: number;
  readonly removals: number;
  readonly podsMoved: number;
  readonly takenBack: number;
  /** By reason, most first. */
  readonly reasons: readonly {
    readonly reason: string;
    readonly commands: number;
    readonly nodes: number;
    readonly pods: number;
  }[];
  /** Launches and removals in equal steps of time, oldest first. */
  readonly steps: readonly { readonly time: number; readonly launches: number; readonly removals: number }[];
  /** Ages of the nodes that are here. */
  readonly lifetimes: readonly { readonly label: string; readonly nodes: number }[];
  /** Nodes that were removed soon after they were bought. */
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
  /** IPv4 addresses of the subnets that nodes join. */
  readonly subnets: readonly { readonly name: string; readonly used: number; readonly free: number }[];
  readonly failures: readonly DecisionRow[];
}

export interface SpotScreen {
  readonly time: number;
  readonly spotNodes: number;
  readonly spotPerHour: number;
  /** What the same instances cost on demand. */
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
  /** Nodes that may go at once; null: nothing limits them. */
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

/** Pods of the nodes that the treemap shows large enough. */
export interface MapScreen {
  readonly time: number;
  readonly pods: readonly (NodePod & { readonly node: string })[];
  readonly omitted: number;
}

export interface WhatIfScreen {
  readonly time: number;
  readonly pools: readonly { readonly name: string; readonly manifest: string }[];
  /** Whether the visitor's own rights allow to change NodePools. */
  readonly mayApply: boolean;
}

export interface ApplyAnswer {
  readonly problems: readonly string[];
  /** What was done, in words. */
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
    /** vCPUs that nodes take of quotas. */
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
