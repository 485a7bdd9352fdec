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
  const counts = (): Int32Array => Int32Array.from(demand.atoms, ({ count }) => count);
  const order = orderByValue(demand.atoms.keys(), demand.value);
  const budget = limitLeft && Float64Array.from(limitLeft);
  const first = new Greedy(demand).pack(order, counts(), demand.value, budget);
  if (limitLeft !== undefined) {
    const tiers = new Set(demand.atoms.map(({ podClass }) => podClass.shape.priority));
    const complete = first.left.every((count) => count === 0);
    return complete || tiers.size === 1 ? first : byPriority(demand, [...tiers], limitLeft);
  }
  const best = improver.improve(demand, fromPatterns(demand, first) ?? first);
  const blind = firstFit(demand, counts());
  const { nodeOverheadCost } = demand.options;
  const cheaper = planCost(blind, nodeOverheadCost) < planCost(best, nodeOverheadCost) - 1e-9;
  return cheaper && blind.left.every((count) => count === 0) ? improver.improve(demand, blind) : best;
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
function byPriority(demand: Demand, tiers: readonly number[], limitLeft: Float64Array): Plan {
  const budget = Float64Array.from(limitLeft);
  const greedy = new Greedy(demand);
  const left = Int32Array.from(demand.atoms, ({ count }) => count);
  const bins: Plan['bins'] = [];
  for (const tier of [...tiers].sort((one, other) => other - one)) {
    const members = [...demand.atoms.keys()].filter((atom) => demand.atoms[atom]!.podClass.shape.priority === tier);
    const counts = new Int32Array(left.length);
    for (const atom of members) counts[atom] = left[atom]!;
    const plan = greedy.pack(orderByValue(members, demand.value), counts, demand.value, budget);
    for (const bin of plan.bins) bins.push(bin);
    for (const atom of members) left[atom] = counts[atom]!;
  }
  return { bins, left };
}
