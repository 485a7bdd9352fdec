/**
 * Best of several plans for one question: the packed plan, and, if pods are left over or a lower price may be possible,
 * plain first-fit plans in several orders. So no plan is worse than first-fit. All limits are counts, not times: the
 * same question always has the same answer.
 */
import { Labels } from '../api/labels.ts';
import { lowerBound } from './bound.ts';
import type { Question } from './draft.ts';
import { fixedSearches } from './fixedSearches.ts';
import type { Model } from './model/model.ts';
import {
  comparePriority,
  mightBePlaced,
  planCost,
  planOnce,
  questionOf,
  wishesDropped,
  type PodPlan,
} from './planOnce.ts';
import type { Overlay, SolveOptions } from './problem.ts';
import { roomOrders } from './roomOrders.ts';
import { Reordering } from './reordering.ts';
import { AS_THEY_ARE, type Search } from './search.ts';

/** With more pods than this, no other orders are tried. */
const MAX_PODS = 400;
/** Limit on pod pairs compared by all searches of one question, so that larger questions take no longer. */
const MAX_WORK = 150_000;
const MAX_ROUNDS = 400;
const MAX_SEARCHES = 100;
/** Minimum even for questions that allow no rounds of improvement, so that waiting pods are tried again. */
const MIN_SEARCHES = 4;
/** Stop after this many searches beyond the fixed orders without a better plan. */
const MAX_IDLE = 50;
/** After this many searches without success, also start from searches other than the best. */
const STALE = 20;
/** For pods without topology rules, a plan within this factor of the bound is good enough. */
const NEAR = 1.02;
const EPSILON = 1e-9;

export function bestPlan(model: Model, overlay: Overlay, options: SolveOptions, avoidsReserved: boolean): PodPlan {
  const zonal = questionOf(model, overlay, options, true);
  let wider: Question | undefined;
  const plan = (search: Search, mostDollars?: number): PodPlan => {
    const question = search.staysZonal ? zonal : (wider ??= questionOf(model, overlay, options, false));
    return planOnce(question, search, mostDollars);
  };
  const packed: Search = {
    isExact: false,
    staysZonal: true,
    avoidsReserved,
    isLenient: false,
    keepsZones: 'none',
    comparesOpened: false,
    ties: 'best',
    settlesDoubts: false,
    growth: 'any',
    growthOf: new Map(),
    leads: false,
    interleaves: false,
    settlesOffers: false,
    lastNodesFirst: false,
    rank: AS_THEY_ARE,
  };
  let best = plan(packed);
  for (const rank of options.searchRounds === 0 ? [] : roomOrders(best)) {
    const other = plan({ ...packed, rank });
    if (isBetter(other, best)) best = other;
  }
  if (options.keepsPrioritiesApart === true) return best;
  let bestSearch: Search = { ...packed, isExact: true, growth: 'own' };
  const most = searchesFor(overlay, options);
  if (most > 0 && !mayBeBetter(best, options)) return best;
  const fixed = fixedSearches(best, packed, most);
  if (fixed.length === 0 || (most === 0 && !mayBeBetter(best, options))) return best;
  const order = Reordering.after(best, fixed);
  let idle = 0;
  for (let count = 0; count < Math.max(most, fixed.length) && idle < MAX_IDLE; count++) {
    const search = fixed[count] ?? order.next(best, bestSearch, idle >= STALE);
    if (search === undefined) break;
    const other = plan(search, dollarsToBeat(best));
    if (isBetter(other, best)) {
      best = other;
      bestSearch = search;
      idle = mayBeBetter(best, options) ? 0 : MAX_IDLE;
      continue;
    }
    // Continue from equally good orders too.
    if (search.isExact && !isBetter(best, other)) bestSearch = search;
    if (count >= fixed.length) idle += 1;
  }
  return best;
}

