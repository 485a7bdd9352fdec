/**
 * The best of several plans for one question: the packed plan, and where that leaves pods or room for a lower price, plain
 * first-fit plans in several orders. So no plan is worse than first-fit. All is counted: the same question has the same
 * answer.
 */
import { lowerBound } from './bound.ts';
import type { CompiledDemand, PodClass } from './model/compiledDemand.ts';
import type { Model } from './model/model.ts';
import type { Growth } from './placement/sequential.ts';
import {
  comparePriority,
  mightBePlaced,
  planCost,
  planOnce,
  wishesDropped,
  type PodPlan,
  type SearchMode,
} from './planOnce.ts';
import type { Overlay, SolveOptions } from './problem.ts';
import { itemAt } from './rows.ts';

/** Pods that all searches of one question may place together, so that large questions take no longer. */
const MAX_PLACEMENTS = 2500;
const MAX_SEARCHES = 60;
/** Searches after the fixed orders that found nothing better before they are given up. */
const MAX_IDLE = 24;
const EPSILON = 1e-9;

type Rank = SearchMode['rank'];
type Search = Omit<SearchMode, 'avoidsReserved'>;

const AS_THEY_ARE: Rank = () => 0;
const PACKED: Search = { isExact: false, staysZonal: true, isLenient: false, growth: 'any', rank: AS_THEY_ARE };

export function bestPlan(model: Model, overlay: Overlay, options: SolveOptions, avoidsReserved: boolean): PodPlan {
  const plan = (search: Search): PodPlan => planOnce(model, overlay, options, { ...search, avoidsReserved });
  let best = plan(PACKED);
  let bestSearch: Search = { ...PACKED, isExact: true, growth: 'own' };
  const most = Math.min(MAX_SEARCHES, Math.floor(MAX_PLACEMENTS / Math.max(1, overlay.pods.length)));
  const fixed = fixedSearches(best, most);
  const order = new Reordering(best.compiled);
  let idle = mayBeBetter(best) ? 0 : MAX_IDLE;
  for (let count = 0; count < Math.max(most, fixed.length) && idle < MAX_IDLE; count++) {
    const search = fixed[count] ?? order.next(best, bestSearch);
    const other = plan(search);
    if (isBetter(other, best)) {
      best = other;
      bestSearch = search;
      idle = mayBeBetter(best) ? 0 : MAX_IDLE;
      continue;
    }
    // Orders as good lead on to others.
    if (search.isExact && !isBetter(best, other)) bestSearch = search;
    if (count >= fixed.length) idle += 1;
  }
  return best;
}

/** Fewer pods wait; or as many, no more wishes are dropped, and the price is lower. */
function isBetter(plan: PodPlan, best: PodPlan): boolean {
  const priority = comparePriority(best, plan);
  if (priority !== 0) return priority > 0;
  return wishesDropped(plan) <= wishesDropped(best) && planCost(plan) < planCost(best) - EPSILON;
}

/** Whether another order could place more, or cost less. */
function mayBeBetter(plan: PodPlan): boolean {
  const { model, compiled, fit, planned, waiting } = plan;
  if (plan.deferrals.size > 0) return false;
  if (waiting.some(({ podClass, pods }) => pods.length > 0 && mightBePlaced(plan, podClass))) return true;
  if (planned.length === 0) return false;
  // Packing tries plain first-fit itself.
  const isRelated = compiled.classes.some(({ variants }) => variants.some(({ pinKeys }) => pinKeys.length > 0));
  const hasRoom = model.existing.nodes.length > 0;
  if (!isRelated && !hasRoom && model.pools.length === 1) return false;
  if (hasRoom || planned.some(({ pool }) => pool.index > 0)) return true;
  const price = planned.reduce((sum, node) => sum + node.price, 0);
  return price > lowerBound(compiled, fit, planned).pricePerHour + EPSILON;
}

/**
 * Offerings without a zone may be left out at first; where they were, the same with them. Then largest first, those with
 * rules of their own, those with fewest pools to go to, smallest first; each by price and by nodes.
 */
