/**
 * The bundled catalogue: the instance types of a region that suit a node class, at list prices, without asking Azure.
 */
import type { AksNodeClass } from '../api/kinds/aksNodeClass.ts';
import type { InstanceType } from '../cloud/instanceType.ts';
import { instanceTypeOf } from './instanceTypeOf.ts';
import { suitsClass } from './nodeSettings.ts';
import { isNodeSize } from './nodeSize.ts';
import { Offerings } from './offerings.ts';
import { readSku } from './resourceSku.ts';
import { CATALOGUE_LOCATIONS, SkuCatalogue } from './skuCatalogue.ts';

export const BUNDLED_REGIONS: readonly string[] = CATALOGUE_LOCATIONS;

/** Spot instances cost about a quarter of the list price; the real discount changes daily. */
const ESTIMATED_SPOT_SHARE = 0.25;

const AZURE_OVERLAY = { networkPlugin: 'azure', networkPluginMode: 'overlay' } as const;
const NO_CLASS: AksNodeClass = {
  apiVersion: 'karpenter.azure.com/v1beta1',
  kind: 'AKSNodeClass',
  metadata: { name: 'default' },
};

export interface BundledCatalogueOptions {
  /** One of `BUNDLED_REGIONS`. */
  readonly region: string;
  /** Default: AKS's defaults, Ubuntu with a 128 GB disk. */
  readonly nodeClass?: AksNodeClass;
}

export function bundledInstanceTypes({ region, nodeClass = NO_CLASS }: BundledCatalogueOptions): InstanceType[] {
  const sizes = new SkuCatalogue(region).all();
  const listPrices = new Map(sizes.map(({ sku, price }) => [sku.name, price]));
  const onDemand = (size: string): number => listPrices.get(size) ?? Number.POSITIVE_INFINITY;
  const settings = {
    location: region,
    networking: AZURE_OVERLAY,
    nodeResourceGroup: undefined,
    memoryOverheadPercent: 0.075,
  };
  const offerings = new Offerings({
    location: region,
    prices: { onDemand, spot: (size) => estimatedSpotPrice(onDemand(size)) },
    unavailable: { isUnavailable: () => false },
    quota: { allows: () => true },
  });
  return sizes
    .flatMap(({ sku }) => readSku(sku, region) ?? [])
    .filter((sku) => isNodeSize(sku) && suitsClass(sku, nodeClass))
    .sort((left, right) => (left.name < right.name ? -1 : 1))
    .map((sku) => instanceTypeOf(sku, nodeClass, settings, offerings.of(sku)));
}

/** Six digits, as Azure prints prices; more would be rounding noise. */
export function estimatedSpotPrice(onDemand: number): number {
  return Math.round(onDemand * ESTIMATED_SPOT_SHARE * 1e6) / 1e6;
}
