/**
 * Limits per node of the atoms, as flat arrays. In: atoms; out: by atom the counters that count it and those that limit
 * it, and how many nodes such limits force at least. Counters that limit none of the atoms are left out.
 */
import { UNLIMITED } from '../model/counters.ts';
import type { Atom } from './atom.ts';

export class HostRules {
  /** One more than the largest counter. */
  readonly counters: number;
  /** No limits per node, no ports: nothing to look up. */
  readonly plain: Uint8Array;
  /** The atom's part of `adds` and `ownMax` begins here and ends where the next one's begins. */
  readonly addStart: Int32Array;
  readonly adds: readonly number[];
  /** What the atom itself allows of the counter, itself included. */
  readonly ownMax: readonly number[];
  /** In the same way: its limits. */
  readonly limitStart: Int32Array;
  readonly limitCounter: readonly number[];
  readonly limitMax: readonly number[];
  /** Least number of nodes that the limits force: by the counter that needs most. */
  readonly nodesForced: number;
  /** By atom: the share of such a node that one pod of it needs. */
  readonly share: Float64Array;

  constructor(atoms: readonly Atom[]) {
    const count = atoms.length;
    this.plain = new Uint8Array(count);
    this.addStart = new Int32Array(count + 1);
    this.limitStart = new Int32Array(count + 1);
    this.share = new Float64Array(count);
    const limitCounter: number[] = [];
    const limitMax: number[] = [];
    const isLimited: boolean[] = [];
    for (let atom = 0; atom < count; atom++) {
      const { hostLimits } = atoms[atom]!.variant;
      for (let at = 0; at < hostLimits.length; at++) {
        const { counter, max } = hostLimits[at]!;
        limitCounter.push(counter);
        limitMax.push(max);
        while (isLimited.length <= counter) isLimited.push(false);
        isLimited[counter] = true;
      }
      this.limitStart[atom + 1] = limitCounter.length;
    }
    this.counters = isLimited.length;
    this.limitCounter = limitCounter;
    this.limitMax = limitMax;
    const adds: number[] = [];
    const ownMax: number[] = [];
    // By counter: the pods that limit themselves by it, and the most that one of them allows.
    const bound = new Float64Array(this.counters);
    const most = new Float64Array(this.counters);
    for (let atom = 0; atom < count; atom++) {
      const { podClass, count: pods } = atoms[atom]!;
      const { hostAdds } = podClass;
      for (let at = 0; at < hostAdds.length; at++) {
        const counter = hostAdds[at]!;
        if (isLimited[counter] !== true) continue;
        const max = this.limitOf(atom, counter);
        adds.push(counter);
        ownMax.push(max);
        if (max < 1 || max === UNLIMITED) continue;
        bound[counter]! += pods;
        if (max > most[counter]!) most[counter] = max;
      }
      this.addStart[atom + 1] = adds.length;
      const isBound = this.addStart[atom]! < adds.length || this.limitStart[atom]! < this.limitStart[atom + 1]!;
      this.plain[atom] = isBound || podClass.shape.hostPorts.length > 0 ? 0 : 1;
    }
    this.adds = adds;
    this.ownMax = ownMax;
    let worst = -1;
    let nodes = 0;
    for (let counter = 0; counter < this.counters; counter++) {
      if (bound[counter]! === 0 || bound[counter]! / most[counter]! <= nodes) continue;
      worst = counter;
      nodes = bound[counter]! / most[counter]!;
    }
    this.nodesForced = nodes;
    if (worst < 0) return;
    for (let atom = 0; atom < count; atom++) {
      for (let at = this.addStart[atom]!; at < this.addStart[atom + 1]!; at++) {
        if (adds[at] === worst && ownMax[at] !== UNLIMITED) this.share[atom] = 1 / most[worst]!;
      }
    }
  }

  private limitOf(atom: number, counter: number): number {
    for (let at = this.limitStart[atom]!; at < this.limitStart[atom + 1]!; at++) {
      if (this.limitCounter[at] === counter) return this.limitMax[at]!;
    }
    return UNLIMITED;
  }
}
