/**
 * Prices of instance types in US dollars per hour, from the public retail price list of a region. When a refresh fails,
 * the last list is kept; before the first one, and in clouds without a list, the bundled list prices are used.
 */
import { NodewrightError } from '../errors/nodewrightError.ts';
import {
  createDefaultHttpClient,
  createPipelineRequest,
  type HttpClient,
  type TlsSettings,
} from '@azure/core-rest-pipeline';
import { listPrices } from '../catalogue/skuCatalogue.ts';
import type { Clock } from '../clock/clock.ts';

/** Higher than every real price, so that a size without a price is chosen only when nothing else fits. */
const MISSING_PRICE = 999;
/** A region has about 40 pages of 100 items; protects against an endless chain of links. */
const MAX_PAGES = 500;

/** Real milliseconds. */
const PAGE_TIMEOUT = 30_000;

interface RetailItem {
  readonly armSkuName?: string;
  readonly skuName?: string;
  readonly productName?: string;
  readonly meterName?: string;
  readonly retailPrice?: number;
}

export interface PricesOptions {
  /** URL of the list without its query; undefined in a cloud without one. */
  readonly endpoint: string | undefined;
  readonly location: string;
  readonly clock: Clock;
  /** Certificate authority trusted in addition to the system's. */
  readonly caPem?: string | undefined;
  /** Sends requests; default: the SDK's own client. */
  readonly httpClient?: HttpClient | undefined;
}

type PriceTable = ReadonlyMap<string, number>;

export class Prices {
  private readonly options: PricesOptions;
  private readonly httpClient: HttpClient;
  /** One object for all requests, because connections are kept per object. */
  private readonly tlsSettings: TlsSettings | undefined;
  private onDemandPrices: PriceTable;
  /** Without a list, spot prices are unknown and assumed equal to on-demand prices. */
  private spotPrices: PriceTable;
  private generationNumber = 0;

  constructor(options: PricesOptions) {
    this.options = options;
    this.onDemandPrices = listPrices(options.location);
    this.spotPrices = this.onDemandPrices;
    this.httpClient = options.httpClient ?? createDefaultHttpClient();
    if (options.caPem !== undefined) this.tlsSettings = { ca: options.caPem };
  }

  /** Increases whenever a price may have changed. */
  get generation(): number {
    return this.generationNumber;
  }

  onDemand(size: string): number {
    return this.onDemandPrices.get(size) ?? MISSING_PRICE;
  }

  spot(size: string): number {
    return this.spotPrices.get(size) ?? MISSING_PRICE;
  }

  async refresh(signal?: AbortSignal): Promise<void> {
    const { endpoint, location } = this.options;
    if (endpoint === undefined) return;
    const { onDemand, spot } = readPrices(await this.fetchAll(endpoint, signal));
    if (onDemand.size === 0) throw unusable(`it has no VM sizes for ${location}`);
    this.onDemandPrices = onDemand;
    // A list without spot prices is more likely broken than correct.
    if (spot.size > 0) this.spotPrices = spot;
    this.generationNumber += 1;
  }

  private async fetchAll(endpoint: string, signal: AbortSignal | undefined): Promise<readonly RetailItem[]> {
    const items: RetailItem[] = [];
    let next: string | undefined = `${endpoint}?${this.query()}`;
    for (let page = 0; next !== undefined; page += 1) {
      if (page >= MAX_PAGES) throw unusable(`it has more than ${MAX_PAGES} pages`);
      const body: { readonly Items?: readonly RetailItem[]; readonly NextPageLink?: string | null } =
        await this.options.clock.track(this.fetchPage(next, signal));
      items.push(...(body.Items ?? []));
      next = body.NextPageLink ?? undefined;
      if (next === '') next = undefined;
    }
    return items;
  }

  private async fetchPage(address: string, signal: AbortSignal | undefined): Promise<object> {
    const request = createPipelineRequest({
      url: address,
      timeout: PAGE_TIMEOUT,
      ...(signal === undefined ? {} : { abortSignal: signal }),
    });
    if (this.tlsSettings) request.tlsSettings = this.tlsSettings;
    const response = await this.httpClient.sendRequest(request);
    if (response.status !== 200) throw unusable(`status ${response.status} at ${address}`);
    return JSON.parse(response.bodyAsText ?? '') as object;
  }

  private query(): string {
    const clauses = {
      priceType: 'Consumption',
      currencyCode: 'USD',
      serviceFamily: 'Compute',
      serviceName: 'Virtual Machines',
      armRegionName: this.options.location,
    };
    const filter = Object.entries(clauses)
      .map(([field, value]) => `${field} eq '${value}'`)
      .join(' and ');
    return `api-version=2023-01-01-preview&$filter=${encodeURIComponent(filter)}`;
  }
}

/** Several meters can describe one size; the cheapest one for VMs is used, so that the order does not matter. */
export function readPrices(items: readonly RetailItem[]): {
  readonly onDemand: PriceTable;
  readonly spot: PriceTable;
} {
  const onDemand = new Map<string, number>();
  const spot = new Map<string, number>();
  for (const { armSkuName, skuName = '', productName = '', meterName = '', retailPrice } of items) {
    if (armSkuName === undefined || armSkuName === '' || retailPrice === undefined || retailPrice <= 0) continue;
    if (/ Windows$|Cloud ?Services$/.test(productName) || meterName.endsWith(' Low Priority')) continue;
    const table = skuName.endsWith(' Spot') ? spot : onDemand;
    table.set(armSkuName, Math.min(retailPrice, table.get(armSkuName) ?? Number.POSITIVE_INFINITY));
  }
  return { onDemand, spot };
}

function unusable(problem: string): NodewrightError {
  return new NodewrightError('AzureAnswerUnusable', { source: 'the price list', problem });
}
