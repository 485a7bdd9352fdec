/** A machine in a plan: which atoms it holds, how many of each, and the cheapest type that does. */
import { hostPortsClash, type HostPort } from '../../constraints/hostPorts.ts';
import { UNLIMITED } from '../model/counters.ts';
import type { Demand } from './demand.ts';

export interface Bin {
  readonly state: number;
  readonly type: number;
  readonly price: number;
  readonly atoms: readonly number[];
  readonly counts: readonly number[];
  readonly used: Float64Array;
  /** What it counts against the pool's limits. */
  readonly limitNeed: Float64Array;
  /** Index of the offering's reservation, or -1. */
  readonly reservation: number;
}

export interface Plan {
  readonly bins: Bin[];
  /** By atom: pods that found no place. */
  readonly left: Int32Array;
}

/** Price and what a machine costs beside it. */
export function planCost({ bins }: Plan, nodeOverheadCost: number): number {
  let cost = 0;
  for (const { price } of bins) cost += price + nodeOverheadCost;
  return cost;
}

/**
 * What already stands on one node, in the terms of limits per node. Reused for every node that is filled: `clear`
 * forgets only what was touched.
 */
export class HostLedger {
  readonly ports: HostPort[] = [];
  private readonly demand: Demand;
  private readonly count: Int32Array;
  private readonly limit: Int32Array;
  private readonly touched: number[] = [];

  constructor(demand: Demand) {
    this.demand = demand;
    this.count = new Int32Array(demand.counters);
    this.limit = new Int32Array(demand.counters).fill(UNLIMITED);
  }

  clear(): void {
    for (const counter of this.touched) {
      this.count[counter] = 0;
      this.limit[counter] = UNLIMITED;
    }
    this.touched.length = 0;
    this.ports.length = 0;
  }

  /** How many pods of the atom the limits allow beside what stands here. */
  allowed(atom: number): number {
    if (this.demand.plain[atom] === 1) return UNLIMITED;
    const { podClass, variant } = this.demand.atoms[atom]!;
    let most = UNLIMITED;
    for (const { counter, max } of variant.hostLimits) if (this.count[counter]! > max) return 0;
    for (const counter of podClass.hostAdds) {
      let limit = this.limit[counter]!;
      for (const own of variant.hostLimits) if (own.counter === counter && own.max < limit) limit = own.max;
      most = Math.min(most, limit - this.count[counter]!);
    }
    const { hostPorts } = podClass.shape;
    if (hostPorts.length > 0) {
      if (this.ports.some((taken) => hostPorts.some((port) => hostPortsClash(port, taken)))) return 0;
      most = Math.min(most, 1);
    }
    return Math.max(0, most);
  }

  add(atom: number, pods: number): void {
    if (this.demand.plain[atom] === 1) return;
    const { podClass, variant } = this.demand.atoms[atom]!;
    for (const { counter, max } of variant.hostLimits) {
      this.touched.push(counter);
      if (max < this.limit[counter]!) this.limit[counter] = max;
    }
    for (const counter of podClass.hostAdds) {
      this.touched.push(counter);
      this.count[counter]! += pods;
    }
    this.ports.push(...podClass.shape.hostPorts);
  }
}
