/**
 * Plain first-fit-decreasing, which ignores prices until the end. It is one of the starts, so that no plan is dearer
 * than it. A node stays open for every type that can still hold it.
 */
import type { HostPort } from '../../pods/hostPorts.ts';
import { addRow, floatAt, intAt, itemAt } from '../rows.ts';
import type { Bin, Plan } from './bin.ts';
import type { Demand } from './demand.ts';
import { HostTally } from './hostTally.ts';
import type { TypeChoice } from './typeChoice.ts';

interface OpenNode {
  state: number;
  readonly items: number[];
  readonly counts: number[];
  readonly used: Float64Array;
  readonly tally: HostTally;
  /** What it currently adds to the usage of the limits. */
  limitNeed: Float64Array | undefined;
}

/** Takes placed pods from `left`, in `order`, and subtracts their nodes from the limits. */
export function firstFit(
  demand: Demand,
  order: Iterable<number>,
  left: Int32Array,
  limitLeft: Float64Array | undefined,
): Plan {
  const { rows, states, stateOf, items, host, choice } = demand;
  const open: OpenNode[] = [];
  const load = new Float64Array(rows.width);
  for (const item of order) {
    const row = rows.row(item);
    const own = intAt(stateOf, item);
    const { hostPorts } = itemAt(items, item).podClass.shape;
    for (let at = 0; at <= open.length && intAt(left, item) > 0; at++) {
      const isNew = at === open.length;
      const node = isNew ? emptyNode(demand, own, limitLeft) : itemAt(open, at);
      const waiting = intAt(left, item);
      const most = host.plain[item] === 1 ? waiting : Math.min(waiting, node.tally.allowed(item));
      if (most < 1) continue;
      const state = node.state === own ? own : states.meet(node.state, own);
      if (state < 0) continue;
      const ports = hostPorts.length === 0 ? node.tally.ports : [...node.tally.ports, ...hostPorts];
      const budget = limitLeft && sum(limitLeft, node.limitNeed);
      sumInto(load, node.used, row, 1);
      if (!holds(choice, state, load, ports, budget)) {
        if (isNew) break;
        continue;
      }
      const pods = most === 1 ? 1 : mostHeld(choice, state, node.used, row, most, ports, budget, load);
      node.state = state;
      node.items.push(item);
      node.counts.push(pods);
      node.tally.add(item, pods);
      addRow(node.used, row, pods);
      left[item] = waiting - pods;
      if (isNew) open.push(node);
      if (limitLeft === undefined || budget === undefined) continue;
      const type = choice.cheapestHolding(state, node.used, ports, budget);
      node.limitNeed = choice.limitNeed(state, type, node.used, ports, budget);
      limitLeft.set(budget);
      addRow(limitLeft, node.limitNeed, -1);
    }
  }
  const bins: Bin[] = [];
  for (const node of open) {
    const bin = buy(demand, node);
    if (bin !== undefined) bins.push(bin);
    else node.items.forEach((item, at) => (left[item] = intAt(left, item) + itemAt(node.counts, at)));
  }
  return { bins, left };
}

function emptyNode({ items, host, rows }: Demand, state: number, limitLeft: Float64Array | undefined): OpenNode {
  return {
    state,
    items: [],
    counts: [],
    used: new Float64Array(rows.width),
    tally: new HostTally(items, host),
    limitNeed: limitLeft && new Float64Array(limitLeft.length),
  };
}

function sumInto(load: Float64Array, used: Float64Array, row: Float64Array, pods: number): void {
  for (let column = 0; column < load.length; column++) {
    load[column] = floatAt(used, column) + floatAt(row, column) * pods;
  }
}

function sum(left: Float64Array, right: Float64Array | undefined): Float64Array {
  const total = left.slice();
  if (right !== undefined) addRow(total, right, 1);
  return total;
}

function holds(
  choice: TypeChoice,
  state: number,
  load: Float64Array,
  ports: readonly HostPort[],
  budget: Float64Array | undefined,
): boolean {
  return budget === undefined
    ? choice.holdsSomehow(state, load, ports)
    : choice.cheapestHolding(state, load, ports, budget) >= 0;
}

/** The largest number of pods up to `most` that fits, given that one does: doubling, then bisection. */
function mostHeld(
  choice: TypeChoice,
  state: number,
  used: Float64Array,
  row: Float64Array,
  most: number,
  ports: readonly HostPort[],
  budget: Float64Array | undefined,
  load: Float64Array,
): number {
  const isHeld = (pods: number): boolean => {
    sumInto(load, used, row, pods);
    return holds(choice, state, load, ports, budget);
  };
  let low = 1;
  let high = 2;
  while (high <= most && isHeld(high)) {
    low = high;
    high *= 2;
  }
  high = Math.min(high, most + 1);
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (isHeld(middle)) low = middle;
    else high = middle;
  }
  return low;
}

function buy({ choice, states }: Demand, { state, items, counts, used, tally, limitNeed }: OpenNode): Bin | undefined {
  // With limits, reuse the type that was last found to be within them.
  const type = choice.cheapestHolding(state, used, tally.ports, limitNeed);
  if (type < 0) return undefined;
  return {
    state,
    items,
    counts,
    used,
    type,
    price: floatAt(states.at(state).price, type),
    limitNeed: limitNeed ?? choice.limitNeed(state, type, used, tally.ports, undefined),
    reservation: -1,
  };
}
