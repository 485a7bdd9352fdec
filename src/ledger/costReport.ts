/** What a cluster costs and where the money goes, as documented JSON. Dollars are US dollars. */
import type { SavingsBacklog } from '../disruption/backlog.ts';

export interface CostRow {
  readonly name: string;
  readonly nodes?: number;
  readonly pods: number;
  readonly pricePerHour: number;
  readonly pricePerMonth: number;
}

export interface CostReport {
  /** RFC 3339. */
  readonly time: string;
  readonly nodes: number;
  readonly pods: number;
  readonly pricePerHour: number;
  readonly pricePerMonth: number;
  /** Parts of the bill, from 0 to 1: of spot nodes, and of what no pod has asked for. */
  readonly spotShare: number;
  readonly idleShare: number;
  /** What the pods cost at the least, and what lies between. */
  readonly leastPricePerHour: number;
  readonly gapPerHour: number;
  /** Nodes whose price is not known; they count as free. */
  readonly unpricedNodes: number;
  /** Most dollars first. Nodes by their pool; pods by their namespace, workload or label, with `idle` for the rest. */
  readonly pools: readonly CostRow[];
  readonly namespaces: readonly CostRow[];
  readonly workloads: readonly CostRow[];
  readonly labels?: { readonly key: string; readonly values: readonly CostRow[] };
  readonly backlog: SavingsBacklog['pools'];
}
