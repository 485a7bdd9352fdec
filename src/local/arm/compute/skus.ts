/** Resource SKUs from the bundled catalogue, with the restrictions of the subscription. */
import { listed, type ArmContext } from '../armContext.ts';
import { refusal } from '../refusal.ts';
import { normalLocation } from '../resources/requestRules.ts';
import { parseEqualities } from '../server/odataFilter.ts';
import { route, type Route } from '../server/router.ts';
import { CATALOGUE_LOCATIONS, capabilityOf, type CatalogueSize } from '../../../catalogue/skuCatalogue.ts';
import { DISK_SKUS } from './diskSkus.ts';

/** A size that the subscription may not use, in the whole location or in some zones. */
export interface SkuRestriction {
  readonly size: string;
  /** Absent or empty: the whole location. */
  readonly zones?: readonly string[];
  readonly reason?: 'NotAvailableForSubscription' | 'QuotaId';
}

export class Skus {
  private readonly context: ArmContext;
  /** Restrictions by size in lower case. */
  private readonly restrictions = new Map<string, SkuRestriction>();

  constructor(context: ArmContext, restrictions: readonly SkuRestriction[] = []) {
    this.context = context;
    for (const restriction of restrictions) this.restrict(restriction);
  }

  restrict(restriction: SkuRestriction): void {
    this.restrictions.set(restriction.size.toLowerCase(), restriction);
  }

  unrestrict(size: string): void {
    this.restrictions.delete(size.toLowerCase());
  }

  /** Whether the subscription may not use the size in the zone; an undefined zone means outside of zones. */
  isRestricted(size: string, zone: string | undefined): boolean {
    const found = this.restrictions.get(size.toLowerCase());
    if (found === undefined) return false;
    const zones = found.zones ?? [];
    return zones.length === 0 || (zone !== undefined && zones.includes(zone));
  }

  routes(): readonly Route[] {
    const subscription = '/subscriptions/{subscription}/providers/Microsoft.Compute';
    return [
      route('resourceSkus.list', 'GET', `${subscription}/skus`, ({ query }) =>
        listed(this.filtered(query.get('$filter') ?? '')),
      ),
      route(
        'virtualMachineSizes.list',
        'GET',
        `${subscription}/locations/{location}/vmSizes`,
        ({ parameters: { location = '' } }) => {
          checkRegion(location, 'locations/vmSizes');
          return listed(this.context.catalogueAt(location).all().map(sizeOf));
        },
      ),
    ];
  }

  private filtered(filter: string): readonly object[] {
    let { location } = this.context;
    for (const [field, value] of parseEqualities(filter)) {
      if (field.toLowerCase() !== 'location') throw refusal('InvalidParameter.filter', { filter });
      if (!CATALOGUE_LOCATIONS.includes(normalLocation(value))) return [];
      location = normalLocation(value);
    }
    const sizes = this.context.catalogueAt(location).all();
    return [...sizes.map((size) => this.skuOf(size, location)), ...DISK_SKUS.map((sku) => sku(location))];
  }

  private skuOf({ sku }: CatalogueSize, location: string): object {
    const restriction = this.restrictions.get(sku.name.toLowerCase());
    if (restriction === undefined) return sku;
    const zones = restriction.zones ?? [];
    const restrictionInfo = { locations: [location], ...(zones.length === 0 ? {} : { zones }) };
    return {
      ...sku,
      restrictions: [
        {
          type: zones.length === 0 ? 'Location' : 'Zone',
          values: [location],
          restrictionInfo,
          reasonCode: restriction.reason ?? 'NotAvailableForSubscription',
        },
      ],
    };
  }
}

function sizeOf(size: CatalogueSize): object {
  return {
    name: size.sku.name,
    numberOfCores: size.vCPUs,
    osDiskSizeInMB: Number(capabilityOf(size, 'OSVhdSizeMB')),
    resourceDiskSizeInMB: Number(capabilityOf(size, 'MaxResourceVolumeMB')),
    memoryInMB: size.memoryGiB * 1024,
    maxDataDiskCount: Number(capabilityOf(size, 'MaxDataDiskCount')),
  };
}

/** Throws when the location in a path is not simulated. */
export function checkRegion(location: string, type: string): void {
  if (CATALOGUE_LOCATIONS.includes(normalLocation(location))) return;
  throw refusal('NoRegisteredProviderFound.location', { location, type, locations: CATALOGUE_LOCATIONS.join(', ') });
}
