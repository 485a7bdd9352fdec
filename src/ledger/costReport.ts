/** Cost of a cluster and its breakdown, as documented JSON. Dollars are US dollars. */
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
  /** Shares of the bill, from 0 to 1: of spot nodes, and of resources that no pod requests. */
  readonly spotShare: number;
  readonly idleShare: number;
  /** Lower bound on the cost of the pods, and the gap to it. */
  readonly leastPricePerHour: number;
  readonly gapPerHour: number;
  /** Number of nodes with unknown price; they count as free. */
  readonly unpricedNodes: number;
  /** Highest cost first. Nodes by pool; pods by namespace, workload or label, with `idle` for the rest. */
  readonly pools: readonly CostRow[];
  readonly namespaces: readonly CostRow[];
  readonly workloads: readonly CostRow[];
  readonly labels?: { readonly key: string; readonly values: readonly CostRow[] };
  readonly backlog: SavingsBacklog['pools'];
}
