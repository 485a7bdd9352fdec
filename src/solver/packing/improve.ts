/**
 * Ruin and recreate. In: a plan; out: one that is never dearer. Takes a few machines out, the least efficient first,
 * packs their pods again with slightly different ideas of value, and keeps the result when it is cheaper. Random, but
 * from a seed: the same input has the same answer. Bounded by rounds, and by time where a clock is given.
 */
import { planCost, type Bin, type Plan } from './bin.ts';
import type { Demand } from './demand.ts';
import { Greedy, orderByValue } from './greedy.ts';

export interface SearchBudget {
  readonly rounds: number;
  readonly deadline: number;
  readonly now: (() => number) | undefined;
}

const MAX_RUINED = 6;
/** Rounds without a cheaper plan before the search gives up. */
const PATIENCE = 100;
const PATIENCE_PER_BIN = 20;
/** Between looks at the clock. */
const CLOCK_STRIDE = 16;

export class Improver {
  /** Rounds that were made, over all plans. */
  rounds = 0;
  private readonly budget: SearchBudget;

  constructor(budget: SearchBudget) {
    this.budget = budget;
  }

  /** `limitLeft`: what the plan leaves of the limits; changed with it. */
  improve(demand: Demand, plan: Plan, limitLeft: Float64Array | undefined): Plan {
    const bins = [...plan.bins];
    if (bins.length === 0) return plan;
    const random = randomFrom(0x9e3779b9 ^ bins.length);
    const greedy = new Greedy(demand);
    const value = demand.value.slice();
    const left = new Int32Array(demand.atoms.length);
    const overhead = demand.options.nodeOverheadCost;
    const waste = (bin: Bin): number => bin.price + overhead - worth(demand, bin);
    const patience = PATIENCE + PATIENCE_PER_BIN * bins.length;
    for (let round = 0, stale = 0; round < this.budget.rounds && stale < patience; round++, stale++) {
      if (round % CLOCK_STRIDE === 0 && this.isLate()) break;
      this.rounds += 1;
      const ruined = pickRuined(bins, waste, random);
      const atoms = new Set<number>();
      let cost = 0;
      const budget = limitLeft && limitLeft.slice();
      for (const at of ruined) {
        const bin = bins[at]!;
        cost += bin.price + overhead;
        if (budget) for (let limit = 0; limit < budget.length; limit++) budget[limit]! += bin.limitNeed[limit]!;
        bin.atoms.forEach((atom, index) => {
          left[atom]! += bin.counts[index]!;
          atoms.add(atom);
        });
      }
      const spread = random() * 0.3;
      for (const atom of atoms) value[atom] = demand.value[atom]! * (1 + spread * (random() - 0.5));
      const attempt = greedy.pack(orderByValue(atoms, value), left, value, budget);
      const complete = [...atoms].every((atom) => left[atom] === 0);
      for (const atom of atoms) left[atom] = 0;
      const now = planCost(attempt, overhead);
      if (!complete || now > cost + 1e-12) continue;
      if (now < cost - 1e-9) stale = 0;
      if (budget) limitLeft?.set(budget);
      // From the back, so that places stay valid.
      for (const at of [...ruined].sort((one, other) => other - one)) {
        bins[at] = bins[bins.length - 1]!;
        bins.pop();
      }
      for (const bin of attempt.bins) bins.push(bin);
    }
    return { bins, left: plan.left };
  }

  private isLate(): boolean {
    const { now, deadline } = this.budget;
    return now !== undefined && now() >= deadline;
  }
}

function worth(demand: Demand, bin: Bin): number {
  let sum = 0;
  bin.atoms.forEach((atom, at) => (sum += demand.value[atom]! * bin.counts[at]!));
  return sum;
}

/** One of the worst of a few, and some at random. */
function pickRuined(bins: readonly Bin[], waste: (bin: Bin) => number, random: () => number): Set<number> {
  const any = (): number => Math.floor(random() * bins.length);
  const chosen = new Set<number>();
  const wanted = Math.min(bins.length, 2 + Math.floor(random() * (MAX_RUINED - 1)));
  for (let tries = 0; chosen.size < wanted && tries < wanted * 4; tries++) {
    let worst = any();
    for (let contest = 0; contest < 3; contest++) {
      const other = any();
      if (waste(bins[other]!) > waste(bins[worst]!)) worst = other;
    }
    chosen.add(tries % 3 === 2 ? any() : worst);
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
