/** What one pool must hold, as numbers: rows of the items, limits per node, and the value of each pod. */
import type { CompiledPool } from '../model/compiledPool.ts';
import type { StateTable } from '../model/stateTable.ts';
import { addRow, floatAt, itemAt, Rows } from '../rows.ts';
import type { Bin } from './bin.ts';
import { candidateTypes, undominated } from './candidates.ts';
import { coveringDuals, type Covering } from './coveringDuals.ts';
import { hostRules, type HostRules } from './hostRules.ts';
import type { Item } from './item.ts';
import { TypeChoice, type PackingOptions } from './typeChoice.ts';

export interface Demand {
  readonly pool: CompiledPool;
  readonly states: StateTable;
  readonly choice: TypeChoice;
  readonly options: PackingOptions;
  readonly items: readonly Item[];
  /** Row per item: requests of one pod. */
  readonly rows: Rows;
  /** By item: state of a node that holds only this item. */
  readonly stateOf: Int32Array;
  readonly host: HostRules;
  /** By item: value of a pod at the dual prices. */
  readonly value: Float64Array;
  /** By resource. */
  readonly duals: Float64Array;
  /**
   * Value of a node in addition to its room: above 0 where limits per node force more nodes than the resources need.
   */
  readonly nodeDual: number;
  /** Lower bound on every plan, extra cost per node included, even if pods could be split. */
  readonly fractionalBound: number;
  /** Instance types worth filling for a node in a state. */
  candidates(state: number): Int32Array;
}

export function demandOf(
  pool: CompiledPool,
  states: StateTable,
  items: readonly Item[],
  columns: number,
  options: PackingOptions,
): Demand {
  const choice = new TypeChoice(pool, states, columns, options);
  const rows = Rows.empty(items.length, columns);
  const stateOf = new Int32Array(items.length);
  for (let item = 0; item < items.length; item++) {
    const { podClass, state } = itemAt(items, item);
    rows.cells.set(podClass.row, item * columns);
    stateOf[item] = state;
  }
  const host = hostRules(items);
  const { duals: all, bound } = coveringDuals(coveringOf(choice, items, host.nodesForced, options.nodeOverheadCost));
  const duals = all.subarray(0, columns);
  const nodeDual = floatAt(all, columns);
  const value = new Float64Array(items.length);
  for (let item = 0; item < items.length; item++) {
    // A pod without requests must have a value too, or it would never be packed.
    value[item] = rows.valueOf(item, duals) + nodeDual * floatAt(host.share, item) + 1e-9;
  }
  const candidatesByState: (Int32Array | undefined)[] = [];
  return {
    pool,
    states,
    choice,
    options,
    items,
    rows,
    stateOf,
    host,
    value,
    duals,
    nodeDual,
    fractionalBound: Math.max(bound, forcedCost(items, host, choice)),
    candidates: (state) => (candidatesByState[state] ??= candidateTypes(choice, state, duals, nodeDual)),
  };
}

/**
 * Least cost of the nodes forced by pods that must run apart: each pod pays its share of the cheapest node that holds
 * it.
 */
export function forcedCost(items: readonly Item[], { nodesForced, share }: HostRules, choice: TypeChoice): number {
  let cost = 0;
  if (nodesForced === 0) return cost;
  for (let item = 0; item < items.length; item++) {
    const { podClass, state, count } = itemAt(items, item);
    if (floatAt(share, item) === 0) continue;
    const type = choice.cheapestHolding(state, podClass.row, [], undefined);
    if (type < 0) continue;
    const price = floatAt(choice.states.at(state).price, type) + choice.options.nodeOverheadCost;
    cost += count * floatAt(share, item) * price;
  }
  return cost;
}

/** Number of pods of each item. */
export function countsOf({ items }: Demand): Int32Array {
  const counts = new Int32Array(items.length);
  for (let item = 0; item < counts.length; item++) counts[item] = itemAt(items, item).count;
  return counts;
}

/** Cost of the bin beyond the value of its pods at the dual prices; at least 0, except for rounding. */
export function wasteOf({ value, options }: Demand, { price, items, counts }: Bin): number {
  let waste = price + options.nodeOverheadCost;
  for (let at = 0; at < items.length; at++) waste -= floatAt(value, itemAt(items, at)) * itemAt(counts, at);
  return waste;
}

/** Up to this many items, insertion sort is faster than calling `sort`. */
const FEW = 40;

/** Items by value, most valuable first; ties keep their order. */
export function orderByValue(items: Iterable<number>, value: Float64Array): Int32Array {
  const order = Int32Array.from(items);
  if (order.length > FEW) {
    return order.sort((left, right) => floatAt(value, right) - floatAt(value, left) || left - right);
  }
  for (let at = 1; at < order.length; at++) {
    const item = order[at] as number;
    const worth = value[item] as number;
    let place = at;
    for (; place > 0; place--) {
      const before = order[place - 1] as number;
      const difference = worth - (value[before] as number);
      if (difference < 0 || (difference === 0 && before < item)) break;
      order[place] = before;
    }
    order[place] = item;
  }
  return order;
}

/** The covering LP of the items: the sum of each resource, and the nodes forced by limits per node. */
export function coveringOf(
  choice: TypeChoice,
  items: readonly Item[],
  nodes: number,
  nodeOverheadCost: number,
): Covering {
  const { room, columns, states } = choice;
  const demand = new Float64Array(columns + 1);
  // By type: the cheapest price that any item could pay. A type with a substitute at no higher price is in no cheapest
  // purchase.
  const best: number[] = [];
  const seen = new Set<number>();
  for (const { podClass, count, state } of items) {
    addRow(demand, podClass.row, count);
    if (seen.has(state)) continue;
    seen.add(state);
    const { price } = states.at(state);
    for (const type of undominated(choice, state)) {
      best[type] = Math.min(best[type] ?? Number.POSITIVE_INFINITY, floatAt(price, type));
    }
  }
  demand[columns] = nodes;
  const types = [...best.keys()].filter((type) => best[type] !== undefined);
  const supply = Rows.empty(types.length, columns + 1);
  types.forEach((type, row) => {
    const own = supply.row(row);
    room.copyTo(own, type);
    own[columns] = 1;
  });
  return { demand, supply, price: Float64Array.from(types, (type) => itemAt(best, type) + nodeOverheadCost) };
}
