/**
 * Greedy packing by value: opens nodes one by one, each for the most valuable waiting pod, with the instance type that
 * holds the most value per dollar.
 */
import * as columnsOf from '../model/resourceTable.ts';
import { addRow, floatAt, intAt, isWithin, itemAt } from '../rows.ts';
import { repeats, type Bin, type Plan } from './bin.ts';
import { wasteOf, type Demand } from './demand.ts';
import { Filler } from './filler.ts';
import { queueOf, type Queue } from './queue.ts';

/** Copied to locals, as in the filler. */
const { CPU, MEMORY, PODS } = columnsOf;
/** Value that a node may lose, per e-fold of imbalance, to keep the waiting pods in proportion. */
const IMBALANCE = 0.02;
/** Nodes between two comparisons of all promising types, and the number of types tried in between. */
const FULL_LOOK = 8;
const FAVOURITES = 5;
/** As a share of its price. */
const HARDLY_BEATEN = 0.999;

export class Greedy {
  private readonly demand: Demand;
  private readonly filler: Filler;
  /** By state: the best types when all were last tried. */
  private readonly favourites: (Int32Array | undefined)[] = [];
  private opened = 0;
  private cpuLeft = 0;
  private memoryLeft = 0;
  private podsLeft = 0;

  constructor(demand: Demand) {
    this.demand = demand;
    this.filler = new Filler(demand);
  }

