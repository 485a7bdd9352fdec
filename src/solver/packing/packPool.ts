/**
 * One pool's plan: several starts, the cheapest is improved and kept. In: atoms and limits; out: machines, and what
 * found no place within the limits.
 */
import { planCost, type Plan } from './bin.ts';
import type { Demand } from './demand.ts';
import { firstFit } from './firstFit.ts';
import { Greedy, orderByValue } from './greedy.ts';
import type { Improver } from './improve.ts';
import { patternPlan } from './patterns.ts';

/** So near the bound that looking for whole fillings does not pay. */
const GOOD_ENOUGH = 1.002;

export function packPool(demand: Demand, limitLeft: Float64Array | undefined, improver: Improver): Plan {
  const { nodeOverheadCost } = demand.options;
  const first = startGreedy(demand, limitLeft);
  const whole = limitLeft === undefined ? fromPatterns(demand, first.plan) : undefined;
  const best = whole === undefined ? first : { plan: whole, limitLeft: undefined };
  const improved = improver.improve(demand, best.plan, best.limitLeft);
  const isProven = planCost(improved, nodeOverheadCost) <= demand.fractionalBound * (1 + 1e-9);
  if (isProven && improved.left.every((count) => count === 0)) return improved;
  const blind = startBlind(demand, limitLeft);
  const compared = compareLeft(demand, blind.plan.left, improved.left);
  const cheaper = planCost(blind.plan, nodeOverheadCost) < planCost(improved, nodeOverheadCost) - 1e-9;
  if (compared > 0 || (compared === 0 && !cheaper)) return improved;
  return improver.improve(demand, blind.plan, blind.limitLeft);
}

/** A plan, and what it leaves of the limits. */
interface Start {
  readonly plan: Plan;
  readonly limitLeft: Float64Array | undefined;
}

function startGreedy(demand: Demand, limits: Float64Array | undefined): Start {
  const limitLeft = limits && limits.slice();
  const order = orderByValue(demand.atoms.keys(), demand.value);
  const plan = new Greedy(demand).pack(order, countsOf(demand), demand.value, limitLeft);
  const tiers = new Set(demand.atoms.map(({ podClass }) => podClass.shape.priority));
  if (limits === undefined || tiers.size === 1 || plan.left.every((count) => count === 0)) return { plan, limitLeft };
  return byPriority(demand, [...tiers], limits);
}

function startBlind(demand: Demand, limits: Float64Array | undefined): Start {
  const limitLeft = limits && limits.slice();
  const priority = (atom: number): number => demand.atoms[atom]!.podClass.shape.priority;
  const order = [...demand.atoms.keys()];
  // Atoms come largest first already.
  if (limits !== undefined) order.sort((left, right) => priority(right) - priority(left) || left - right);
  return { plan: firstFit(demand, order, countsOf(demand), limitLeft), limitLeft };
}

function countsOf({ atoms }: Demand): Int32Array {
  const counts = new Int32Array(atoms.length);
  for (let atom = 0; atom < counts.length; atom++) counts[atom] = atoms[atom]!.count;
  return counts;
}

/** Negative when `one` leaves less waiting: fewer of those who matter most, then of the next. */
function compareLeft({ atoms }: Demand, one: Int32Array, other: Int32Array): number {
  const byTier = new Map<number, number>();
  atoms.forEach(({ podClass: { shape } }, atom) => {
    const difference = one[atom]! - other[atom]!;
    if (difference !== 0) byTier.set(shape.priority, (byTier.get(shape.priority) ?? 0) + difference);
  });
  const tiers = [...byTier].sort(([left], [right]) => right - left);
  return tiers.find(([, difference]) => difference !== 0)?.[1] ?? 0;
}

/** The mix of whole fillings with its rest packed as usual, where that is cheaper. */
function fromPatterns(demand: Demand, other: Plan): Plan | undefined {
  if (planCost(other, demand.options.nodeOverheadCost) <= demand.fractionalBound * GOOD_ENOUGH) return undefined;
  const patterns = patternPlan(demand);
  if (patterns === undefined || patterns.bins.length === 0) return undefined;
  const left = Int32Array.from(demand.atoms, ({ count }) => count);
  for (const { atoms, counts } of patterns.bins) atoms.forEach((atom, at) => (left[atom]! -= counts[at]!));
  const rest = new Greedy(demand).pack(orderByValue(demand.atoms.keys(), demand.value), left, demand.value, undefined);
  const plan = { bins: [...patterns.bins, ...rest.bins], left };
  const { nodeOverheadCost } = demand.options;
  const cheaper = planCost(plan, nodeOverheadCost) < planCost(other, nodeOverheadCost);
  return cheaper && left.every((count) => count === 0) ? plan : undefined;
}

/** When not everything fits into the limits, those who matter more go first. */
function byPriority(demand: Demand, tiers: readonly number[], limits: Float64Array): Start {
  const limitLeft = limits.slice();
  const greedy = new Greedy(demand);
  const left = Int32Array.from(demand.atoms, ({ count }) => count);
  const bins: Plan['bins'] = [];
  for (const tier of [...tiers].sort((one, other) => other - one)) {
    const members = [...demand.atoms.keys()].filter((atom) => demand.atoms[atom]!.podClass.shape.priority === tier);
    const counts = new Int32Array(left.length);
    for (const atom of members) counts[atom] = left[atom]!;
    const plan = greedy.pack(orderByValue(members, demand.value), counts, demand.value, limitLeft);
    for (const bin of plan.bins) bins.push(bin);
    for (const atom of members) left[atom] = counts[atom]!;
  }
  return { plan: { bins, left }, limitLeft };
}
