/**
 * Plain first-fit-decreasing, blind to prices until the end: one of the starts, so that no plan is ever dearer. In:
 * what to place; out: a plan. A node stays open for every type that could still hold it.
 */
import { HostLedger, type Bin, type Plan } from './bin.ts';
import type { Demand } from './demand.ts';

interface OpenNode {
  state: number;
  readonly atoms: number[];
  readonly counts: number[];
  readonly used: Float64Array;
}

export function firstFit(demand: Demand, left: Int32Array, limitLeft: Float64Array | undefined): Plan {
  const { columns, rows, states, atoms } = demand;
  const open: OpenNode[] = [];
  const ledger = new HostLedger(demand);
  const load = new Float64Array(columns);
  // Atoms come largest first already.
  for (let atom = 0; atom < atoms.length; atom++) {
    const row = rows.subarray(atom * columns, (atom + 1) * columns);
    for (let at = 0; at <= open.length && left[atom]! > 0; at++) {
      const isNew = at === open.length;
      const node: OpenNode = isNew
        ? { state: demand.states0[atom]!, atoms: [], counts: [], used: new Float64Array(columns) }
        : open[at]!;
      const state = isNew ? node.state : states.meet(node.state, demand.states0[atom]!);
      if (state < 0) continue;
      ledger.clear();
      node.atoms.forEach((each, index) => ledger.add(each, node.counts[index]!));
      let pods = 0;
      const most = Math.min(left[atom]!, ledger.allowed(atom));
      while (pods < most) {
        for (let column = 0; column < columns; column++) load[column] = node.used[column]! + row[column]! * (pods + 1);
        const ports = [...ledger.ports, ...atoms[atom]!.podClass.shape.hostPorts];
        if (demand.cheapestHolding(state, load, ports, limitLeft) < 0) break;
        pods += 1;
      }
      if (pods === 0) {
        if (isNew) break;
        continue;
      }
      node.state = state;
      node.atoms.push(atom);
      node.counts.push(pods);
      for (let column = 0; column < columns; column++) node.used[column]! += row[column]! * pods;
      left[atom]! -= pods;
      if (isNew) open.push(node);
    }
  }
  return { bins: open.map((node) => buy(demand, node, limitLeft)).filter((bin) => bin !== undefined), left };
}

function buy(demand: Demand, node: OpenNode, limitLeft: Float64Array | undefined): Bin | undefined {
  const ports = node.atoms.flatMap((atom) => demand.atoms[atom]!.podClass.shape.hostPorts);
  const type = demand.cheapestHolding(node.state, node.used, ports, limitLeft);
  if (type < 0) return undefined;
  const limitNeed = demand.limitNeed(node.state, type, node.used, ports, limitLeft);
  return { ...node, type, price: demand.states.at(node.state).price[type]!, limitNeed, reservation: -1 };
}
