/**
 * Plain first-fit-decreasing, blind to prices until the end: one of the starts, so that no plan is ever dearer. In:
 * what to place, and what is left of the limits; out: a plan. A node stays open for every type that could still hold it.
 */
import type { HostPort } from '../../pods/hostPorts.ts';
import { HostLedger, type Bin, type Plan } from './bin.ts';
import type { Demand } from './demand.ts';

interface OpenNode {
  state: number;
  readonly atoms: number[];
  readonly counts: number[];
  readonly used: Float64Array;
  readonly ports: HostPort[];
  readonly ledger: HostLedger;
  /** What it counts against the limits as it stands. */
  limitNeed: Float64Array | undefined;
}

/** `order` has the largest first, within what matters more; limits are used up. */
export function firstFit(
  demand: Demand,
  order: Iterable<number>,
  left: Int32Array,
  limitLeft: Float64Array | undefined,
): Plan {
  const { columns, rows, states, atoms } = demand;
  const { plain } = demand.host;
  const open: OpenNode[] = [];
  const load = new Float64Array(columns);
  for (const atom of order) {
    const row = rows.subarray(atom * columns, (atom + 1) * columns);
    const own = demand.states0[atom]!;
    const { hostPorts } = atoms[atom]!.podClass.shape;
    for (let at = 0; at <= open.length && left[atom]! > 0; at++) {
      const isNew = at === open.length;
      const node: OpenNode = isNew
        ? {
            state: own,
            atoms: [],
            counts: [],
            used: new Float64Array(columns),
            ports: [],
            ledger: new HostLedger(demand),
            limitNeed: limitLeft && new Float64Array(limitLeft.length),
          }
        : open[at]!;
      const isPlain = plain[atom] === 1;
      const most = isPlain ? left[atom]! : Math.min(left[atom]!, node.ledger.allowed(atom));
      if (most < 1) continue;
      const state = node.state === own ? own : states.meet(node.state, own);
      if (state < 0) continue;
      const ports = hostPorts.length === 0 ? node.ports : [...node.ports, ...hostPorts];
      const budget = limitLeft?.map((amount, column) => amount + node.limitNeed![column]!);
      if (!holds(demand, state, node.used, row, 1, ports, load, budget)) {
        if (isNew) break;
        continue;
      }
      const pods =
        most === 1 ? 1 : mostHeld(most, (count) => holds(demand, state, node.used, row, count, ports, load, budget));
      node.state = state;
      node.atoms.push(atom);
      node.counts.push(pods);
      node.ledger.add(atom, pods);
      for (const port of hostPorts) node.ports.push(port);
      for (let column = 0; column < columns; column++) node.used[column]! += row[column]! * pods;
      left[atom]! -= pods;
      if (isNew) open.push(node);
      if (limitLeft === undefined) continue;
      const type = demand.cheapestHolding(state, node.used, ports, budget);
      node.limitNeed = demand.limitNeed(state, type, node.used, ports, budget);
      for (let column = 0; column < limitLeft.length; column++)
        limitLeft[column] = budget![column]! - node.limitNeed[column]!;
    }
  }
  const bins: Bin[] = [];
  for (const node of open) {
    const bin = buy(demand, node);
    if (bin !== undefined) bins.push(bin);
    else node.atoms.forEach((atom, at) => (left[atom]! += node.counts[at]!));
  }
  return { bins, left };
}

function holds(
  demand: Demand,
  state: number,
  used: Float64Array,
  row: Float64Array,
  pods: number,
  ports: readonly HostPort[],
  load: Float64Array,
  budget: Float64Array | undefined,
): boolean {
  for (let column = 0; column < load.length; column++) load[column] = used[column]! + row[column]! * pods;
  return budget === undefined
    ? demand.holdsSomehow(state, load, ports)
    : demand.cheapestHolding(state, load, ports, budget) >= 0;
}

/** The largest count up to `most` that is held; one is, and beyond some count none is. */
function mostHeld(most: number, isHeld: (count: number) => boolean): number {
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

function buy(demand: Demand, node: OpenNode): Bin | undefined {
  const { ports } = node;
  // Within limits the type that was last found to be within them.
  const type = demand.cheapestHolding(node.state, node.used, ports, node.limitNeed);
  if (type < 0) return undefined;
  const limitNeed = node.limitNeed ?? demand.limitNeed(node.state, type, node.used, ports, undefined);
  const { state, atoms, counts, used } = node;
  return {
    state,
    atoms,
    counts,
    used,
    type,
    price: demand.states.at(node.state).price[type]!,
    limitNeed,
    reservation: -1,
  };
}
