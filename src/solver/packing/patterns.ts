/**
 * Cutting-stock by column generation (Gilmore and Gomory), for few kinds of items with many pods each. A pattern is one
 * complete filling of a node; the master LP mixes patterns, and an exact knapsack finds patterns that improve the mix.
 * Rounded down, the mix is most of a plan; its dual prices give a lower bound that respects that pods cannot be split.
 */
import { PODS } from '../model/resourceTable.ts';
import { floatAt, intAt, itemAt, Rows } from '../rows.ts';
import type { Bin } from './bin.ts';
import { undominated } from './candidates.ts';
import { coveringDuals } from './coveringDuals.ts';
import { countsOf, type Demand } from './demand.ts';

export const MAX_PATTERN_ITEMS = 5;
const MAX_ROUNDS = 60;
/** Partial fillings examined per type and round. Beyond that there is no result. */
const MAX_STEPS = 60_000;
const EPSILON = 1e-7;

interface PatternPlan {
  /** The mix, rounded down to whole nodes; the remaining pods are packed in another way. */
  readonly bins: readonly Bin[];
  /** Lower bound on the price of every plan. */
  readonly bound: number;
}

interface Pattern {
  readonly type: number;
  /** Number of pods by item. */
  readonly counts: readonly number[];
}

/** `undefined` with too many items, or with items restricted by more than resources. */
export function patternPlan(demand: Demand): PatternPlan | undefined {
  const { items, stateOf, host, states, options, choice } = demand;
  const state = stateOf[0];
  if (state === undefined || items.length > MAX_PATTERN_ITEMS || stateOf.some((other) => other !== state))
    return undefined;
  const { price, minValues } = states.at(state);
  if (host.plain.some((each) => each === 0) || minValues.length > 0) return undefined;
  if (Number.isFinite(options.maxPodsPerNode)) return undefined;
  const cost = (type: number): number => floatAt(price, type) + options.nodeOverheadCost;
  const types = undominated(choice, state);
  const patterns = items.flatMap((_, item) => startingPattern(demand, types, item));
  if (patterns.length < items.length) return undefined;
  const need = Float64Array.from(items, ({ count }) => count);
  let bound = 0;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { duals, purchase } = coveringDuals({
      demand: need,
      supply: new Rows(items.length, Float64Array.from(patterns.flatMap(({ counts }) => counts))),
      price: Float64Array.from(patterns, ({ type }) => cost(type)),
    });
    let worst = 1;
    const before = patterns.length;
    for (const type of types) {
      const found = bestFilling(demand, type, duals);
      if (found === undefined) return undefined;
      const ratio = found.value / cost(type);
      worst = Math.max(worst, ratio);
      if (ratio > 1 + EPSILON) patterns.push({ type, counts: found.counts });
    }
    // Duals divided by the largest excess are feasible for every filling: Farley's bound.
    const total = need.reduce((sum, count, item) => sum + count * floatAt(duals, item), 0);
    bound = Math.max(bound, (total / worst) * (1 - 1e-9));
    if (patterns.length === before) return { bound, bins: roundDown(demand, state, patterns, purchase) };
  }
  return { bound, bins: [] };
}

/** As many pods of one item as fit on the cheapest type that holds any. */
function startingPattern({ rows, choice, items }: Demand, types: readonly number[], item: number): Pattern[] {
  const row = rows.row(item);
  for (const type of types) {
    const most = choice.room.timesHeld(type, row, itemAt(items, item).count);
    if (most >= 1) return [{ type, counts: items.map((_, other) => (other === item ? most : 0)) }];
  }
  return [];
}

/** The most valuable filling of a type (exact knapsack by branch and bound); `undefined` when it takes too long. */
function bestFilling(
  demand: Demand,
  type: number,
  worth: Float64Array,
): { value: number; counts: readonly number[] } | undefined {
  const { items, rows, choice, duals } = demand;
  const density = (item: number): number => floatAt(worth, item) / Math.max(floatAt(demand.value, item), 1e-15);
  const order = [...items.keys()]
    .filter((item) => floatAt(worth, item) > 0)
    .sort((left, right) => density(right) - density(left));
  const free = new Rows(rows.width, choice.room.copy(type));
  const isPriced = duals.some((dual) => dual > 0);
  const counts = items.map(() => 0);
  let best = { value: 0, counts: [...counts] };
  let steps = 0;
  const descend = (at: number, value: number): boolean => {
    steps += 1;
    if (steps > MAX_STEPS) return false;
    if (value > best.value) best = { value, counts: [...counts] };
    const item = order[at];
    if (item === undefined) return true;
    // Upper bound on what can still be added: the remaining room at the dual prices.
    const rest = 1e-9 * free.get(0, PODS) + free.valueOf(0, duals);
    if (isPriced && value + rest * density(item) <= best.value * (1 + 1e-12)) return true;
    const most = free.timesHeld(0, rows.row(item), itemAt(items, item).count);
    for (let pods = most; pods >= 0; pods--) {
      counts[item] = pods;
      rows.addTo(free.cells, item, -pods);
      const isDone = descend(at + 1, value + pods * floatAt(worth, item));
      rows.addTo(free.cells, item, pods);
      counts[item] = 0;
      if (!isDone) return false;
    }
    return true;
  };
  return descend(0, 0) ? best : undefined;
}

function roundDown(demand: Demand, state: number, patterns: readonly Pattern[], purchase: Float64Array): Bin[] {
  const { rows, choice, states } = demand;
  const left = countsOf(demand);
  const bins: Bin[] = [];
  patterns.forEach((pattern, at) => {
    for (let times = Math.floor(floatAt(purchase, at) + EPSILON); times > 0; times--) {
      const taken = pattern.counts.map((count, item) => Math.min(count, intAt(left, item)));
      const items = [...taken.keys()].filter((item) => itemAt(taken, item) > 0);
      if (items.length === 0) return;
      const used = new Float64Array(rows.width);
      for (const item of items) {
        left[item] = intAt(left, item) - itemAt(taken, item);
        rows.addTo(used, item, itemAt(taken, item));
      }
      const type = choice.cheapestHolding(state, used, [], undefined);
      bins.push({
        state,
        type,
        price: floatAt(states.at(state).price, type),
        items,
        counts: items.map((item) => itemAt(taken, item)),
        used,
        limitNeed: choice.limitNeed(state, type, used, [], undefined),
        reservation: -1,
      });
    }
  });
  return bins;
}
