/**
 * The public retail price list, `GET /api/retail/prices`. In: the catalogue and an OData filter of `field eq 'value'`
 * clauses. Out: pages of price items as prices.azure.com returns them.
 */
import { estimatedSpotPrice } from '../../catalogue/bundledCatalogue.ts';
import { ArmError } from './armError.ts';
import { parseEqualities } from './odataFilter.ts';
import { CATALOGUE_LOCATIONS, SkuCatalogue, type CatalogueSize } from '../../catalogue/skuCatalogue.ts';

export interface RetailPrice {
  readonly currencyCode: 'USD';
  readonly tierMinimumUnits: 0;
  readonly retailPrice: number;
  readonly unitPrice: number;
  readonly armRegionName: string;
  readonly meterName: string;
  readonly productName: string;
  readonly skuName: string;
  readonly serviceName: 'Virtual Machines';
  readonly serviceFamily: 'Compute';
  readonly unitOfMeasure: '1 Hour';
  readonly type: 'Consumption';
  readonly isPrimaryMeterRegion: true;
  readonly armSkuName: string;
}

const PAGE_SIZE = 100;
const FILTER_ALIASES: Readonly<Record<string, keyof RetailPrice>> = { priceType: 'type' };

export class RetailPrices {
  private readonly byLocation = new Map<string, readonly RetailPrice[]>();

  /** `address` is the URL of the list without its query: what links to further pages start with. */
  page(query: URLSearchParams, address: string): object {
    const filter = query.get('$filter') ?? '';
    const skip = Number(query.get('$skip') ?? '0');
    if (!Number.isInteger(skip) || skip < 0) throw new ArmError(400, 'InvalidQueryParameter', '$skip is not a number.');
    const matches = this.matching(filter);
    const items = matches.slice(skip, skip + PAGE_SIZE);
    const next = new URLSearchParams(query);
    next.set('$skip', String(skip + PAGE_SIZE));
    return {
      BillingCurrency: 'USD',
      CustomerEntityId: 'Default',
      CustomerEntityType: 'Retail',
      Items: items,
      NextPageLink: skip + PAGE_SIZE < matches.length ? `${address}?${next.toString()}` : null,
      Count: items.length,
    };
  }

  private matching(filter: string): readonly RetailPrice[] {
    const wanted = parseEqualities(filter).map(([field, value]) => [FILTER_ALIASES[field] ?? field, value] as const);
    const region = wanted.find(([field]) => field === 'armRegionName')?.[1];
    const locations = region === undefined ? CATALOGUE_LOCATIONS : [region];
    return locations
      .flatMap((location) => this.pricesOf(location))
      .filter((price) => wanted.every(([field, value]) => String(price[field as keyof RetailPrice]) === value));
  }

  private pricesOf(location: string): readonly RetailPrice[] {
    if (!CATALOGUE_LOCATIONS.includes(location)) return [];
    const known = this.byLocation.get(location);
    if (known !== undefined) return known;
    const prices = new SkuCatalogue(location).all().flatMap((size) => pricesOfSize(size, location));
    this.byLocation.set(location, prices);
    return prices;
  }
}

function pricesOfSize(size: CatalogueSize, location: string): readonly RetailPrice[] {
  const spot = size.sku.capabilities.some(({ name, value }) => name === 'LowPriorityCapable' && value === 'True');
  const meter = size.sku.size.replaceAll('_', ' ');
  const item = (suffix: string, price: number): RetailPrice => ({
    currencyCode: 'USD',
    tierMinimumUnits: 0,
    retailPrice: price,
    unitPrice: price,
    armRegionName: location,
    meterName: `${meter}${suffix}`,
    productName: `Virtual Machines ${size.sku.size.replace(/\d+/, '').replaceAll('_', '')} Series`,
    skuName: `${meter}${suffix}`,
    serviceName: 'Virtual Machines',
    serviceFamily: 'Compute',
    unitOfMeasure: '1 Hour',
    type: 'Consumption',
    isPrimaryMeterRegion: true,
    armSkuName: size.sku.name,
  });
  return spot ? [item('', size.price), item(' Spot', estimatedSpotPrice(size.price))] : [item('', size.price)];
}
