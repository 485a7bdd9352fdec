/**
 * The SKUs of one location in the format of `Microsoft.Compute/skus`, from the series table and the price table: a size
 * is sold where it has a price.
 */
import { PRICE_REGIONS, PRICE_TABLE } from './priceTable.ts';
import { SKU_SERIES } from './skuSeries.ts';
import { earlierSeries } from './series/earlier.ts';
import type { SkuSeries } from './series/skuSeriesRow.ts';

interface SkuCapability {
  readonly name: string;
  readonly value: string;
}

interface ResourceSku {
  readonly resourceType: 'virtualMachines';
  readonly name: string;
  readonly tier: 'Standard';
  readonly size: string;
  readonly family: string;
  readonly locations: readonly string[];
  readonly locationInfo: readonly {
    readonly location: string;
    readonly zones: readonly string[];
    readonly zoneDetails: readonly {
      readonly name: readonly string[];
      readonly capabilities: readonly SkuCapability[];
    }[];
  }[];
  readonly capabilities: readonly SkuCapability[];
  readonly restrictions: readonly [];
}

export interface CatalogueSize {
  readonly sku: ResourceSku;
  readonly vCPUs: number;
  readonly memoryGiB: number;
  readonly zones: readonly string[];
  /** US dollars per hour, pay-as-you-go. */
  readonly price: number;
}

/** The text of a capability; empty when the size has none of that name. */
export function capabilityOf(size: CatalogueSize | undefined, name: string): string {
  return size?.sku.capabilities.find((each) => each.name === name)?.value ?? '';
}

const GIB = 2 ** 30;

export class SkuCatalogue {
  readonly location: string;
  private readonly sizes: ReadonlyMap<string, CatalogueSize>;
  private readonly zones: readonly string[];
  private earlier: ReadonlyMap<string, CatalogueSize> | undefined;

  constructor(location: string, zones: readonly string[] = ['1', '2', '3']) {
    this.location = location;
    this.sizes = sizesOf(SKU_SERIES, location, zones);
    this.zones = zones;
  }

  all(): readonly CatalogueSize[] {
    return [...this.sizes.values()];
  }

  /** By name, `Standard_D2s_v5`, ignoring case. Also finds sizes of earlier generations, which are not in `all`. */
  find(name: string): CatalogueSize | undefined {
    const key = name.toLowerCase();
    const found = this.sizes.get(key);
    if (found !== undefined) return found;
    this.earlier ??= sizesOf(earlierSeries, this.location, this.zones);
    return this.earlier.get(key);
  }
}

/** By lower-case name. */
function sizesOf(
  table: readonly SkuSeries[],
  location: string,
  zones: readonly string[],
): ReadonlyMap<string, CatalogueSize> {
  const prices = pricesOf(location);
  const sizes = new Map<string, CatalogueSize>();
  for (const series of table) {
    for (const cpus of series.cpus) {
      const size = sizeName(series, cpus);
      const price = prices.get(size);
      if (price === undefined) continue;
      const offered = (series.zones ?? zones).filter((zone) => zones.includes(zone));
      const entry = {
        sku: skuOf(series, cpus, location, offered),
        vCPUs: cpus,
        memoryGiB: memoryOf(series, cpus),
        zones: offered,
        price,
      };
      sizes.set(entry.sku.name.toLowerCase(), entry);
    }
  }
  return sizes;
}

export const CATALOGUE_LOCATIONS: readonly string[] = PRICE_REGIONS;

const DEFAULT_PRICE_REGION = 'eastus';

/** On-demand list prices by name, `Standard_D2s_v5`; those of `eastus` for a region not in the table. */
export function listPrices(location: string): ReadonlyMap<string, number> {
  const known = CATALOGUE_LOCATIONS.includes(location);
  return new Map(
    [...pricesOf(known ? location : DEFAULT_PRICE_REGION)].map(([size, price]) => [`Standard_${size}`, price]),
  );
}

function pricesOf(location: string): ReadonlyMap<string, number> {
  const column = (PRICE_REGIONS as readonly string[]).indexOf(location);
  const prices = new Map<string, number>();
  if (column < 0) return prices;
  for (const line of PRICE_TABLE.trim().split('\n')) {
    const [size = '', ...cells] = line.split(' ');
    const cell = cells[column];
    if (cell !== undefined && cell !== '-') prices.set(size, Number(cell));
  }
  return prices;
}

function sizeName(series: SkuSeries, cpus: number): string {
  return series.template.replace('#', String(cpus));
}

function memoryOf(series: SkuSeries, cpus: number): number {
  return series.memoryGiB?.[cpus] ?? Math.round(series.memoryGiBPerCpu * cpus);
}

