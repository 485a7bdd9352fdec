/**
 * Opens machines one kind after the other, each for the most valuable pod that waits, each of the type that carries
 * most value per dollar. In: how many of each atom; out: a plan.
 */
import * as columnsOf from '../model/resourceTable.ts';
import type { Bin, Plan } from './bin.ts';
import type { Demand } from './demand.ts';
import { Filler } from './filler.ts';
import { Queue } from './queue.ts';

/** Read once, as in the filler. */
const { CPU, MEMORY } = columnsOf;
/** What a node may be worth less, per e-fold of imbalance, to keep the rest in proportion. */
const IMBALANCE = 0.02;
/** Nodes between two looks at every promising type, and how many types are tried in between. */
const FULL_LOOK = 8;
const FAVOURITES = 5;
/** A share of its price. */
const HARDLY_BEATEN = 0.999;

export class Greedy {
  private readonly demand: Demand;
  private readonly filler: Filler;
  /** By state: the types that did best when all were tried. */
  private readonly favourites: (Int32Array | undefined)[] = [];
  private opened = 0;
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
    let queue = new Queue(order, this.demand);
    let gone = 0;
    for (;;) {
      const { atoms } = queue;
      let at = queue.start;
      while (at < atoms.length && (left[atoms[at]!]! < 1 || refused.has(atoms[at]!))) at += 1;
      if (at >= atoms.length) break;
      queue.start = at;
      const seed = atoms[at]!;
      const best = this.bestBin(seed, queue, left, value, limitLeft);
      if (best === undefined) {
        refused.add(seed);
        continue;
      }
      let times = Number.MAX_SAFE_INTEGER;
      for (let each = 0; each < best.atoms.length; each++) {
        times = Math.min(times, Math.floor(left[best.atoms[each]!]! / best.counts[each]!));
      }
      if (!isWithin(best.limitNeed, limitLeft)) refused.add(seed);
      for (; times > 0 && isWithin(best.limitNeed, limitLeft); times--) {
        bins.push(best);
        for (let each = 0; each < best.atoms.length; each++) {
          const atom = best.atoms[each]!;
          left[atom]! -= best.counts[each]!;
          if (left[atom]! === 0) gone += 1;
        }
        this.cpuLeft -= best.used[CPU]!;
        this.memoryLeft -= best.used[MEMORY]!;
        if (limitLeft) for (let at = 0; at < limitLeft.length; at++) limitLeft[at]! -= best.limitNeed[at]!;
      }
      // Every filling walks over the list: those who have a place need not be in it.
      if (gone * 2 > atoms.length) {
        queue = new Queue(
          atoms.filter((atom) => left[atom]! > 0),
          this.demand,
        );
        gone = 0;
      }
    }
    return { bins, left };
  }

  private bestBin(
    seed: number,
    queue: Queue,
    left: Int32Array,
    value: Float64Array,
    limitLeft: Float64Array | undefined,
  ): Bin | undefined {
    const { demand, filler } = this;
    const state = demand.states0[seed]!;
    // Where limits are used up most seeds end here.
    const alone = limitLeft && this.alone(seed, limitLeft);
    if (limitLeft !== undefined && alone === undefined) return undefined;
    const all = demand.candidates(state);
    const favourites = this.favourites[state];
    // Every few nodes all types are tried again: what suits changes with what waits.
    this.opened += 1;
    const few = favourites !== undefined && this.opened % FULL_LOOK !== 0;
    const scores = few ? undefined : new Float64Array(all.length);
    let best: Bin | undefined;
    let bestScore = 0;
    for (let at = 0; at < (few ? favourites.length : all.length); at++) {
      const type = few ? favourites[at]! : all[at]!;
      if (!demand.withinLimits(type, limitLeft) || !filler.fill(type, seed, queue, left, value, limitLeft)) continue;
      const worth = filler.value / (filler.price + demand.options.nodeOverheadCost + 1e-12);
      const score = worth * (1 - IMBALANCE * this.imbalance(filler.used));
      if (scores !== undefined) scores[at] = score;
      const near = best !== undefined && Math.abs(score - bestScore) <= 1e-9 * bestScore;
      if (near ? filler.price >= best!.price : score <= bestScore) continue;
      best = filler.bin(limitLeft);
      bestScore = score;
      // No filling is worth more than it costs: who comes so near cannot be beaten by much.
      if (score >= HARDLY_BEATEN) break;
    }
    if (scores !== undefined) this.favourites[state] = favouritesOf(all, scores);
    else if (best === undefined) {
      this.favourites[state] = undefined;
      return this.bestBin(seed, queue, left, value, limitLeft);
    }
    return best ?? this.alone(seed, limitLeft);
  }

  private countDemand(order: Int32Array, left: Int32Array): void {
    const { rows, columns } = this.demand;
    this.cpuLeft = 0;
    this.memoryLeft = 0;
    for (let at = 0; at < order.length; at++) {
      const atom = order[at]!;
      this.cpuLeft += left[atom]! * rows[atom * columns + CPU]!;
      this.memoryLeft += left[atom]! * rows[atom * columns + MEMORY]!;
    }
  }

  /** How far the node's mix is from the mix of what waits: taking one side first leaves a lopsided rest. */
  private imbalance(used: Float64Array): number {
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

function favouritesOf(types: Int32Array, scores: Float64Array): Int32Array {
  const ranked = [...types.keys()]
    .filter((at) => scores[at]! > 0)
    .sort((left, right) => scores[right]! - scores[left]!);
  return Int32Array.from(ranked.slice(0, FAVOURITES), (at) => types[at]!);
}

function isWithin(need: Float64Array, left: Float64Array | undefined): boolean {
  if (left === undefined) return true;
  for (let at = 0; at < left.length; at++) if (need[at]! > left[at]!) return false;
  return true;
}

/** Atoms by value, most valuable first; ties in their own order. */
export function orderByValue(atoms: Iterable<number>, value: Float64Array): Int32Array {
  return Int32Array.from(atoms).sort((left, right) => value[right]! - value[left]! || left - right);
}
