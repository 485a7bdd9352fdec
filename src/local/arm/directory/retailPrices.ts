/** The retail price list as prices.azure.com serves it: pay as you go, spot, low priority, and with Windows. */
import { estimatedSpotPrice } from '../../../catalogue/bundledCatalogue.ts';
import {
  CATALOGUE_LOCATIONS,
  capabilityOf,
  SkuCatalogue,
  type CatalogueSize,
} from '../../../catalogue/skuCatalogue.ts';
import { refusal } from '../refusal.ts';
import { REGIONS } from '../resources/regions.ts';
import { parseFilter } from '../server/odataFilter.ts';

type RetailPrice = Readonly<Record<string, string | number | boolean>>;

const PAGE_SIZE = 1000;
/** Number of filters whose results are kept, so that the pages of one query are searched once. */
const MAX_REMEMBERED = 16;
/** Names of fields in filters that differ from those in the response. */
const FILTER_ALIASES: Readonly<Record<string, string>> = { priceType: 'type' };
const WINDOWS_PER_CPU = 0.046;
const LOW_PRIORITY_SHARE = 0.2;
const FIXED: RetailPrice = {
  currencyCode: 'USD',
  tierMinimumUnits: 0,
  effectiveStartDate: '2026-06-01T00:00:00Z',
  serviceName: 'Virtual Machines',
  serviceId: 'DZH313Z7MMC8',
  serviceFamily: 'Compute',
  unitOfMeasure: '1 Hour',
  type: 'Consumption',
  isPrimaryMeterRegion: true,
};

export class RetailPrices {
  private readonly byLocation = new Map<string, readonly RetailPrice[]>();
  private readonly byFilter = new Map<string, readonly RetailPrice[]>();

  /** Returns one page; `address` is the URL of the list without its query, for the link to the next page. */
  page(query: URLSearchParams, address: string): object {
    const skip = Number(query.get('$skip') ?? '0');
    if (!Number.isInteger(skip) || skip < 0) throw refusal('InvalidQueryParameter');
    const asked = Number(query.get('$top') ?? String(PAGE_SIZE));
    const size = Number.isInteger(asked) && asked > 0 ? Math.min(asked, PAGE_SIZE) : PAGE_SIZE;
    const matches = this.matching(query.get('$filter') ?? '');
    const items = matches.slice(skip, skip + size);
    const next = new URLSearchParams(query);
    next.set('$skip', String(skip + size));
    return {
      BillingCurrency: 'USD',
      CustomerEntityId: 'Default',
      CustomerEntityType: 'Retail',
      Items: items,
      NextPageLink: skip + size < matches.length ? `${address}?${next.toString()}` : null,
      Count: items.length,
    };
  }

  private matching(filter: string): readonly RetailPrice[] {
    const known = this.byFilter.get(filter);
    if (known !== undefined) return known;
    const found = this.search(filter);
    if (this.byFilter.size >= MAX_REMEMBERED) this.byFilter.clear();
    this.byFilter.set(filter, found);
    return found;
  }

  private search(filter: string): readonly RetailPrice[] {
    const wanted = parseFilter(filter);
    // Most filters name a region; then only that one is searched.
    const region = /armRegionName\s+eq\s+'([^']*)'/.exec(filter)?.[1];
    const locations = region === undefined || /\sor\s/i.test(filter) ? CATALOGUE_LOCATIONS : [region];
    return locations
      .flatMap((location) => this.pricesOf(location))
      .filter((price) =>
        wanted((field) => {
          const value = price[FILTER_ALIASES[field] ?? field];
          return value === undefined ? undefined : String(value);
        }),
      );
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

interface Meter {
  readonly suffix: string;
  readonly product: string;
  readonly price: (size: CatalogueSize) => number;
  readonly spotOnly?: true;
}

const round = (price: number): number => Math.round(price * 1e6) / 1e6;
const windows = ({ price, vCPUs }: CatalogueSize): number => round(price + WINDOWS_PER_CPU * vCPUs);

const METERS: readonly Meter[] = [
  { suffix: '', product: '', price: ({ price }) => price },
  { suffix: ' Spot', product: '', price: ({ price }) => estimatedSpotPrice(price), spotOnly: true },
  { suffix: ' Low Priority', product: '', price: ({ price }) => round(price * LOW_PRIORITY_SHARE), spotOnly: true },
  { suffix: '', product: ' Windows', price: windows },
  { suffix: ' Spot', product: ' Windows', price: (size) => round(windows(size) / 4), spotOnly: true },
];

function pricesOfSize(size: CatalogueSize, location: string): readonly RetailPrice[] {
  const spot = capabilityOf(size, 'LowPriorityCapable') === 'True';
  const meter = size.sku.size.replaceAll('_', ' ');
  const series = size.sku.size.replace(/\d+/, '').replaceAll('_', '');
  return METERS.filter(({ spotOnly }) => spot || spotOnly !== true).map(({ suffix, product, price }) => {
    const retailPrice = price(size);
    const key = `${location}/${size.sku.size}${suffix}${product}`.replaceAll(' ', '');
    return {
      ...FIXED,
      retailPrice,
      unitPrice: retailPrice,
      armRegionName: location,
      location: REGIONS[location]?.displayName ?? location,
      meterId: key,
      meterName: `${meter}${suffix}`,
      productId: series,
      skuId: key,
      productName: `Virtual Machines ${series} Series${product}`,
      skuName: `${meter}${suffix}`,
      armSkuName: size.sku.name,
    };
  });
}
