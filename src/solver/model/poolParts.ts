/**
 * Splits a pool whose daemons depend on a label that the pool leaves open into parts with a fixed value of the label,
 * because only then the room that daemons take is known. (A claim names one value of such a label anyway.) Labels
 * decided by instance types or offerings (zone, capacity type) stay open: the freedom to choose is worth more than the
 * room.
 */
import type { Pod } from '../../api/kinds.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import { requirementTerms } from '../../constraints/podRequirements.ts';
import type { PoolOffer } from '../problem.ts';
import { comingDaemons, knownKeysOf, poolRequirements, typesOf } from './compiledPool.ts';

/** A pool with more parts stays whole and is planned with every daemon that may run. */
const MAX_PARTS = 8;

export function poolParts(offer: PoolOffer, daemons: readonly Pod[]): readonly PoolOffer[] {
  let parts: readonly PoolOffer[] = [offer];
  if (daemons.length === 0) return parts;
  for (const key of openKeys(offer, daemons)) {
    const split = parts.flatMap((part) => settle(part, key));
    if (split.length > MAX_PARTS || hasSameDaemons(split, daemons)) continue;
    parts = split;
  }
  return parts;
}

/** The pool's own labels with several values that some daemon selects on, sorted. */
function openKeys(offer: PoolOffer, daemons: readonly Pod[]): string[] {
  const asked = new Set(daemons.flatMap((daemon) => requirementTerms(daemon).flatMap((term) => [...term.keys()])));
  const known = knownKeysOf(typesOf(offer));
  const requirements = poolRequirements(offer.pool);
  return [...asked].sort().filter((key) => {
    const own = requirements.find(key);
    return (
      own !== undefined && !own.complement && own.values.size > 1 && own.minValues === undefined && !known.has(key)
    );
  });
}

function settle(offer: PoolOffer, key: string): PoolOffer[] {
  return [...poolRequirements(offer.pool).get(key).values].sort().map((value) => ({
    ...offer,
    pool: withRequirement(offer.pool, { key, operator: 'In', values: [value] }),
  }));
}

function withRequirement(
  pool: NodePool,
  requirement: NodePool['spec']['template']['spec']['requirements'][number],
): NodePool {
  const { template } = pool.spec;
  const requirements = [...template.spec.requirements, requirement];
  return { ...pool, spec: { ...pool.spec, template: { ...template, spec: { ...template.spec, requirements } } } };
}

function hasSameDaemons(parts: readonly PoolOffer[], daemons: readonly Pod[]): boolean {
  const texts = parts.map((part) =>
    JSON.stringify(
      comingDaemons(part.pool, typesOf(part), daemons).map((pods) => pods.map((pod) => daemons.indexOf(pod))),
    ),
  );
  return new Set(texts).size === 1;
}
