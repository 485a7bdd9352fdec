/**
 * The offerings of a SKU: each zone and none, on demand and spot. What follows from where and how it is bought is
 * written as requirements.
 */
import { Labels, PlacementScopes } from '../api/labels.ts';
import type { Offering, QuotaNeed } from '../cloud/instanceType.ts';
import { Requirement } from '../constraints/requirement.ts';
import { Requirements } from '../constraints/requirements.ts';
import type { Sku } from './resourceSku.ts';

export type CapacityType = 'on-demand' | 'spot';

/** The zone label of an instance that is in no zone. */
export const REGIONAL_ZONE = '0';
export const CAPACITY_TYPES: readonly CapacityType[] = ['on-demand', 'spot'];

/** Azure's counters of all vCPUs in a region: those on demand, and those of spot instances. */
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

/** What ARM wants in `zones`: the digit, or nothing for an instance in no zone. */
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

/** What an instance takes of the subscription's quotas. Spot has one of its own, for all families. */
export function quotaNeed({ family, cpus }: Pick<Sku, 'family' | 'cpus'>, capacityType: CapacityType): QuotaNeed {
  return { names: capacityType === 'spot' ? [SPOT_QUOTA] : [family, REGIONAL_QUOTA], amount: cpus };
}

/** Whether the quota is that of one VM family. */
export function isFamilyQuota(name: string): boolean {
  return name !== REGIONAL_QUOTA && name !== SPOT_QUOTA;
}

export class Offerings {
  private readonly sources: OfferingSources;
  /** What is required depends on few things; thousands of offerings share one set. */
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
    // Spot has a quota of its own, which says nothing about families.
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
