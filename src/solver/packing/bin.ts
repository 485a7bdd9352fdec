/** A machine in a plan: which atoms it holds, how many of each, and the cheapest type that does. */
import { hostPortsClash, type HostPort } from '../../pods/hostPorts.ts';
import { UNLIMITED } from '../model/counters.ts';
import type { Demand } from './demand.ts';
import type { HostRules } from './hostRules.ts';

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
  for (let at = 0; at < bins.length; at++) cost += bins[at]!.price + nodeOverheadCost;
  return cost;
}

/**
 * What already stands on one node, in the terms of limits per node. Reused for every node that is filled: `clear`
 * forgets only what was touched.
 */
export class HostLedger {
  readonly ports: HostPort[] = [];
  private readonly atoms: Demand['atoms'];
  private readonly rules: HostRules;
  private readonly count: Int32Array;
  private readonly limit: Int32Array;
  private readonly touched: number[] = [];

  constructor({ atoms, host }: Demand) {
    this.atoms = atoms;
    this.rules = host;
    this.count = new Int32Array(host.counters);
    this.limit = new Int32Array(host.counters).fill(UNLIMITED);
  }

  clear(): void {
    const { touched } = this;
    for (let at = 0; at < touched.length; at++) {
      this.count[touched[at]!] = 0;
      this.limit[touched[at]!] = UNLIMITED;
    }
    touched.length = 0;
    this.ports.length = 0;
  }

  /** How many pods of the atom the limits allow beside what stands here. */
  allowed(atom: number): number {
    const { plain, limitStart, limitCounter, limitMax, addStart, adds, ownMax } = this.rules;
    if (plain[atom] === 1) return UNLIMITED;
    const { count, limit } = this;
    for (let at = limitStart[atom]!; at < limitStart[atom + 1]!; at++) {
      if (count[limitCounter[at]!]! > limitMax[at]!) return 0;
    }
    let most = UNLIMITED;
    for (let at = addStart[atom]!; at < addStart[atom + 1]!; at++) {
      const counter = adds[at]!;
      const max = ownMax[at]! < limit[counter]! ? ownMax[at]! : limit[counter]!;
      if (max - count[counter]! < most) most = max - count[counter]!;
    }
    const { hostPorts } = this.atoms[atom]!.podClass.shape;
    if (hostPorts.length > 0) {
      if (this.ports.some((taken) => hostPorts.some((port) => hostPortsClash(port, taken)))) return 0;
      most = Math.min(most, 1);
    }
    return most > 0 ? most : 0;
  }

  add(atom: number, pods: number): void {
    const { plain, limitStart, limitCounter, limitMax, addStart, adds } = this.rules;
    if (plain[atom] === 1) return;
    for (let at = limitStart[atom]!; at < limitStart[atom + 1]!; at++) {
      const counter = limitCounter[at]!;
      this.touched.push(counter);
      if (limitMax[at]! < this.limit[counter]!) this.limit[counter] = limitMax[at]!;
    }
    for (let at = addStart[atom]!; at < addStart[atom + 1]!; at++) {
      this.touched.push(adds[at]!);
      this.count[adds[at]!]! += pods;
    }
    const { hostPorts } = this.atoms[atom]!.podClass.shape;
    for (let at = 0; at < hostPorts.length; at++) this.ports.push(hostPorts[at]!);
  }
}
