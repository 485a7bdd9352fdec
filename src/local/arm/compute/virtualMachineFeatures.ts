/** Rules for the features of a VM besides its size; the first rule that fails refuses the VM. */
import { estimatedSpotPrice } from '../../../catalogue/bundledCatalogue.ts';
import { capabilityOf, type CatalogueSize } from '../../../catalogue/skuCatalogue.ts';
import type { ArmError } from '../armError.ts';
import { refusal } from '../refusal.ts';
import { asText, at, listAt, objectAt, textAt } from '../jsonPath.ts';
import type { ImageDefinition } from './imageCatalogue.ts';

export interface FeatureRequest {
  readonly body: unknown;
  readonly size: CatalogueSize;
  readonly zone: string | undefined;
  readonly image: ImageDefinition | undefined;
}

const GIGABYTE = 10 ** 9;
const MEBIBYTE = 2 ** 20;
const MAX_CUSTOM_DATA = 87_380;
const MAX_USER_DATA = 87_380;
const IMAGE_DISK_SIZE = 30;
const MAX_OS_DISK = 4095;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

type Rule = (request: FeatureRequest) => ArmError | undefined;

const properties = ({ body }: FeatureRequest, ...path: readonly string[]): unknown => at(body, 'properties', ...path);

const encoded =
  (where: readonly string[], what: string, longest: number): Rule =>
  (request) => {
    const data = properties(request, ...where);
    if (data === undefined || data === null) return undefined;
    if (typeof data === 'string' && data.length <= longest && BASE64.test(data)) return undefined;
    return refusal('InvalidParameter.encoded', { what, longest, member: where.at(-1) });
  };

const spotOnly: Rule = (request) => {
  if (properties(request, 'priority') === 'Spot') return undefined;
  if (properties(request, 'evictionPolicy') !== undefined) return refusal('InvalidParameter.evictionPolicy');
  if (properties(request, 'billingProfile', 'maxPrice') === undefined) return undefined;
  return refusal('InvalidParameter.maxPriceOfRegular');
};

const spot: Rule = (request) => {
  if (properties(request, 'priority') !== 'Spot') return undefined;
  const { name } = request.size.sku;
  if (capabilityOf(request.size, 'LowPriorityCapable') !== 'True') {
    return refusal('InvalidParameter.spotSize', { size: name });
  }
  const price = properties(request, 'billingProfile', 'maxPrice');
  if (price === undefined || price === -1) return undefined;
  if (typeof price !== 'number' || price <= 0) return refusal('InvalidParameter.maxPrice', { price: asText(price) });
  const current = estimatedSpotPrice(request.size.price);
  if (price >= current) return undefined;
  return refusal('OperationNotAllowed.maxPriceTooLow', { price, current, size: name });
};

/** The capability that gives the size of each placement of an ephemeral OS disk, and its factor to GB. */
const PLACEMENTS: Readonly<Record<string, readonly [string, number]>> = {
  CacheDisk: ['CachedDiskBytes', 1 / GIGABYTE],
  ResourceDisk: ['MaxResourceVolumeMB', MEBIBYTE / GIGABYTE],
  NvmeDisk: ['NvmeDiskSizeInMiB', MEBIBYTE / GIGABYTE],
};

const ephemeralDisk: Rule = (request) => {
  const disk = objectAt(request.body, 'properties', 'storageProfile', 'osDisk');
  const settings = objectAt(disk, 'diffDiskSettings');
  if (settings['option'] !== 'Local') return undefined;
  const { name } = request.size.sku;
  if (capabilityOf(request.size, 'EphemeralOSDiskSupported') !== 'True') {
    return refusal('NotSupported.ephemeralSize', { size: name });
  }
  if (disk['caching'] !== undefined && disk['caching'] !== 'ReadOnly') {
    return refusal('InvalidParameter.ephemeralCaching', { caching: asText(disk['caching']) });
  }
  if (properties(request, 'priority') === 'Spot' && properties(request, 'evictionPolicy') === 'Deallocate') {
    return refusal('InvalidParameter.ephemeralEviction');
  }
  const supported = capabilityOf(request.size, 'SupportedEphemeralOSDiskPlacements').split(',');
  const wanted = textAt(settings, 'placement');
  const placement = wanted ?? ['CacheDisk', 'ResourceDisk', 'NvmeDisk'].find((each) => supported.includes(each)) ?? '';
  const [member = '', factor = 0] = PLACEMENTS[placement] ?? [];
  if (!supported.includes(placement)) return refusal('InvalidParameter.diskPlacement', { placement, size: name });
  const room = Math.floor(Number(capabilityOf(request.size, member) || 0) * factor);
  const asked = typeof disk['diskSizeGB'] === 'number' ? disk['diskSizeGB'] : IMAGE_DISK_SIZE;
  if (asked <= room) return undefined;
  return refusal('NotSupported.ephemeralDiskSize', { room, size: name, placement });
};

