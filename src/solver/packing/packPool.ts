/** One pool's plan: tries several starts and improves the cheapest. */
import { intAt, itemAt } from '../rows.ts';
import { planCost, type Plan } from './bin.ts';
import { countsOf, orderByValue, type Demand } from './demand.ts';
import { firstFit } from './firstFit.ts';
import { packForcedFirst } from './forcedFirst.ts';
import { Greedy } from './greedy.ts';
import type { Improver } from './improve.ts';
import { patternPlan } from './patterns.ts';

/** Within this factor of the bound, pattern search does not pay. */
const GOOD_ENOUGH = 1.002;

export function packPool(demand: Demand, limitLeft: Float64Array | undefined, improver: Improver): Plan {
  const { nodeOverheadCost } = demand.options;
  const best = limitLeft === undefined ? bestStart(demand) : startGreedy(demand, limitLeft);
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

/** Without limits: by value, or by a method that suits the demand better. */
function bestStart(demand: Demand): Start {
  const forced = packForcedFirst(demand);
  if (forced?.left.every((count) => count === 0) === true) return { plan: forced, limitLeft: undefined };
  const greedy = startGreedy(demand, undefined);
  const other = fromPatterns(demand, greedy.plan);
  if (other === undefined) return greedy;
  const { nodeOverheadCost } = demand.options;
  const isCheaper = planCost(other, nodeOverheadCost) < planCost(greedy.plan, nodeOverheadCost);
  return isCheaper ? { plan: other, limitLeft: undefined } : greedy;
}

function startGreedy(demand: Demand, limits: Float64Array | undefined): Start {
  const limitLeft = limits && limits.slice();
  const order = orderByValue(demand.items.keys(), demand.value);
  const plan = new Greedy(demand).pack(order, countsOf(demand), demand.value, limitLeft);
  const tiers = new Set(demand.items.map(({ podClass }) => podClass.shape.priority));
  if (limits === undefined || tiers.size === 1 || plan.left.every((count) => count === 0)) return { plan, limitLeft };
  return byPriority(demand, [...tiers], limits);
}

function startBlind(demand: Demand, limits: Float64Array | undefined): Start {
  const limitLeft = limits && limits.slice();
  const priority = (item: number): number => itemAt(demand.items, item).podClass.shape.priority;
  const order = [...demand.items.keys()];
  // Items come largest first already.
  if (limits !== undefined) order.sort((left, right) => priority(right) - priority(left) || left - right);
  return { plan: firstFit(demand, order, countsOf(demand), limitLeft), limitLeft };
}

/** Negative when `one` leaves fewer pods of the highest priority at which they differ. */
function compareLeft({ items }: Demand, one: Int32Array, other: Int32Array): number {
  const byTier = new Map<number, number>();
  items.forEach(({ podClass: { shape } }, item) => {
    const difference = intAt(one, item) - intAt(other, item);
    if (difference !== 0) byTier.set(shape.priority, (byTier.get(shape.priority) ?? 0) + difference);
  });
  const tiers = [...byTier].sort(([left], [right]) => right - left);
  return tiers.find(([, difference]) => difference !== 0)?.[1] ?? 0;
}

/** The mix of patterns, with the rest packed greedily. */
function fromPatterns(demand: Demand, other: Plan): Plan | undefined {
  if (planCost(other, demand.options.nodeOverheadCost) <= demand.fractionalBound * GOOD_ENOUGH) return undefined;
  const patterns = patternPlan(demand);
  if (patterns === undefined || patterns.bins.length === 0) return undefined;
  const left = countsOf(demand);
  for (const { items, counts } of patterns.bins) {
    items.forEach((item, at) => (left[item] = intAt(left, item) - itemAt(counts, at)));
  }
  const rest = new Greedy(demand).pack(orderByValue(demand.items.keys(), demand.value), left, demand.value, undefined);
  const plan = { bins: [...patterns.bins, ...rest.bins], left };
  return left.every((count) => count === 0) ? plan : undefined;
}

/** When limits cannot hold everything, packs pods of higher priority first. */
function byPriority(demand: Demand, tiers: readonly number[], limits: Float64Array): Start {
  const limitLeft = limits.slice();
  const greedy = new Greedy(demand);
  const left = countsOf(demand);
  const bins: Plan['bins'] = [];
  for (const tier of [...tiers].sort((one, other) => other - one)) {
    const members = [...demand.items.keys()].filter(
      (item) => itemAt(demand.items, item).podClass.shape.priority === tier,
    );
    const counts = new Int32Array(left.length);
    for (const item of members) counts[item] = intAt(left, item);
    const plan = greedy.pack(orderByValue(members, demand.value), counts, demand.value, limitLeft);
    for (const bin of plan.bins) bins.push(bin);
    for (const item of members) left[item] = intAt(counts, item);
  }
  return { plan: { bins, left }, limitLeft };
}
