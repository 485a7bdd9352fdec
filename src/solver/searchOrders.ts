/** The orders in which first-fit plans are tried: some that often do well, then such as lie near the best so far. */
import type { CompiledDemand } from './model/compiledDemand.ts';
import type { PodClass } from './model/podClass.ts';
import { CPU, MEMORY } from './model/resourceTable.ts';
import { spreadKeys, type TieBreak } from './placement/domains.ts';
import { followersOf } from './placement/followers.ts';
import type { Growth } from './placement/openNode.ts';
import type { PoolFit } from './placement/poolFit.ts';
import { mightBePlaced, type PodPlan, type SearchMode } from './planOnce.ts';
import { floatAt, itemAt } from './rows.ts';

type Rank = SearchMode['rank'];

export interface Search extends SearchMode {
  /** Leaves out offerings without a zone while pods spread over zones. */
  readonly staysZonal: boolean;
}

export const AS_THEY_ARE: Rank = () => 0;

/**
 * Offerings without a zone may be left out at first; where they were, the same with them. Then largest first, those with
 * rules of their own, those with fewest pools to go to, smallest first; each by price and by nodes.
 */
export function fixedSearches({ compiled, fit, waiting, missed }: PodPlan, packed: Search, most: number): Search[] {
  const { model, isKeptZonal } = compiled;
  const left = waiting.filter(({ pods }) => pods.length > 0).map(({ podClass }) => podClass.id);
  const isShort = left.length > 0;
  const avoidsReserved = packed.avoidsReserved || missed.length > 0;
  const wider: Search[] =
    isKeptZonal && (most > 0 || isShort)
      ? [true, false].map((keepsZones) => ({ ...packed, avoidsReserved, staysZonal: false, keepsZones }))
      : [];
  if (most === 0) return wider;
  const pools = (podClass: PodClass): number =>
    model.pools.filter(({ index }) =>
      podClass.variants.some((variant) => fit.startsOf(podClass, variant, index).length > 0),
    ).length;
  const boundFirst: Rank = (podClass) => (rulesOf(podClass) > 0 ? 0 : 1);
  const fewestPools: Rank = (podClass) => pools(podClass) * 2 + boundFirst(podClass);
  const sizes = sizeRanks(compiled.classes);
  const largest: Rank = (podClass) => (sizes.get(podClass.id) ?? 0) * 2 + boundFirst(podClass);
  const heaviest: Rank = ({ row }) => -floatAt(row, MEMORY);
  const mostRules: Rank = (podClass) => -rulesOf(podClass);
  const smallest: Rank = ({ id }) => -id;
  const mostCpu: Rank = ({ row }) => -floatAt(row, CPU);
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
    [largest, 'room'],
    [largest, 'none'],
    [largest, 'own'],
    [mostRules, 'none'],
    [mostRules, 'own'],
    [heaviest, 'own'],
  ];
  const base: Search = { ...packed, isExact: true, avoidsReserved };
  const searches = exact.map(([rank, growth]): Search => ({ ...base, rank, growth }));
  for (const rank of [AS_THEY_ARE, largest]) searches.push({ ...base, rank, growth: 'own', ties: 'last' });
  for (const rank of [AS_THEY_ARE, mostRules]) searches.push({ ...base, rank, growth: 'none', ties: 'first' });
  searches.push({ ...base, rank: AS_THEY_ARE, growth: 'room', ties: 'first' });
  const isLenient = hasLeeway(compiled);
  for (const [rank, growth] of [
    [mostCpu, 'fixed'],
    [mostCpu, 'largest'],
    [mostRules, 'fixed'],
    [AS_THEY_ARE, 'fixed'],
  ] as const) {
    if (growth === 'largest' && !mayStartLarge(compiled, fit)) continue;
    searches.push({ ...base, rank, growth, interleaves: true, ties: 'first', isLenient });
  }
  const names = nameRanks(compiled.classes);
  const byName: Rank = ({ id }) => names.get(id) ?? 0;
  for (const growth of ['none', 'room'] as const) searches.push({ ...base, rank: byName, growth, ties: 'first' });
  if (isShort) {
    // Where limits leave no room for other nodes, pods that wait may make those of others larger.
    const growthOf = new Map(left.map((id): [number, Growth] => [id, 'any']));
    for (const isLenient of hasLeeway(compiled) ? [false, true] : [false]) {
      searches.push({ ...base, rank: AS_THEY_ARE, growth: 'own', growthOf, isLenient });
    }
  }
  if (hasLeeway(compiled)) {
    for (const [rank, growth] of [
      [AS_THEY_ARE, 'room'],
      [largest, 'none'],
      [heaviest, 'none'],
      [largest, 'least'],
      [largest, 'any'],
      [heaviest, 'any'],
    ] as const) {
      searches.push({ ...base, rank, growth, isLenient: true });
    }
  }
  if (followersOf(compiled.classes).size > 0) {
    for (const growth of ['own', 'none'] as const) searches.push({ ...base, rank: AS_THEY_ARE, growth, leads: true });
  }
  if (isDoubtful(compiled)) {
    for (const rank of [AS_THEY_ARE, mostRules]) searches.push({ ...base, rank, growth: 'own', settlesDoubts: true });
  }
  if (isKeptZonal) {
    const beyond = { ...base, staysZonal: false, keepsZones: true };
    for (const rank of [AS_THEY_ARE, boundFirst, largest]) searches.push({ ...beyond, rank, growth: 'own' });
  }
  return [...wider, ...distinct(searches, compiled.classes)].slice(0, most);
}

