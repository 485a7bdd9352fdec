/**
 * Which offering to buy. In: what the claim asks for and the instance types of its class. Out: the cheapest way to have
 * it, the same one every time it is asked under the same conditions.
 */
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { Labels, WELL_KNOWN_LABELS } from '../api/labels.ts';
import type { TypeView } from '../cloud/cloudProvider.ts';
import type { InstanceType, Offering } from '../cloud/instanceType.ts';
import { Requirements } from '../constraints/requirements.ts';
import { fits, parseResources } from '../units/resources.ts';
import { placementScopeOf } from '../catalogue/offerings.ts';

export interface Purchase {
  readonly type: InstanceType;
  readonly offering: Offering;
}

/** Labels that types and offerings define and claims need not mention. */
const NEED_NOT_MENTION: ReadonlySet<string> = new Set([...WELL_KNOWN_LABELS, Labels.skuHyperVGeneration]);

/** `undefined` when nothing that the claim allows can be bought now. What is bought is the type itself, not the view. */
export function chooseOffering(
  claim: NodeClaim,
  types: readonly InstanceType[],
  view: TypeView = (same) => same,
): Purchase | undefined {
  const wanted = Requirements.fromItems(claim.spec.requirements);
  const requests = parseResources(claim.spec.resources?.requests);
  let best: Purchase | undefined;
  for (const type of view(types)) {
    if (!wanted.isCompatible(type.requirements, NEED_NOT_MENTION) || !fits(requests, type.allocatable)) continue;
    for (const offering of type.offerings) {
      if (!offering.available || !wanted.isCompatible(offering.requirements, NEED_NOT_MENTION)) continue;
      const purchase = { type, offering };
      if (best === undefined || comparePurchases(purchase, best, claim.metadata.name) < 0) best = purchase;
    }
  }
  const type = types.find(({ name }) => name === best?.type.name);
  return best && type && { type, offering: best.offering };
}

/**
 * Cheapest first; then spot, a zone rather than none, and the type's name. Zones that are equal so far are taken in an
 * order that differs from claim to claim: a fleet spreads over them, and a claim that is tried again finds the same one.
 */
function comparePurchases(left: Purchase, right: Purchase, claim: string): number {
  return (
    left.offering.price - right.offering.price ||
    rank(left.offering.capacityType !== 'spot', right.offering.capacityType !== 'spot') ||
    rank(isRegional(left.offering), isRegional(right.offering)) ||
    compareText(left.type.name, right.type.name) ||
    zoneRank(claim, left.offering.zone) - zoneRank(claim, right.offering.zone) ||
    compareText(left.offering.zone, right.offering.zone)
  );
}

/** FNV-1a: far apart for names that differ in one letter. */
function zoneRank(claim: string, zone: string): number {
  let hash = 0x811c9dc5;
  for (const character of `${claim}/${zone}`)
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash;
}

function isRegional(offering: Offering): boolean {
  return placementScopeOf(offering.zone) === 'regional';
}

function rank(left: boolean, right: boolean): number {
  return Number(left) - Number(right);
}

function compareText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
