/** Which pods must spread over domains, and in which order the scheduler should fill their places. */
import type { TopologySpreadConstraint } from 'kubernetes-types/core/v1.js';
import type { Pod } from '../api/kinds.ts';
import { Labels } from '../api/labels.ts';

/** The topology key of the pod's hard spread constraint, if it has one. */
export function spreadKey(pod: Pod): string | undefined {
  return hardSpreads(pod)[0]?.topologyKey;
}

/**
 * How many pods of this kind may be nominated to one node at a time: the scheduler counts nominated pods as running
 * there, and one domain may already be ahead by one.
 */
export function toldAtOnce(pod: Pod): number {
  return Math.max(1, Math.min(...hardSpreads(pod).map(({ maxSkew }) => maxSkew)) - 1);
}

/** The maxSkew of the pod's only hard spread constraint, if it has exactly one. */
export function onlySkew(pod: Pod): number | undefined {
  const [first, ...others] = hardSpreads(pod);
  return others.length === 0 ? first?.maxSkew : undefined;
}

function hardSpreads({ spec }: Pod): readonly TopologySpreadConstraint[] {
  return (spec?.topologySpreadConstraints ?? []).filter(
    ({ whenUnsatisfiable, topologyKey }) => whenUnsatisfiable === 'DoNotSchedule' && topologyKey !== Labels.hostname,
  );
}

/** A place of a pod with a spread constraint. */
export interface SpreadPlace {
  readonly domain: string;
  readonly node: string;
}

/**
 * Whether the scheduler can bind pods to these places in this order while all are nominated: it counts other pods
 * nominated to the same node as running there. `before`: number of pods already in each domain.
 */
export function canBeToldTogether(
  places: readonly SpreadPlace[],
  before: ReadonlyMap<string, number>,
  maxSkew: number,
): boolean {
  const counts = new Map(before);
  for (const { domain } of places) if (!counts.has(domain)) counts.set(domain, 0);
  return places.every(({ domain, node }, at) => {
    const count = counts.get(domain) ?? 0;
    const nominated = places.slice(at + 1).filter((other) => other.node === node).length;
    counts.set(domain, count + nominated);
    const skew = count + nominated + 1 - Math.min(...counts.values());
    counts.set(domain, count + 1);
    return skew <= maxSkew;
  });
}

/**
 * An order in which the places can be filled one by one with the least possible skew between domains: round-robin over
 * domains, those with fewer places first. If some places are filled earlier or later than expected, the rest can still
 * be filled. `before`: number of pods already in each domain.
 */
export function spreadOrder<T extends { readonly domain: string }>(
  places: readonly T[],
  before: ReadonlyMap<string, number>,
): readonly T[] {
  const left = new Map<string, T[]>();
  for (const place of places) {
    const known = left.get(place.domain);
    if (known === undefined) left.set(place.domain, [place]);
    else known.push(place);
  }
  const counts = new Map([...left.keys()].sort().map((domain) => [domain, before.get(domain) ?? 0]));
  const order: T[] = [];
  const next = (): readonly [string, number] | undefined => leastOf(counts, (domain) => left.get(domain)?.length ?? 0);
  for (let found = next(); found !== undefined; found = next()) {
    const [domain, count] = found;
    const own = left.get(domain) ?? [];
    order.push(...own.splice(0, 1));
    if (own.length === 0) counts.delete(domain);
    else counts.set(domain, count + 1);
  }
  return order;
}

/** The domain with the least count; ties: the one with the fewest places. */
function leastOf(
  counts: ReadonlyMap<string, number>,
  placesIn: (domain: string) => number,
): readonly [string, number] | undefined {
  let least: readonly [string, number] | undefined;
  for (const entry of counts) {
    const difference = least === undefined ? -1 : entry[1] - least[1] || placesIn(entry[0]) - placesIn(least[0]);
    if (difference < 0) least = entry;
  }
  return least;
}