/** A first-fit plan looks at every node for every pod, so its cost grows with the square of the number of pods. */
function searchesFor({ pods }: Overlay, { searchRounds = MAX_ROUNDS }: SolveOptions): number {
  if (pods.length > MAX_PODS) return 0;
  const affordable = Math.max(1, Math.floor(MAX_WORK / (pods.length * pods.length + 1)));
  return Math.min(affordable, Math.max(MIN_SEARCHES, Math.min(MAX_SEARCHES, Math.ceil(searchRounds / 2))));
}

/**
 * Better: can be bound in the scheduler's order; or leaves fewer pods waiting; or costs less without dropping more
 * preferences or zones.
 */
function isBetter(plan: PodPlan, best: PodPlan): boolean {
  // A plan that promised reserved capacity which is used up is not valid.
  if (plan.missed.length > 0 || best.missed.length > 0) return plan.missed.length === 0;
  // Cheap test first: most plans are not preferred, and the order check is expensive.
  return isPreferred(plan, best) ? plan.isInOrder() || !best.isInOrder() : !best.isInOrder() && plan.isInOrder();
}

function isPreferred(plan: PodPlan, best: PodPlan): boolean {
  const priority = comparePriority(best, plan);
  if (priority !== 0) return priority > 0;
  if (planCost(plan) > planCost(best) - EPSILON) return false;
  return wishesDropped(plan) <= wishesDropped(best) && zonesGivenUp(plan) <= zonesGivenUp(best);
}

/** Upper cost limit for another plan to be better; undefined (no limit) while another plan could place more pods. */
function dollarsToBeat(best: PodPlan): number | undefined {
  const { model, missed, waiting, planned, packing } = best;
  const isOpen =
    missed.length > 0 || waiting.some(({ podClass, pods }) => pods.length > 0 && mightBePlaced(best, podClass));
  // Reservations lower the price only after all nodes are known, and fewer nodes save overhead: no limit then.
  const isReserved = model.pools.some(({ reservations }) => reservations.length > 0);
  if (isOpen || isReserved || packing.nodeOverheadCost > 0 || !best.isInOrder()) return undefined;
  return planned.reduce((sum, { price }) => sum + price, 0);
}

/** Pods that spread over zones but are on planned nodes without a zone, where such nodes should be avoided. */
function zonesGivenUp({ planned, model: { states }, compiled, domains }: PodPlan): number {
  let count = 0;
  if (!compiled.isSpreadBeyondZones) return count;
  for (const { state, pool, entries } of planned) {
    if (pool.regionalZones.size === 0) continue;
    const zones = states.valuesOf(state, Labels.zone);
    if (zones.some((zone) => !pool.regionalZones.has(zone))) continue;
    for (const { variant, pods } of entries) {
      if (domains.isSpreadOver(variant, Labels.zone)) count += pods.length;
    }
  }
  return count;
}

/** Whether another order could place more pods or cost less. */
function mayBeBetter(plan: PodPlan, { searchRounds }: SolveOptions): boolean {
  const { model, compiled, fit, planned, waiting } = plan;
  if (plan.deferrals.size > 0) return false;
  if (plan.missed.length > 0 || !plan.isInOrder()) return true;
  if (waiting.some(({ podClass, pods }) => pods.length > 0 && mightBePlaced(plan, podClass))) return true;
  if (planned.length === 0 || searchRounds === 0) return false;
  const hasRoom = model.existing.indexOf.size > compiled.removed.size;
  if (hasRoom || model.pools.length > 1) return true;
  // Packing has tried plain first-fit itself, so a plan this near the bound is not worth more searches.
  const isRelated = compiled.classes.some(({ variants }) => variants.some(({ pinKeys }) => pinKeys.length > 0));
  const isReserved = model.pools.some(({ reservations }) => reservations.length > 0);
  const price = planned.reduce((sum, node) => sum + node.price, 0);
  const near = isRelated || isReserved ? 1 : NEAR;
  return price > lowerBound(compiled, fit, planned).pricePerHour * near + EPSILON;
}
