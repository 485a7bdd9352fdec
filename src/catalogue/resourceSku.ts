/**
 * A SKU as listed by Azure in `Microsoft.Compute/skus`, with typed values. The only place where strings of capabilities
 * are parsed.
 */
import { parseSizeName, type SizeName } from './sizeName.ts';

/** The fields read; both the Azure SDK's type and our own table have them. */
export interface ListedSku {
  readonly name?: string;
  /** The name without its tier. */
  readonly size?: string;
  readonly resourceType?: string;
  readonly family?: string;
  readonly capabilities?: readonly Capability[];
  readonly locationInfo?: readonly {
    readonly location?: string;
    readonly zones?: readonly string[];
    readonly zoneDetails?: readonly {
      readonly name?: readonly string[];
      readonly capabilities?: readonly Capability[];
    }[];
  }[];
  readonly restrictions?: readonly {
    readonly type?: string;
    readonly values?: readonly string[];
    readonly restrictionInfo?: { readonly locations?: readonly string[]; readonly zones?: readonly string[] };
  }[];
}

interface Capability {
  readonly name?: string;
  readonly value?: string;
}

type EphemeralPlacement = 'NvmeDisk' | 'CacheDisk' | 'ResourceDisk';

export interface Sku {
  readonly name: string;
  readonly size: SizeName;
  /** The quota name; empty when Azure gives none. */
  readonly family: string;
  readonly cpus: number;
  /** Azure writes GB and means GiB. */
  readonly memoryGiB: number;
  readonly gpus: number;
  /** As in `kubernetes.io/arch`. */
  readonly architecture: string | undefined;
  /** Subset of `1` and `2`. */
  readonly hyperVGenerations: readonly string[];
  readonly acceleratedNetworking: boolean;
  readonly premiumStorage: boolean;
  readonly spotCapable: boolean;
  readonly encryptionAtHost: boolean;
  readonly trustedLaunch: boolean;
  readonly ephemeralDisk: { readonly sizeGB: number; readonly placement: EphemeralPlacement } | undefined;
  /** Availability zones that the subscription may use: `1`, `2`, `3`. */
  readonly zones: readonly string[];
  /** Zones with ultra disks; `0` is for instances without a zone. */
  readonly ultraSsdZones: ReadonlySet<string>;
  /** The subscription may not use the size in this location. */
  readonly restricted: boolean;
}

const MEBI = 2 ** 20;
const GIGA = 1e9;
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', Arm64: 'arm64' };

/** `undefined` when the name cannot be parsed or the entry is not a VM size. */
export function readSku(raw: ListedSku, location: string): Sku | undefined {
  const size = parseSizeName(raw.size ?? raw.name ?? '');
  if (raw.name === undefined || size === undefined || raw.resourceType?.toLowerCase() !== 'virtualmachines') {
    return undefined;
  }
  const capabilities = new Capabilities(raw.capabilities);
  const is = (name: string): boolean => capabilities.is(name);
  const architecture = capabilities.get('CpuArchitectureType');
  const generations = (capabilities.get('HyperVGenerations') ?? '').toLowerCase();
  const hyperVGenerations = ['1', '2'].filter((generation) => generations.includes(`v${generation}`));
  return {
    name: raw.name,
    size,
    family: raw.family ?? '',
    cpus: capabilities.number('vCPUs'),
    memoryGiB: capabilities.number('MemoryGB'),
    gpus: capabilities.number('GPUs'),
    architecture: architecture === undefined ? undefined : (ARCHITECTURES[architecture] ?? architecture),
    hyperVGenerations,
    acceleratedNetworking: is('AcceleratedNetworkingEnabled'),
    premiumStorage: is('PremiumIO'),
    spotCapable: is('LowPriorityCapable'),
    encryptionAtHost: is('EncryptionAtHostSupported'),
    trustedLaunch: hyperVGenerations.includes('2') && !is('TrustedLaunchDisabled'),
    ephemeralDisk: ephemeralDiskOf(capabilities),
    ...placesOf(raw, location, is('UltraSSDAvailable')),
  };
}

/** First match wins, even when a later kind of disk would be larger, as in AKS node pools. */
function ephemeralDiskOf(capabilities: Capabilities): Sku['ephemeralDisk'] {
  if (!capabilities.is('EphemeralOSDiskSupported')) return undefined;
  const placements = (capabilities.get('SupportedEphemeralOSDiskPlacements') ?? '').toLowerCase();
  const nvme = capabilities.number('NvmeDiskSizeInMiB') * MEBI;
  const cache = capabilities.number('CachedDiskBytes');
  const temporary = capabilities.number('MaxResourceVolumeMB') * MEBI;
  const disk = (bytes: number, placement: EphemeralPlacement): Sku['ephemeralDisk'] => {
    const sizeGB = Math.floor(bytes / GIGA);
    return sizeGB === 0 ? undefined : { sizeGB, placement };
  };
  if (nvme > 0 && placements.includes('nvmedisk')) return disk(nvme, 'NvmeDisk');
  if (cache > 0) return disk(cache, 'CacheDisk');
  return disk(temporary, 'ResourceDisk');
}

function placesOf(
  raw: ListedSku,
  location: string,
  regionalUltra: boolean,
): Pick<Sku, 'zones' | 'ultraSsdZones' | 'restricted'> {
  const same = (name: string): boolean => normalized(name) === normalized(location);
  const here = (raw.locationInfo ?? []).filter((info) => info.location !== undefined && same(info.location));
  const closed = new Set<string>();
  let restricted = false;
  for (const { type, values, restrictionInfo } of raw.restrictions ?? []) {
    if (!(values ?? restrictionInfo?.locations ?? []).some(same)) continue;
    if (type === 'Location') restricted = true;
    for (const zone of restrictionInfo?.zones ?? []) closed.add(zone);
  }
  const ultraSsdZones = new Set(regionalUltra ? ['0'] : []);
  for (const detail of here.flatMap((info) => info.zoneDetails ?? [])) {
    if (!new Capabilities(detail.capabilities).is('UltraSSDAvailable')) continue;
    for (const zone of detail.name ?? []) ultraSsdZones.add(zone);
  }
  const listed = new Set(here.flatMap((info) => info.zones ?? []));
  const zones = [...listed].filter((zone) => !closed.has(zone));
  return { zones: zones.toSorted(), ultraSsdZones, restricted };
}

/** Azure also writes locations as `South Central US`. */
function normalized(location: string): string {
  return location.replaceAll(' ', '').toLowerCase();
}

/** Capabilities by name, ignoring case; of several with one name the first is used. */
class Capabilities {
  private readonly values = new Map<string, string>();

  constructor(listed: readonly Capability[] = []) {
    for (const { name = '', value = '' } of listed) {
      const key = name.toLowerCase();
      if (!this.values.has(key)) this.values.set(key, value);
    }
  }

  get(name: string): string | undefined {
    return this.values.get(name.toLowerCase());
  }

  is(name: string): boolean {
    return this.get(name)?.toLowerCase() === 'true';
  }

  /** Zero if it is not a number. */
  number(name: string): number {
    const value = Number(this.get(name) ?? '0');
    return Number.isFinite(value) ? value : 0;
  }
}
