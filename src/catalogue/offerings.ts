/**
 * The offerings of a SKU: in each zone and without a zone, on demand and spot. Properties that depend on the offering
 * are written as requirements.
 */
import { Labels, PlacementScopes } from '../api/labels.ts';
import type { Offering, QuotaNeed } from '../cloud/instanceType.ts';
import { Requirement } from '../constraints/requirement.ts';
import { Requirements } from '../constraints/requirements.ts';
import type { Sku } from './resourceSku.ts';

export type CapacityType = 'on-demand' | 'spot';

/** The zone label of an instance without a zone. */
export const REGIONAL_ZONE = '0';
export const CAPACITY_TYPES: readonly CapacityType[] = ['on-demand', 'spot'];

/** Azure's quota names for all vCPUs of a region: on demand, and spot. */
const REGIONAL_QUOTA = 'cores';
const SPOT_QUOTA = 'lowPriorityCores';

export interface OfferingSources {
  readonly location: string;
  /** US dollars per hour by size. */
  readonly prices: { onDemand(size: string): number; spot(size: string): number };
  readonly unavailable: { isUnavailable(sku: Sku, zone: string, capacityType: CapacityType): boolean };
  readonly quota: { allows(sku: Sku): boolean };
}

/** `eastus-1`; the regional zone stays `0`. */
export function zoneLabel(location: string, zone: string): string {
  return zone === REGIONAL_ZONE ? REGIONAL_ZONE : `${location.toLowerCase()}-${zone}`;
}

/** ARM's `zones`: the digit, or empty for an instance without a zone. */
export function armZones(label: string): readonly string[] {
  return label === REGIONAL_ZONE || label === '' ? [] : [label.slice(-1)];
}

export function placementScopeOf(zone: string): 'zonal' | 'regional' {
  return zone === REGIONAL_ZONE ? PlacementScopes.regional : PlacementScopes.zonal;
}

/** The zone labels in which the size is sold, the regional one last. */
export function zonesOf(sku: Sku, location: string): readonly string[] {
  return [...sku.zones, REGIONAL_ZONE].map((zone) => zoneLabel(location, zone));
}

/** Quota use of an instance. Spot has one quota for all families. */
export function quotaNeed({ family, cpus }: Pick<Sku, 'family' | 'cpus'>, capacityType: CapacityType): QuotaNeed {
  return { names: capacityType === 'spot' ? [SPOT_QUOTA] : [family, REGIONAL_QUOTA], amount: cpus };
}

/** Whether the quota is that of one VM family. */
export function isFamilyQuota(name: string): boolean {
  return name !== REGIONAL_QUOTA && name !== SPOT_QUOTA;
}

export class Offerings {
  private readonly sources: OfferingSources;
  /** Few distinct sets exist; thousands of offerings share them. */
  private readonly shared = new Map<string, Requirements>();

  constructor(sources: OfferingSources) {
    this.sources = sources;
  }

  of(sku: Sku): readonly Offering[] {
    const needs = CAPACITY_TYPES.map((capacityType) => ({ capacityType, need: quotaNeed(sku, capacityType) }));
    return [...sku.zones, REGIONAL_ZONE].flatMap((zone) =>
      needs.map(({ capacityType, need }) => this.offering(sku, zone, capacityType, need)),
    );
  }

  private offering(sku: Sku, zone: string, capacityType: CapacityType, need: QuotaNeed): Offering {
    const { location, prices, quota, unavailable } = this.sources;
    const label = zoneLabel(location, zone);
    // Spot has its own quota, independent of families.
    const sellable = capacityType === 'spot' ? sku.spotCapable : quota.allows(sku);
    return {
      zone: label,
      capacityType,
      price: capacityType === 'spot' ? prices.spot(sku.name) : prices.onDemand(sku.name),
      available: sellable && !unavailable.isUnavailable(sku, label, capacityType),
      requirements: this.requirements(label, capacityType, sku.ultraSsdZones.has(zone)),
      quotaNeed: need,
    };
  }

  private requirements(zone: string, capacityType: CapacityType, ultraSsd: boolean): Requirements {
    const key = `${zone} ${capacityType} ${ultraSsd}`;
    const known = this.shared.get(key);
    if (known !== undefined) return known;
    const priority = capacityType === 'spot' ? 'spot' : 'regular';
    const single = (label: string, value: string): Requirement => Requirement.single(label, value);
    const made = Requirements.of(
      single(Labels.capacityType, capacityType),
      single(Labels.aksScaleSetPriority, priority),
      single(Labels.aksPriority, priority),
      single(Labels.zone, zone),
      single(Labels.placementScope, placementScopeOf(zone)),
      Requirement.of(Labels.skuUltraSsd, 'In', ultraSsd ? ['true', 'false'] : ['false']),
    );
    this.shared.set(key, made);
    return made;
  }
}