const diskSize: Rule = (request) => {
  const asked = properties(request, 'storageProfile', 'osDisk', 'diskSizeGB');
  if (asked === undefined) return undefined;
  if (typeof asked !== 'number' || asked > MAX_OS_DISK) {
    return refusal('InvalidParameter.diskSize', { asked: asText(asked), most: MAX_OS_DISK });
  }
  if (asked >= IMAGE_DISK_SIZE) return undefined;
  return refusal('OperationNotAllowed.imageDiskSize', { asked, least: IMAGE_DISK_SIZE });
};

const ultraDisk: Rule = (request) => {
  if (properties(request, 'additionalCapabilities', 'ultraSSDEnabled') !== true) return undefined;
  const { size, zone } = request;
  const details = size.sku.locationInfo.flatMap(({ zoneDetails }) => zoneDetails);
  const zones = details
    .filter(({ capabilities }) =>
      capabilities.some(({ name, value }) => name === 'UltraSSDAvailable' && value === 'True'),
    )
    .flatMap(({ name }) => name);
  const available =
    zone === undefined ? capabilityOf(request.size, 'UltraSSDAvailable') === 'True' : zones.includes(zone);
  if (available) return undefined;
  return refusal('InvalidParameter.ultraDisk', {
    size: size.sku.name,
    where: zone === undefined ? 'this region without a zone' : `zone '${zone}'`,
  });
};

const encryptionAtHost: Rule = (request) =>
  properties(request, 'securityProfile', 'encryptionAtHost') === true &&
  capabilityOf(request.size, 'EncryptionAtHostSupported') !== 'True'
    ? refusal('InvalidParameter.encryptionAtHost', { size: request.size.sku.name })
    : undefined;

const trustedLaunch: Rule = (request) =>
  properties(request, 'securityProfile', 'securityType') === 'TrustedLaunch' &&
  (capabilityOf(request.size, 'TrustedLaunchDisabled') === 'True' ||
    !capabilityOf(request.size, 'HyperVGenerations').includes('V2'))
    ? refusal('BadRequest.trustedLaunch', { size: request.size.sku.name })
    : undefined;

const bootable: Rule = (request) => {
  const { image, size } = request;
  if (image === undefined) return undefined;
  const generations = capabilityOf(request.size, 'HyperVGenerations').split(',');
  if (!generations.includes(image.generation)) {
    return refusal('BadRequest.generation', { size: size.sku.name, generation: image.generation.slice(1) });
  }
  const architecture = capabilityOf(request.size, 'CpuArchitectureType');
  if (architecture === image.architecture) return undefined;
  return refusal('BadRequest.architecture', { size: size.sku.name, architecture, image: image.architecture });
};

const dataDisks: Rule = (request) => {
  const disks = listAt(request.body, 'properties', 'storageProfile', 'dataDisks');
  const most = Number(capabilityOf(request.size, 'MaxDataDiskCount') || 0);
  if (disks.length <= most) return undefined;
  return refusal('OperationNotAllowed.dataDisks', { most });
};

const RULES: readonly Rule[] = [
  encoded(['osProfile', 'customData'], 'Custom data in OSProfile', MAX_CUSTOM_DATA),
  encoded(['userData'], 'User data', MAX_USER_DATA),
  spotOnly,
  spot,
  bootable,
  trustedLaunch,
  encryptionAtHost,
  ultraDisk,
  diskSize,
  ephemeralDisk,
  dataDisks,
];

export function checkFeatures(request: FeatureRequest): void {
  for (const rule of RULES) {
    const refused = rule(request);
    if (refused !== undefined) throw refused;
  }
}