/** The same for searches that place the same pods in the same order and in the same way. */
function keyOf(search: Search, order: readonly number[]): string {
  const { growth, growthOf, ties, staysZonal, isLenient, avoidsReserved, keepsZones, settlesDoubts, leads } = search;
  const flags = [staysZonal, isLenient, avoidsReserved, keepsZones, settlesDoubts, leads, search.interleaves];
  return `${growth}/${[...growthOf].join()}/${ties}/${flags.map(Number).join('')}/${order.join()}`;
}

/** Pods that are taken one by one come by name within a rank, so that equal ranks are another order. */
function orderOf(classes: readonly PodClass[], { rank, interleaves }: Search): readonly number[] {
  const sorted = classes.toSorted((left, right) => compareBy(rank, left, right));
  return interleaves ? sorted.flatMap((each) => [rank(each), each.id]) : sorted.map(({ id }) => id);
}

function distinct(searches: readonly Search[], classes: readonly PodClass[]): Search[] {
  const known = new Set<string>();
  return searches.filter((search) => {
    const key = keyOf(search, orderOf(classes, search));
    if (known.has(key)) return false;
    known.add(key);
    return true;
  });
}

const GROWTHS: readonly Growth[] = ['own', 'any', 'least', 'none', 'room', 'fixed'];
const TIES: readonly TieBreak[] = ['best', 'last', 'first'];
/** To find a search that is new. */
const MAX_TRIES = 8;

/** Orders near the best one so far: pods that wait in front, some classes moved, or any order. */
export class Reordering {
  /** Those that could have a place. */
  private readonly classes: readonly PodClass[];
  private readonly isKeptZonal: boolean;
  private readonly isReserved: boolean;
  private readonly hasLeeway: boolean;
  private readonly hasFollowers: boolean;
  private readonly isDoubtful: boolean;
  private readonly starts: readonly Search[];
  private readonly tried = new Set<string>();
  private state = 1;

  /** `starts`: searches that others may begin with in place of the best. */
  constructor(plan: PodPlan, starts: readonly Search[]) {
    this.starts = starts.filter(({ isExact }) => isExact);
    const { classes, isKeptZonal, model } = plan.compiled;
    this.isReserved = model.pools.some(({ reservations }) => reservations.length > 0);
    this.classes = classes.filter((podClass) => mightBePlaced(plan, podClass));
    this.isKeptZonal = isKeptZonal;
    this.isDoubtful = isDoubtful(plan.compiled);
    this.hasLeeway = hasLeeway(plan.compiled);
    this.hasFollowers = followersOf(classes).size > 0;
    for (const start of this.starts) this.tried.add(keyOf(start, orderOf(this.classes, start)));
  }

