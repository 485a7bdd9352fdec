import { intAt, itemAt } from '../rows.ts';

/** A bin is a planned node: its items, how many pods of each, and the cheapest instance type that holds them. */
export interface Bin {
  readonly state: number;
  readonly type: number;
  readonly price: number;
  /** Item numbers, and the number of pods of each. */
  readonly items: readonly number[];
  readonly counts: readonly number[];
  readonly used: Float64Array;
  /** What it adds to the usage of the pool's limits. */
  readonly limitNeed: Float64Array;
  /** Index of the offering's reservation, or -1. */
  readonly reservation: number;
}

export interface Plan {
  readonly bins: Bin[];
  /** By item: pods not placed. */
  readonly left: Int32Array;
}

/** Price of the bins, plus the extra cost per node. */
export function planCost({ bins }: Plan, nodeOverheadCost: number): number {
  let cost = 0;
  for (const { price } of bins) cost += price + nodeOverheadCost;
  return cost;
}

/** How many times the bin can be bought before one of its items runs out. */
export function repeats({ items, counts }: Bin, left: Int32Array): number {
  let times = Number.MAX_SAFE_INTEGER;
  for (let at = 0; at < items.length; at++) {
    times = Math.min(times, Math.floor(intAt(left, itemAt(items, at)) / itemAt(counts, at)));
  }
  return times;
}