  /**
   * Takes placed pods from `left`, and their nodes from the limits. Stops early, with pods left, once the nodes cost
   * `mostWaste` more than the value of their pods: the rest cannot make up for that.
   */
  pack(
    order: Int32Array,
    left: Int32Array,
    value: Float64Array,
    limitLeft: Float64Array | undefined,
    mostWaste = Number.POSITIVE_INFINITY,
  ): Plan {
    const bins: Bin[] = [];
    let waste = 0;
    const refused = new Set<number>();
    this.countDemand(order, left);
    let queue = queueOf(order, this.demand);
    let gone = 0;
    for (;;) {
      const { items } = queue;
      let at = queue.start;
      while (at < items.length && (intAt(left, intAt(items, at)) < 1 || refused.has(intAt(items, at)))) at += 1;
      if (at >= items.length) break;
      queue.start = at;
      const seed = intAt(items, at);
      const best = this.bestBin(seed, queue, left, value, limitLeft);
      if (best === undefined) {
        refused.add(seed);
        continue;
      }
      if (limitLeft && !isWithin(best.limitNeed, limitLeft)) refused.add(seed);
      for (let times = repeats(best, left); times > 0; times--) {
        if (limitLeft && !isWithin(best.limitNeed, limitLeft)) break;
        bins.push(best);
        for (let each = 0; each < best.items.length; each++) {
          const item = itemAt(best.items, each);
          const waiting = intAt(left, item) - itemAt(best.counts, each);
          left[item] = waiting;
          if (waiting === 0) gone += 1;
        }
        this.cpuLeft -= floatAt(best.used, CPU);
        this.memoryLeft -= floatAt(best.used, MEMORY);
        this.podsLeft -= floatAt(best.used, PODS);
        if (limitLeft) addRow(limitLeft, best.limitNeed, -1);
        waste += wasteOf(this.demand, best);
      }
      if (waste > mostWaste) break;
      // Every filling walks the list, so used-up items are removed now and then.
      if (gone * 2 > items.length) {
        const rest = items.filter((item) => intAt(left, item) > 0);
        queue = queueOf(rest, this.demand);
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
    const { choice } = demand;
    const state = intAt(demand.stateOf, seed);
    // When limits are used up, most seeds stop here.
    if (limitLeft !== undefined && this.alone(seed, limitLeft) === undefined) return undefined;
    const all = demand.candidates(state);
    const favourites = this.favourites[state];
    // Every few nodes all types are tried again: the best types change with the waiting pods.
    this.opened += 1;
    const few = favourites !== undefined && this.opened % FULL_LOOK !== 0;
    const tried = few ? favourites : all;
    const scores = few ? undefined : new Float64Array(all.length);
    let best: Bin | undefined;
    let bestScore = 0;
    let whole: Bin | undefined;
    let wholeScore = 0;
    for (let at = 0; at < tried.length; at++) {
      const type = intAt(tried, at);
      if (whole !== undefined && this.wouldHold(type, whole)) {
        if (scores !== undefined) scores[at] = wholeScore;
        continue;
      }
      if (!choice.withinLimits(type, limitLeft) || !filler.fill(type, seed, queue, left, value, limitLeft)) continue;
      const worth = filler.value / (filler.price + demand.options.nodeOverheadCost + 1e-12);
      const score = worth * (1 - IMBALANCE * this.imbalance(filler.used));
      if (scores !== undefined) scores[at] = score;
      // Takes every waiting pod: any other type that holds them would be filled in the same way.
      if (whole === undefined && floatAt(filler.used, PODS) === this.podsLeft) {
        whole = filler.bin(limitLeft);
        wholeScore = score;
      }
      const isNear = best !== undefined && Math.abs(score - bestScore) <= 1e-9 * bestScore;
      if (best !== undefined && isNear ? filler.price >= best.price : score <= bestScore) continue;
      best = filler.bin(limitLeft);
      bestScore = score;
      // No filling is worth more than its price, so one this close cannot be beaten by much.
      if (score >= HARDLY_BEATEN) break;
    }
    if (scores !== undefined) this.favourites[state] = favouritesOf(all, scores);
    else if (best === undefined) {
      this.favourites[state] = undefined;
      return this.bestBin(seed, queue, left, value, limitLeft);
    }
    return best ?? this.alone(seed, limitLeft);
  }

  private wouldHold(type: number, { state, used }: Bin): boolean {
    const { choice, states } = this.demand;
    return states.at(state).price[type] !== Number.POSITIVE_INFINITY && choice.fits(type, used);
  }

  private countDemand(order: Int32Array, left: Int32Array): void {
    const { rows } = this.demand;
    this.cpuLeft = 0;
    this.memoryLeft = 0;
    this.podsLeft = 0;
    for (let at = 0; at < order.length; at++) {
      const item = intAt(order, at);
      this.podsLeft += intAt(left, item);
      this.cpuLeft += intAt(left, item) * rows.get(item, CPU);
      this.memoryLeft += intAt(left, item) * rows.get(item, MEMORY);
    }
  }

  /** Distance of the node's resource mix from that of the waiting pods: a one-sided choice leaves a lopsided rest. */
  private imbalance(used: Float64Array): number {
    const own = (floatAt(used, MEMORY) + 1) / (floatAt(used, CPU) + 1);
    const waiting = (this.memoryLeft + 1) / (this.cpuLeft + 1);
    return Math.abs(Math.log(own / waiting));
  }

  /** A node of any type for one pod, when no promising type holds it within the limits. */
  private alone(seed: number, limitLeft: Float64Array | undefined): Bin | undefined {
    const { choice, items, states } = this.demand;
    const { podClass, state } = itemAt(items, seed);
    const { row: used, shape } = podClass;
    const type = choice.cheapestHolding(state, used, shape.hostPorts, limitLeft);
    if (type < 0) return undefined;
    const price = floatAt(states.at(state).price, type);
    const limitNeed = choice.limitNeed(state, type, used, shape.hostPorts, limitLeft);
    return { state, type, price, items: [seed], counts: [1], used, limitNeed, reservation: -1 };
  }
}

/** The types with the best scores, best first; ties keep their order. */
function favouritesOf(types: Int32Array, scores: Float64Array): Int32Array {
  const best = new Int32Array(FAVOURITES);
  let count = 0;
  for (let at = 0; at < types.length; at++) {
    const score = floatAt(scores, at);
    if (score <= 0 || (count === FAVOURITES && score <= floatAt(scores, intAt(best, count - 1)))) continue;
    let place = count < FAVOURITES ? count++ : count - 1;
    for (; place > 0 && floatAt(scores, intAt(best, place - 1)) < score; place--) {
      best[place] = intAt(best, place - 1);
    }
    best[place] = at;
  }
  return best.slice(0, count).map((at) => intAt(types, at));
}
