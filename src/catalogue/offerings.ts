/**
 * The ways to buy a size: each zone and none, on demand and spot. In: a size, its prices and what is unavailable. Out:
 * offerings, with everything that follows from where and how the machine is bought written as requirements.
 */
import { Labels, PlacementScopes } from '../api/labels.ts';
import type { Offering } from '../cloud/instanceType.ts';
import { Requirement } from '../constraints/requirement.ts';
import { Requirements } from '../constraints/requirements.ts';
import type { Sku } from './resourceSku.ts';

export type CapacityType = 'on-demand' | 'spot';

/** The zone label of a machine that is in no zone. */
export const REGIONAL_ZONE = '0';
export const CAPACITY_TYPES: readonly CapacityType[] = ['on-demand', 'spot'];

export interface OfferingSources {
  readonly location: string;
  /** US dollars per hour by size. */
  readonly prices: { onDemand(size: string): number; spot(size: string): number };
  readonly unavailable: { isUnavailable(sku: Sku, zone: string, capacityType: CapacityType): boolean };
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
  const sellable = capacityType === 'on-demand' || sku.spotCapable;
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