function skuOf(series: SkuSeries, cpus: number, location: string, zones: readonly string[]): ResourceSku {
  const size = sizeName(series, cpus);
  const ultra = series.ultra !== false && zones.length > 0;
  return {
    resourceType: 'virtualMachines',
    name: `Standard_${size}`,
    tier: 'Standard',
    size,
    family: series.family,
    locations: [location],
    locationInfo: [
      {
        location,
        zones,
        zoneDetails: ultra ? [{ name: zones, capabilities: [{ name: 'UltraSSDAvailable', value: 'True' }] }] : [],
      },
    ],
    capabilities: Object.entries(capabilitiesOf(series, cpus)).map(([name, value]) => ({ name, value })),
    restrictions: [],
  };
}

function capabilitiesOf(series: SkuSeries, cpus: number): Record<string, string> {
  const gpus = series.gpus?.[cpus];
  const large = cpus >= 8;
  return {
    OSVhdSizeMB: '1047552',
    vCPUs: String(cpus),
    MemoryPreservingMaintenanceSupported: text(gpus === undefined),
    HyperVGenerations: series.generations ?? 'V1,V2',
    MemoryGB: String(memoryOf(series, cpus)),
    MaxDataDiskCount: String(dataDisks(series, cpus)),
    CpuArchitectureType: series.architecture ?? 'x64',
    LowPriorityCapable: text(series.spot !== false),
    PremiumIO: text(series.premium !== false),
    VMDeploymentTypes: 'IaaS',
    vCPUsAvailable: String(cpus),
    vCPUsPerCore: series.architecture === 'Arm64' || gpus !== undefined ? '1' : '2',
    ...(gpus === undefined ? {} : { GPUs: String(gpus) }),
    ...diskCapabilities(series, cpus),
    EncryptionAtHostSupported: 'True',
    CapacityReservationSupported: text(series.spot !== false),
    ...(series.trustedLaunch === false ? { TrustedLaunchDisabled: 'True' } : {}),
    // In the first burstable generation only from 12 vCPUs on.
    AcceleratedNetworkingEnabled: text(series.family !== 'standardBSFamily' || cpus >= 12),
    RdmaEnabled: 'False',
    MaxNetworkInterfaces: String(cpus >= 16 ? 8 : large ? 4 : 2),
    UltraSSDAvailable: 'False',
  };
}

function diskCapabilities(series: SkuSeries, cpus: number): Record<string, string> {
  const disk = series.disk;
  switch (disk.kind) {
    case 'none':
      return { MaxResourceVolumeMB: '0', EphemeralOSDiskSupported: 'False' };
    case 'scratch':
      return { MaxResourceVolumeMB: String(disk.tempGiBPerCpu * cpus * 1024), EphemeralOSDiskSupported: 'False' };
    case 'nvme':
      return {
        MaxResourceVolumeMB: '0',
        DiskControllerTypes: 'NVMe',
        NvmeDiskSizeInMiB: String(disk.nvmeGiBPerCpu * cpus * 1024),
        SupportedEphemeralOSDiskPlacements: 'NvmeDisk',
        EphemeralOSDiskSupported: 'True',
      };
    case 'temp':
      return {
        MaxResourceVolumeMB: String(disk.tempGiBPerCpu * cpus * 1024),
        ...(disk.nvmeGiBPerCpu === 0
          ? {}
          : { NvmeDiskSizeInMiB: String(Math.round(disk.nvmeGiBPerCpu * cpus * 1024)) }),
        ...(disk.tempGiBPerCpu === 0 ? {} : { SupportedEphemeralOSDiskPlacements: 'ResourceDisk' }),
        EphemeralOSDiskSupported: text(disk.tempGiBPerCpu > 0),
      };
    case 'cache':
    case 'fixedCache': {
      const cacheGiB =
        disk.kind === 'fixedCache' ? disk.cacheGiB : (disk.cacheGiB?.[cpus] ?? disk.cacheGiBPerCpu * cpus);
      return {
        MaxResourceVolumeMB: String(Math.round(disk.tempGiBPerCpu * cpus * 1024)),
        CachedDiskBytes: String(cacheGiB * GIB),
        SupportedEphemeralOSDiskPlacements: 'ResourceDisk,CacheDisk',
        EphemeralOSDiskSupported: 'True',
      };
    }
  }
}

/** Intel sizes of generations 6 and 7 attach more disks than the rule of two per vCPU, up to 32. */
function dataDisks(series: SkuSeries, cpus: number): number {
  if (/^Standard[DE].*v[67]Family$/.test(series.family)) {
    return ({ 2: 8, 4: 12, 8: 24, 16: 48 } as Record<number, number>)[cpus] ?? 64;
  }
  return Math.min(32, cpus * 2);
}

function text(value: boolean): string {
  return value ? 'True' : 'False';
}