  /** `isStale`: what lies near the best search has been tried for a while. None when nothing new is found any more. */
  next(best: PodPlan, bestSearch: Search, isStale: boolean): Search | undefined {
    const isFresh = isStale && this.starts.length > 0 && this.below(2) === 0;
    const from = isFresh ? itemAt(this.starts, this.below(this.starts.length)) : bestSearch;
    const order = this.classes.toSorted((left, right) => compareBy(from.rank, left, right)).map(({ id }) => id);
    const left = new Set(best.waiting.flatMap(({ podClass, pods }) => (pods.length > 0 ? [podClass.id] : [])));
    const waiting = order.filter((id) => left.has(id));
    let { growth, staysZonal, isLenient, avoidsReserved, keepsZones, ties, settlesDoubts, leads } = from;
    let growthOf = from.growthOf;
    // A few tries, so that no order is tried twice.
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (this.below(3) === 0) growth = itemAt(GROWTHS, this.below(GROWTHS.length));
      if (this.below(3) === 0) growthOf = this.growthElsewhere(growthOf, order, waiting);
      if (this.isKeptZonal && this.below(3) === 0) {
        staysZonal = !staysZonal;
        keepsZones = !staysZonal && this.below(3) > 0;
      }
      if (this.hasLeeway && this.below(2) === 0) isLenient = !isLenient;
      if (this.hasFollowers && this.below(3) === 0) leads = !leads;
      if (this.below(4) === 0) ties = itemAt(TIES, this.below(TIES.length));
      if (this.isDoubtful && this.below(3) === 0) settlesDoubts = !settlesDoubts;
      if (this.isReserved && this.below(3) === 0) avoidsReserved = !avoidsReserved;
      if (this.below(3) === 0) this.shuffle(order);
      const moved = waiting.length > 0 && this.below(2) === 0 ? waiting : [itemAt(order, this.below(order.length))];
      const to = this.below(2) === 0 ? 0 : this.below(order.length);
      for (const id of moved) {
        order.splice(order.indexOf(id), 1);
        order.splice(to, 0, id);
      }
      const place = new Map(order.map((id, at) => [id, at]));
      const search: Search = {
        isExact: true,
        rank: ({ id }) => place.get(id) ?? 0,
        growth,
        growthOf,
        staysZonal,
        isLenient,
        avoidsReserved,
        keepsZones,
        ties,
        settlesDoubts,
        leads,
        interleaves: false,
      };
      const key = keyOf(search, order);
      if (this.tried.has(key)) continue;
      this.tried.add(key);
      return search;
    }
    return undefined;
  }

  /** One class chooses otherwise than before, or all the same again. */
  private growthElsewhere(
    known: ReadonlyMap<number, Growth>,
    order: readonly number[],
    waiting: readonly number[],
  ): ReadonlyMap<number, Growth> {
    if (known.size > 0 && this.below(3) === 0) return new Map();
    if (waiting.length > 0 && this.below(2) === 0) {
      return new Map([...known, [itemAt(waiting, this.below(waiting.length)), 'any']]);
    }
    const id = itemAt(order, this.below(order.length));
    return new Map([...known, [id, itemAt(GROWTHS, this.below(GROWTHS.length))]]);
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

/** Some rules may be read more generously: they bind in some orders of the pods only. */
function hasLeeway({ counters }: CompiledDemand): boolean {
  return counters.all.some(({ hostname, spec, gathers }) => gathers || (hostname && spec.kind === 'spread'));
}

/** Whether a planned node takes part in some spread, or where, may stay open. */
function isDoubtful({ classes, counters }: CompiledDemand): boolean {
  const keys = spreadKeys(counters);
  return classes.some(({ variants }) =>
    variants.some(({ doubtKeys, pinKeys }) => doubtKeys.length > 0 || keys.some((key) => !pinKeys.includes(key))),
  );
}

/**
 * Whether nodes may be of the largest type at first: limits are used up sooner then, and pods must not go to a pool of less
 * weight for that.
 */
function mayStartLarge({ model }: CompiledDemand, { tiers }: PoolFit): boolean {
  const left = model.limitsLeft();
  return tiers.slice(0, -1).every((pools) => pools.every(({ index }) => left[index] === undefined));
}

function compareBy(rank: Rank, left: PodClass, right: PodClass): number {
  return rank(left) - rank(right) || right.shape.priority - left.shape.priority || left.id - right.id;
}

/** How many rules bind the pods, their own or those of others against them. */
function rulesOf({ variants, shape }: PodClass): number {
  const volumes = (shape.volumes?.alternatives.length ?? 0) > 0 ? 1 : 0;
  const counts = variants.map(
    ({ domain, hostAffinity, hostLimits, requirementId }) =>
      (requirementId === 0 ? 0 : 1) + domain.length + hostAffinity.length + hostLimits.length,
  );
  return volumes + Math.max(...counts);
}

/** By class: its place when classes come in the order of their first pods' names. */
function nameRanks(classes: readonly PodClass[]): Map<number, number> {
  const named = classes.map(({ id, pods: [first] }) => ({ id, name: first?.metadata.name ?? '' }));
  named.sort((left, right) => (left.name === right.name ? left.id - right.id : left.name < right.name ? -1 : 1));
  return new Map(named.map(({ id }, at) => [id, at]));
}

/** By class: classes are numbered by size, and those that ask for the same have the same rank. */
function sizeRanks(classes: readonly PodClass[]): Map<number, number> {
  const ranks = new Map<number, number>();
  let rank = 0;
  let last: PodClass | undefined;
  for (const podClass of classes) {
    if (last?.row.some((amount, column) => amount !== podClass.row[column]) === true) rank += 1;
    ranks.set(podClass.id, rank);
    last = podClass;
  }
  return ranks;
}
