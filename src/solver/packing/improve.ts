/**
 * Ruin and recreate: removes a few bins from a plan, the least efficient first, packs their pods again with slightly
 * changed values, and keeps the result when it is no dearer. Random with a fixed seed: the same input has the same
 * answer. Limited by rounds, and by time where a clock is given.
 */
import { addRow, floatAt, intAt, itemAt } from '../rows.ts';
import { planCost, type Bin, type Plan } from './bin.ts';
import { orderByValue, wasteOf, type Demand } from './demand.ts';
import { Greedy } from './greedy.ts';

export interface SearchBudget {
  readonly rounds: number;
  readonly deadline: number;
  readonly now: (() => number) | undefined;
}

const MAX_RUINED = 6;
/**
 * Of this many random bins the most wasteful is removed: nearly all savings come from the fifth of rounds that remove
 * most waste.
 */
const CONTESTANTS = 8;
/** One removed bin in this many is chosen at random. */
const ANY_OF = 4;
/** Rounds without improvement before the search stops. */
const PATIENCE = 100;
const PATIENCE_PER_BIN = 20;
/** Tolerance for sums of values. */
const ROUNDING = 1e-6;
/** Rounds between checks of the clock. */
const CLOCK_STRIDE = 16;

export class Improver {
  /** Rounds made, over all plans. */
  rounds = 0;
  private readonly budget: SearchBudget;

  constructor(budget: SearchBudget) {
    this.budget = budget;
  }

  /** `limitLeft`: what the plan leaves of the limits; updated with the plan. */
  improve(demand: Demand, plan: Plan, limitLeft: Float64Array | undefined): Plan {
    const bins = [...plan.bins];
    if (bins.length === 0) return plan;
    const random = randomFrom(0x9e3779b9 ^ bins.length);
    const greedy = new Greedy(demand);
    const value = demand.value.slice();
    const left = new Int32Array(demand.items.length);
    const overhead = demand.options.nodeOverheadCost;
    /** By bin: its cost beyond the value of its pods. */
    const waste = bins.map((bin) => wasteOf(demand, bin));
    const patience = PATIENCE + PATIENCE_PER_BIN * bins.length;
    for (let round = 0, stale = 0; round < this.budget.rounds && stale < patience; round++, stale++) {
      if (round % CLOCK_STRIDE === 0 && this.isLate()) break;
      this.rounds += 1;
      const ruined = pickRuined(waste, random);
      const budget = limitLeft && limitLeft.slice();
      const items: number[] = [];
      let cost = 0;
      let wasted = 0;
      for (const at of ruined) {
        const bin = itemAt(bins, at);
        cost += bin.price + overhead;
        wasted += itemAt(waste, at);
        if (budget) addRow(budget, bin.limitNeed, 1);
        takeOut(bin, left, items);
      }
      const spread = random() * 0.3;
      for (const item of items) value[item] = floatAt(demand.value, item) * (1 + spread * (random() - 0.5));
      const again = greedy.pack(orderByValue(items, value), left, value, budget, wasted + ROUNDING);
      const isComplete = items.every((item) => left[item] === 0);
      for (const item of items) left[item] = 0;
      const now = planCost(again, overhead);
      if (!isComplete || now > cost + 1e-12) continue;
      if (now < cost - 1e-9) stale = 0;
      if (budget) limitLeft?.set(budget);
      // From the back, so that indexes stay valid.
      for (const at of [...ruined].sort((one, other) => other - one)) {
        bins[at] = itemAt(bins, bins.length - 1);
        bins.pop();
        waste[at] = itemAt(waste, waste.length - 1);
        waste.pop();
      }
      for (const bin of again.bins) {
        bins.push(bin);
        waste.push(wasteOf(demand, bin));
      }
    }
    return { bins, left: plan.left };
  }

  private isLate(): boolean {
    const { now, deadline } = this.budget;
    return now !== undefined && now() >= deadline;
  }
}

/** Returns its pods to `left`; `items` lists each waiting item once. */
function takeOut(bin: Bin, left: Int32Array, items: number[]): void {
  for (let at = 0; at < bin.items.length; at++) {
    const item = itemAt(bin.items, at);
    if (intAt(left, item) === 0) items.push(item);
    left[item] = intAt(left, item) + itemAt(bin.counts, at);
  }
}

/**
 * Indexes of bins to remove: repeatedly the most wasteful of a few, and some at random. Favours more bins over fewer.
 */
function pickRuined(waste: readonly number[], random: () => number): Set<number> {
  const bins = waste.length;
  const chosen = new Set<number>();
  const wanted = Math.min(bins, 2 + Math.floor(Math.max(random(), random()) * (MAX_RUINED - 1)));
  for (let tries = 0; chosen.size < wanted && tries < wanted * 4; tries++) {
    let worst = Math.floor(random() * bins);
    const contestants = tries % ANY_OF === ANY_OF - 1 ? 1 : CONTESTANTS;
    for (let contest = 1; contest < contestants; contest++) {
      const other = Math.floor(random() * bins);
      if (itemAt(waste, other) > itemAt(waste, worst)) worst = other;
    }
    chosen.add(worst);
  }
  return chosen;
}

/** Mulberry32: small, good enough, and the same everywhere. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
