/**
 * The ways to buy a size: each zone and none, on demand and spot. In: a size, its prices and what is unavailable. Out:
 * offerings, with everything that follows from where and how the machine is bought written as requirements.
 */
import { Labels, PlacementScopes } from '../api/labels.ts';
import type { Offering } from '../cloud/instanceType.ts';
import { Requirement } from '../constraints/requirement.ts';
import { Requirements } from '../constraints/requirements.ts';
import type { Prices } from './prices.ts';
import type { Quota } from './quota.ts';
import type { Sku } from './resourceSku.ts';
import type { CapacityType, UnavailableOfferings } from './unavailableOfferings.ts';

/** The zone label of a machine that is in no zone. */
export const REGIONAL_ZONE = '0';
export const CAPACITY_TYPES: readonly CapacityType[] = ['on-demand', 'spot'];

export interface OfferingSources {
  readonly location: string;
  readonly prices: Prices;
  readonly unavailable: UnavailableOfferings;
  readonly quota: Quota;
}

/** `eastus-1`; the regional zone stays `0`. */
export function zoneLabel(location: string, zone: string): string {
  return zone === REGIONAL_ZONE ? REGIONAL_ZONE : `${location.toLowerCase()}-${zone}`;
}

/** What ARM wants in `zones`: the digit, or nothing for a machine in no zone. */
export function armZones(label: string): readonly string[] {
  return label === REGIONAL_ZONE || label === '' ? [] : [label.slice(-1)];
}

export function placementScopeOf(zone: string): 'zonal' | 'regional' {
  return zone === REGIONAL_ZONE ? PlacementScopes.regional : PlacementScopes.zonal;
}

/** The zone labels under which the size is sold, the regional one last. */
export function zonesOf(sku: Sku, location: string): readonly string[] {
  return [...sku.zones, REGIONAL_ZONE].map((zone) => zoneLabel(location, zone));
}

export function offeringsOf(sku: Sku, sources: OfferingSources): readonly Offering[] {
  return [...sku.zones, REGIONAL_ZONE].flatMap((zone) =>
    CAPACITY_TYPES.map((capacityType) => offering(sku, zone, capacityType, sources)),
  );
}

function offering(sku: Sku, zone: string, capacityType: CapacityType, sources: OfferingSources): Offering {
  const label = zoneLabel(sources.location, zone);
  const priority = capacityType === 'spot' ? 'spot' : 'regular';
  const single = (key: string, value: string): Requirement => Requirement.of(key, 'In', [value]);
  // Spot has a quota of its own, which says nothing about families.
  const sellable = capacityType === 'spot' ? sku.spotCapable : sources.quota.allows(sku);
  return {
    zone: label,
    capacityType,
    price: capacityType === 'spot' ? sources.prices.spot(sku.name) : sources.prices.onDemand(sku.name),
    available: sellable && !sources.unavailable.isUnavailable(sku, label, capacityType),
    requirements: Requirements.of(
      single(Labels.capacityType, capacityType),
      single(Labels.aksScaleSetPriority, priority),
      single(Labels.aksPriority, priority),
      single(Labels.zone, label),
      single(Labels.placementScope, placementScopeOf(zone)),
      Requirement.of(Labels.skuUltraSsd, 'In', sku.ultraSsdZones.has(zone) ? ['true', 'false'] : ['false']),
    ),
  };
}
