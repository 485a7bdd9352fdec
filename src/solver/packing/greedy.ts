/**
 * Opens machines one kind after the other, each for the most valuable pod that waits, each of the type that carries
 * most value per dollar. In: how many of each atom; out: a plan.
 */
import * as columnsOf from '../model/resourceTable.ts';
import type { Bin, Plan } from './bin.ts';
import type { Demand } from './demand.ts';
import { Filler } from './filler.ts';

/** Read once, as in the filler. */
const { CPU, MEMORY } = columnsOf;
/** What a node may be worth less, per e-fold of imbalance, to keep the rest in proportion. */
const IMBALANCE = 0.02;

export class Greedy {
  private readonly demand: Demand;
  private readonly filler: Filler;
  private cpuLeft = 0;
  private memoryLeft = 0;

  constructor(demand: Demand) {
    this.demand = demand;
    this.filler = new Filler(demand);
  }

  /** `left` is used up: what stays in it found no place. Limits are used up, too. */
  pack(order: Int32Array, left: Int32Array, value: Float64Array, limitLeft: Float64Array | undefined): Plan {
    const bins: Bin[] = [];
    const refused = new Set<number>();
    this.countDemand(order, left);
    let start = 0;
    for (;;) {
      while (start < order.length && (left[order[start]!]! < 1 || refused.has(order[start]!))) start += 1;
      if (start >= order.length) break;
      const seed = order[start]!;
      const best = this.bestBin(seed, start === 0 ? order : order.subarray(start), left, value, limitLeft);
      if (best === undefined) {
        refused.add(seed);
        continue;
      }
      let times = Number.MAX_SAFE_INTEGER;
      best.atoms.forEach((atom, at) => (times = Math.min(times, Math.floor(left[atom]! / best.counts[at]!))));
      if (!isWithin(best.limitNeed, limitLeft)) refused.add(seed);
      for (; times > 0 && isWithin(best.limitNeed, limitLeft); times--) {
        bins.push(best);
        best.atoms.forEach((atom, at) => (left[atom]! -= best.counts[at]!));
        this.cpuLeft -= best.used[CPU]!;
        this.memoryLeft -= best.used[MEMORY]!;
        if (limitLeft) for (let at = 0; at < limitLeft.length; at++) limitLeft[at]! -= best.limitNeed[at]!;
      }
    }
    return { bins, left };
  }

  private bestBin(
    seed: number,
    order: Int32Array,
    left: Int32Array,
    value: Float64Array,
    limitLeft: Float64Array | undefined,
  ): Bin | undefined {
    const { demand, filler } = this;
    let best: Bin | undefined;
    let bestScore = 0;
    for (const type of demand.candidates(demand.states0[seed]!)) {
      const bin = filler.fill(type, seed, order, left, value, limitLeft);
      if (bin === undefined) continue;
      const worth = filler.value / (bin.price + demand.options.nodeOverheadCost + 1e-12);
      const score = worth * (1 - IMBALANCE * this.imbalance(bin));
      const near = best !== undefined && Math.abs(score - bestScore) <= 1e-9 * bestScore;
      if (near ? bin.price < best!.price : score > bestScore) [best, bestScore] = [bin, score];
    }
    return best ?? this.alone(seed, limitLeft);
  }

  private countDemand(order: Int32Array, left: Int32Array): void {
    const { rows, columns } = this.demand;
    this.cpuLeft = 0;
    this.memoryLeft = 0;
    for (const atom of order) {
      this.cpuLeft += left[atom]! * rows[atom * columns + CPU]!;
      this.memoryLeft += left[atom]! * rows[atom * columns + MEMORY]!;
    }
  }

  /** How far the node's mix is from the mix of what waits: taking one side first leaves a lopsided rest. */
  private imbalance({ used }: Bin): number {
    const own = (used[MEMORY]! + 1) / (used[CPU]! + 1);
    const waiting = (this.memoryLeft + 1) / (this.cpuLeft + 1);
    return Math.abs(Math.log(own / waiting));
  }

  /** The promising types do not hold the pod, or not within the limits: any type will do. */
  private alone(seed: number, limitLeft: Float64Array | undefined): Bin | undefined {
    const { demand } = this;
    const { podClass, state } = demand.atoms[seed]!;
    const used = podClass.row;
    const type = demand.cheapestHolding(state, used, podClass.shape.hostPorts, limitLeft);
    if (type < 0) return undefined;
    const price = demand.states.at(state).price[type]!;
    const limitNeed = demand.limitNeed(state, type, used, podClass.shape.hostPorts, limitLeft);
    return { state, type, price, atoms: [seed], counts: [1], used, limitNeed, reservation: -1 };
  }
}

function isWithin(need: Float64Array, left: Float64Array | undefined): boolean {
  return left === undefined || need.every((amount, at) => amount <= left[at]!);
}

/** Atoms by value, most valuable first; ties in their own order. */
export function orderByValue(atoms: Iterable<number>, value: Float64Array): Int32Array {
  return Int32Array.from(atoms).sort((left, right) => value[right]! - value[left]! || left - right);
}
