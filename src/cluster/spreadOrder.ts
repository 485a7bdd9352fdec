/** Which pods must spread over domains, and which of their places the scheduler should fill first. */
import type { TopologySpreadConstraint } from 'kubernetes-types/core/v1.js';
import type { Pod } from '../api/kinds.ts';
import { Labels } from '../api/labels.ts';

/** The label whose values the scheduler keeps pods of this kind evenly spread over, if it insists on one. */
export function spreadKey(pod: Pod): string | undefined {
  return hardSpreads(pod)[0]?.topologyKey;
}

/**
 * How many pods of this kind may be nominated to one node at a time: the scheduler counts them as if they ran there, and one
 * domain may be ahead of another by one already.
 */
export function toldAtOnce(pod: Pod): number {
  return Math.max(1, Math.min(...hardSpreads(pod).map(({ maxSkew }) => maxSkew)) - 1);
}

/** The skew that the scheduler allows pods of this kind, if it insists on one spread alone. */
export function onlySkew(pod: Pod): number | undefined {
  const [first, ...others] = hardSpreads(pod);
  return others.length === 0 ? first?.maxSkew : undefined;
}

function hardSpreads({ spec }: Pod): readonly TopologySpreadConstraint[] {
  return (spec?.topologySpreadConstraints ?? []).filter(
    ({ whenUnsatisfiable, topologyKey }) => whenUnsatisfiable === 'DoNotSchedule' && topologyKey !== Labels.hostname,
  );
}

/** A place of a pod that must spread. */
export interface SpreadPlace {
  readonly domain: string;
  readonly node: string;
}

/**
 * Whether the scheduler can bind pods to these places in this order while all of them are nominated: it counts the others that
 * are nominated to the same node as if they ran there. `before` is how many pods each domain has already.
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
 * The places in an order in which they can be filled one by one without one domain getting further ahead of another than
 * it must: over domains by turns, those with fewer places first. Where a run of them comes earlier or later than expected, the rest can still be filled.
 * `before` is how many pods each domain has already.
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

/** Of several with the least count, the one with the fewest places. */
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
