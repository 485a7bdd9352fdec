/** First-fit orders that often do well, tried before random ones. */
import type { CompiledDemand } from './model/compiledDemand.ts';
import type { PodClass } from './model/podClass.ts';
import { CPU, MEMORY } from './model/resourceTable.ts';
import { looksBeyondReach } from './placement/comparedDomains.ts';
import { followersOf } from './placement/followers.ts';
import type { Growth } from './placement/openNode.ts';
import type { PoolFit } from './placement/poolFit.ts';
import type { PodPlan } from './planOnce.ts';
import { floatAt } from './rows.ts';
import { AS_THEY_ARE, hasLeeway, isDoubtful, keyOf, orderOf, type Rank, type Search } from './search.ts';

/**
 * First the searches that include offerings without a zone, if these were left out. Then orders: largest, with most
 * rules, with fewest pools, smallest; each by price and by number of nodes.
 */
export function fixedSearches({ compiled, fit, waiting, missed }: PodPlan, packed: Search, most: number): Search[] {
  const { model, isKeptZonal } = compiled;
  const left = waiting.filter(({ pods }) => pods.length > 0).map(({ podClass }) => podClass.id);
  const isShort = left.length > 0;
  const avoidsReserved = packed.avoidsReserved || missed.length > 0;
  const wider: Search[] =
    isKeptZonal && (most > 0 || isShort)
      ? (['counted', 'none'] as const).map((keepsZones) => ({
          ...packed,
          avoidsReserved,
          staysZonal: false,
          keepsZones,
        }))
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
  const isGenerous = hasLeeway(compiled);
  const isOpen = isDoubtful(compiled);
  // Like plain first-fit, which decides everything about a node as soon as it is opened.
  const settled = { isLenient: isGenerous, settlesDoubts: isOpen, ties: 'first' } as const;
  for (const [rank, growth] of [
    [mostCpu, 'fixed'],
    [mostCpu, 'largest'],
    [mostRules, 'fixed'],
    [AS_THEY_ARE, 'fixed'],
  ] as const) {
    if (growth === 'largest' && !mayStartLarge(compiled, fit)) continue;
    searches.push({ ...base, ...settled, rank, growth, interleaves: true });
  }
  const names = nameRanks(compiled.classes);
  const byName: Rank = ({ id }) => names.get(id) ?? 0;
  for (const growth of ['none', 'room'] as const) searches.push({ ...base, rank: byName, growth, ties: 'first' });
  if (isShort) {
    // Where limits allow no new node, waiting pods may enlarge planned ones.
    const growthOf = new Map(left.map((id): [number, Growth] => [id, 'any']));
    for (const isLenient of isGenerous ? [false, true] : [false]) {
      searches.push({ ...base, rank: AS_THEY_ARE, growth: 'own', growthOf, isLenient });
    }
  }
  if (isGenerous) {
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
  if (waiting.some(({ podClass, pods }) => pods.length > 0 && looksBeyondReach(compiled, fit, podClass))) {
    const opened = { ...base, comparesOpened: true };
    for (const rank of [AS_THEY_ARE, largest, mostRules]) {
      for (const growth of ['own', 'none'] as const) searches.push({ ...opened, rank, growth });
    }
    for (const rank of [AS_THEY_ARE, byName, smallest]) {
      searches.push({ ...opened, rank, growth: 'none', ties: 'first' });
      searches.push({ ...opened, rank, growth: 'fixed', ties: 'first', interleaves: true });
    }
  }
  if (followersOf(compiled.classes).size > 0) {
    for (const growth of ['own', 'none'] as const) searches.push({ ...base, rank: AS_THEY_ARE, growth, leads: true });
    // Pods that cannot join a settled node open another, which those that must stand beside them may join.
    for (const rank of [mostCpu, mostRules, AS_THEY_ARE]) {
      searches.push({ ...base, ...settled, rank, growth: 'fixed', interleaves: true, settlesOffers: true });
    }
  }
  if (model.existing.indexOf.size > 1) {
    // The node that takes a pod first may be the only one with room for others.
    for (const rank of [AS_THEY_ARE, mostRules, smallest]) {
      searches.push({ ...base, rank, growth: 'own', lastNodesFirst: true });
    }
  }
  if (isOpen) {
    for (const rank of [AS_THEY_ARE, mostRules]) searches.push({ ...base, rank, growth: 'own', settlesDoubts: true });
  }
  if (isKeptZonal) {
    const beyond: Search = { ...base, staysZonal: false, keepsZones: 'counted', growth: 'own' };
    for (const rank of [AS_THEY_ARE, boundFirst, largest]) searches.push({ ...beyond, rank });
    // Nodes without a zone are left to pods with no spread over zones at all.
    searches.push({ ...beyond, rank: AS_THEY_ARE, keepsZones: 'spread' });
  }
  return [...wider, ...distinct(searches, compiled.classes)].slice(0, most);
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

/**
 * Whether nodes may start with the largest type. This uses limits up sooner, and must not push pods to a pool of lower
 * weight.
 */
function mayStartLarge({ model }: CompiledDemand, { tiers }: PoolFit): boolean {
  const left = model.limitsLeft();
  return tiers.slice(0, -1).every((pools) => pools.every(({ index }) => left[index] === undefined));
}

/** Number of rules that restrict the pods: their own, and those of other pods against them. */
function rulesOf({ variants, shape }: PodClass): number {
  const volumes = (shape.volumes?.alternatives.length ?? 0) > 0 ? 1 : 0;
  const counts = variants.map(
    ({ domain, hostAffinity, hostLimits, requirementId }) =>
      (requirementId === 0 ? 0 : 1) + domain.length + hostAffinity.length + hostLimits.length,
  );
  return volumes + Math.max(...counts);
}

/** By class: its rank when classes are ordered by the name of their first pod. */
function nameRanks(classes: readonly PodClass[]): Map<number, number> {
  const named = classes.map(({ id, pods: [first] }) => ({ id, name: first?.metadata.name ?? '' }));
  named.sort((left, right) => (left.name === right.name ? left.id - right.id : left.name < right.name ? -1 : 1));
  return new Map(named.map(({ id }, at) => [id, at]));
}

/** By class: rank by size; classes with equal requests share a rank. */
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
