/** Which pods must spread over domains, and which of their places the scheduler should fill first. */
import type { Pod } from '../api/kinds.ts';
import { Labels } from '../api/labels.ts';

/** The label whose values the scheduler keeps pods of this kind evenly spread over, if it insists on one. */
export function spreadKey({ spec }: Pod): string | undefined {
  return spec?.topologySpreadConstraints?.find(
    ({ whenUnsatisfiable, topologyKey }) => whenUnsatisfiable === 'DoNotSchedule' && topologyKey !== Labels.hostname,
  )?.topologyKey;
}

/**
 * How many pods of this kind may be nominated to one node at a time: the scheduler counts them as if they ran there, and one
 * domain may be ahead of another by one already.
 */
export function toldAtOnce({ spec }: Pod): number {
  const hard = (spec?.topologySpreadConstraints ?? []).filter(
    ({ whenUnsatisfiable, topologyKey }) => whenUnsatisfiable === 'DoNotSchedule' && topologyKey !== Labels.hostname,
  );
  return Math.max(1, Math.min(...hard.map(({ maxSkew }) => maxSkew)) - 1);
}

/**
 * The places in an order in which they can be filled one by one without one domain getting further ahead of another than
 * it must: over domains by turns. Where a run of them comes earlier or later than expected, the rest can still be filled.
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
  for (let next = leastOf(counts); next !== undefined; next = leastOf(counts)) {
    const [domain, count] = next;
    const own = left.get(domain) ?? [];
    order.push(...own.splice(0, 1));
    if (own.length === 0) counts.delete(domain);
    else counts.set(domain, count + 1);
  }
  return order;
}

function leastOf(counts: ReadonlyMap<string, number>): readonly [string, number] | undefined {
  let least: readonly [string, number] | undefined;
  for (const entry of counts) if (least === undefined || entry[1] < least[1]) least = entry;
  return least;
}
