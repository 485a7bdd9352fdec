/**
 * Few kinds of pods, many of each: whole fillings as columns (Gilmore and Gomory). In: a demand of a handful of atoms;
 * out: the best fractional mix of fillings, rounded down, and a lower bound that knows that pods cannot be cut.
 */
import type { Bin } from './bin.ts';
import { PODS } from '../model/resourceTable.ts';
import { shadowPrices } from './coveringDuals.ts';
import type { Demand } from './demand.ts';

export const MAX_PATTERN_ATOMS = 5;
const MAX_ROUNDS = 60;
/** Partial fillings looked at per type and round. Beyond that nothing is claimed. */
const MAX_STEPS = 60_000;
const EPSILON = 1e-7;

export interface PatternPlan {
  /** Whole machines of the mix; what they leave waits. */
  readonly bins: readonly Bin[];
  /** No plan is cheaper, by the prices of the types. */
  readonly bound: number;
}

interface Pattern {
  readonly type: number;
  readonly counts: readonly number[];
}

/** `undefined` where the kinds are too many, or bound by more than resources. */
export function patternPlan(demand: Demand): PatternPlan | undefined {
  const { atoms, states0, host } = demand;
  const state = states0[0];
  if (state === undefined || atoms.length > MAX_PATTERN_ATOMS || states0.some((other) => other !== state))
    return undefined;
  if (host.plain.some((each) => each === 0) || demand.states.at(state).minValues.length > 0) return undefined;
  if (Number.isFinite(demand.options.maxPodsPerNode)) return undefined;
  const { price } = demand.states.at(state);
  const cost = (type: number): number => price[type]! + demand.options.nodeOverheadCost;
  const types = demand.undominated(state);
  const patterns: Pattern[] = atoms.flatMap((_, atom) => startingPattern(demand, types, atom));
  if (patterns.length < atoms.length) return undefined;
  const need = Float64Array.from(atoms, ({ count }) => count);
  let bound = 0;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { duals, purchase } = shadowPrices({ demand: need, ...asColumns(patterns, cost) });
    let worst = 1;
    let added = false;
    for (const type of types) {
      const found = bestFilling(demand, type, duals);
      if (found === undefined) return undefined;
      const ratio = found.value / cost(type);
      worst = Math.max(worst, ratio);
      if (ratio > 1 + EPSILON) {
        patterns.push({ type, counts: found.counts });
        added = true;
      }
    }
    // Duals divided by the worst excess are feasible for every filling there is: Farley's bound.
    const total = need.reduce((sum, count, atom) => sum + count * duals[atom]!, 0);
    bound = Math.max(bound, (total / worst) * (1 - 1e-9));
    if (!added) return { bound, bins: roundDown(demand, state, patterns, purchase) };
  }
  return { bound, bins: [] };
}

function asColumns(
  patterns: readonly Pattern[],
  cost: (type: number) => number,
): { supply: Float64Array; price: Float64Array } {
  return {
    supply: Float64Array.from(patterns.flatMap(({ counts }) => counts)),
    price: Float64Array.from(patterns, ({ type }) => cost(type)),
  };
}

/** As many pods of one kind as the type holds that is best for it alone. */
function startingPattern(demand: Demand, types: readonly number[], atom: number): Pattern[] {
  const { rows, columns, pool } = demand;
  let best: Pattern | undefined;
  for (const type of types) {
    let most = demand.atoms[atom]!.count;
    for (let column = 0; column < columns; column++) {
      const asked = rows[atom * columns + column]!;
      if (asked > 0) most = Math.min(most, Math.floor(pool.room[type * columns + column]! / asked));
    }
    if (most < 1) continue;
    const counts = demand.atoms.map((_, other) => (other === atom ? most : 0));
    best ??= { type, counts };
  }
  return best === undefined ? [] : [best];
}

/** The most valuable filling of a type, exactly; `undefined` when that takes too long to find out. */
function bestFilling(
  demand: Demand,
  type: number,
  worth: Float64Array,
): { value: number; counts: readonly number[] } | undefined {
  const { atoms, rows, columns, pool } = demand;
  const order = [...atoms.keys()].filter((atom) => worth[atom]! > 0);
  const density = (atom: number): number => worth[atom]! / Math.max(demand.value[atom]!, 1e-15);
  order.sort((left, right) => density(right) - density(left));
  const free = pool.room.slice(type * columns, (type + 1) * columns);
  const counts = atoms.map(() => 0);
  let best = { value: 0, counts: [...counts] as readonly number[] };
  let steps = 0;
  const descend = (at: number, value: number): boolean => {
    steps += 1;
    if (steps > MAX_STEPS) return false;
    if (value > best.value) best = { value, counts: [...counts] };
    if (at >= order.length) return true;
    const atom = order[at]!;
    // What is left of the machine, at the shadow prices, turned into the best that can still come.
    let rest = 1e-9 * free[PODS]!;
    for (let column = 0; column < columns; column++) rest += demand.duals[column]! * free[column]!;
    if (demand.duals.some((dual) => dual > 0) && value + rest * density(atom) <= best.value * (1 + 1e-12)) return true;
    let most = atoms[atom]!.count;
    for (let column = 0; column < columns; column++) {
      const asked = rows[atom * columns + column]!;
      if (asked > 0) most = Math.min(most, Math.floor(free[column]! / asked));
    }
    for (let pods = most; pods >= 0; pods--) {
      counts[atom] = pods;
      for (let column = 0; column < columns; column++) free[column]! -= pods * rows[atom * columns + column]!;
      const finished = descend(at + 1, value + pods * worth[atom]!);
      for (let column = 0; column < columns; column++) free[column]! += pods * rows[atom * columns + column]!;
      counts[atom] = 0;
      if (!finished) return false;
    }
    return true;
  };
  return descend(0, 0) ? best : undefined;
}

function roundDown(demand: Demand, state: number, patterns: readonly Pattern[], purchase: Float64Array): Bin[] {
  const left = demand.atoms.map(({ count }) => count);
  const bins: Bin[] = [];
  patterns.forEach(({ counts }, at) => {
    for (let times = Math.floor(purchase[at]! + EPSILON); times > 0; times--) {
      const taken = counts.map((count, atom) => Math.min(count, left[atom]!));
      if (taken.every((count) => count === 0)) return;
      const atoms = [...taken.keys()].filter((atom) => taken[atom]! > 0);
      const used = new Float64Array(demand.columns);
      for (const atom of atoms) {
        left[atom]! -= taken[atom]!;
        for (let column = 0; column < used.length; column++) {
          used[column]! += taken[atom]! * demand.rows[atom * demand.columns + column]!;
        }
      }
      const type = demand.cheapestHolding(state, used, [], undefined);
      const price = demand.states.at(state).price[type]!;
      const limitNeed = demand.limitNeed(state, type, used, [], undefined);
      bins.push({
        state,
        type,
        price,
        atoms,
        counts: atoms.map((atom) => taken[atom]!),
        used,
        limitNeed,
        reservation: -1,
      });
    }
  });
  return bins;
}