function fixedSearches({ compiled, fit, waiting }: PodPlan, most: number): Search[] {
  const { model, isKeptZonal } = compiled;
  const isShort = waiting.some(({ pods }) => pods.length > 0);
  const wider: Search[] = isKeptZonal && (most > 0 || isShort) ? [{ ...PACKED, staysZonal: false }] : [];
  if (most === 0) return wider;
  const pools = (podClass: PodClass): number =>
    model.pools.filter(({ index }) =>
      podClass.variants.some((variant) => fit.startsOf(podClass, variant, index).length > 0),
    ).length;
  const boundFirst: Rank = (podClass) => (isBound(podClass) ? 0 : 1);
  const fewestPools: Rank = (podClass) => pools(podClass) * 2 + boundFirst(podClass);
  const smallest: Rank = ({ id }) => -id;
  const exact: [Rank, Growth][] = [
    [AS_THEY_ARE, 'any'],
    [AS_THEY_ARE, 'own'],
    [boundFirst, 'own'],
    [fewestPools, 'own'],
    [smallest, 'own'],
    [AS_THEY_ARE, 'least'],
    [AS_THEY_ARE, 'none'],
    [boundFirst, 'none'],
    [boundFirst, 'any'],
    [fewestPools, 'least'],
  ];
  const searches = exact.map(([rank, growth]): Search => ({ ...PACKED, isExact: true, rank, growth }));
  return [...wider, ...searches].slice(0, most);
}

const GROWTHS: readonly Growth[] = ['own', 'any', 'least', 'none'];

/** Orders near the best one so far: pods that wait in front, some classes moved, or any order. */
class Reordering {
  private readonly classes: readonly PodClass[];
  private readonly isKeptZonal: boolean;
  private readonly spreadsOverHosts: boolean;
  private readonly tried = new Set<string>();
  private state = 1;

  constructor({ classes, isKeptZonal, counters }: CompiledDemand) {
    this.classes = classes;
    this.isKeptZonal = isKeptZonal;
    this.spreadsOverHosts = counters.all.some(({ hostname, spec }) => hostname && spec.kind === 'spread');
  }

  next(best: PodPlan, from: Search): Search {
    const order = this.classes.toSorted((left, right) => compareBy(from.rank, left, right)).map(({ id }) => id);
    const waiting = best.waiting.flatMap(({ podClass, pods }) => (pods.length > 0 ? [podClass.id] : []));
    let { growth, staysZonal, isLenient } = from;
    // A few tries, so that no order is tried twice.
    for (let tries = 0; tries < 8; tries++) {
      if (this.below(3) === 0) growth = itemAt(GROWTHS, this.below(GROWTHS.length));
      if (this.isKeptZonal && this.below(3) === 0) staysZonal = !staysZonal;
      if (this.spreadsOverHosts && this.below(2) === 0) isLenient = !isLenient;
      if (this.below(3) === 0) this.shuffle(order);
      const moved = waiting.length > 0 && this.below(2) === 0 ? waiting : [itemAt(order, this.below(order.length))];
      const to = this.below(2) === 0 ? 0 : this.below(order.length);
      for (const id of moved) {
        order.splice(order.indexOf(id), 1);
        order.splice(to, 0, id);
      }
      const key = `${growth}/${staysZonal}/${isLenient}/${order.join()}`;
      if (this.tried.has(key)) continue;
      this.tried.add(key);
      break;
    }
    const place = new Map(order.map((id, at) => [id, at]));
    return { isExact: true, rank: ({ id }) => place.get(id) ?? 0, growth, staysZonal, isLenient };
  }

  private shuffle(order: number[]): void {
    for (let last = order.length - 1; last > 0; last--) {
      const at = this.below(last + 1);
      [order[last], order[at]] = [itemAt(order, at), itemAt(order, last)];
    }
  }

  /** A whole number below `limit`, the same sequence every time. */
  private below(limit: number): number {
    this.state = (Math.imul(this.state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.state / 4_294_967_296) * limit);
  }
}

function compareBy(rank: Rank, left: PodClass, right: PodClass): number {
  return rank(left) - rank(right) || right.shape.priority - left.shape.priority || left.id - right.id;
}

/** By its own rules, not only by those of others. */
function isBound({ variants, shape }: PodClass): boolean {
  return (
    (shape.volumes?.alternatives.length ?? 0) > 0 ||
    variants.some(
      ({ domain, hostAffinity, hostLimits, requirementId }) =>
        requirementId !== 0 || domain.length + hostAffinity.length + hostLimits.length > 0,
    )
  );
}
