/** Rules for the features that a VM asks for besides its size; the first rule that fails refuses it. */
import { estimatedSpotPrice } from '../../../catalogue/bundledCatalogue.ts';
import type { CatalogueSize } from '../../../catalogue/skuCatalogue.ts';
import { ArmError } from '../armError.ts';
import { asText, at, listAt, objectAt, textAt } from '../jsonPath.ts';
import type { ImageDefinition } from './imageCatalogue.ts';

export interface FeatureQuestion {
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
const SPOT_HELP = 'For more information, see http://aka.ms/AzureSpot/errormessages.';

type Rule = (question: FeatureQuestion) => ArmError | undefined;

const properties = ({ body }: FeatureQuestion, ...path: readonly string[]): unknown => at(body, 'properties', ...path);
const bad = (message: string, target?: string, code = 'InvalidParameter', status = 400): ArmError =>
  new ArmError(status, code, message, target === undefined ? {} : { target });

function capability({ size }: FeatureQuestion, name: string): string {
  return size.sku.capabilities.find((each) => each.name === name)?.value ?? '';
}

const encoded =
  (where: readonly string[], what: string, longest: number): Rule =>
  (question) => {
    const data = properties(question, ...where);
    if (data === undefined || data === null) return undefined;
    if (typeof data === 'string' && data.length <= longest && BASE64.test(data)) return undefined;
    return bad(`${what} must be in Base64 encoding and with a maximum length of ${longest} characters.`, where.at(-1));
  };

const spotOnly: Rule = (question) => {
  if (properties(question, 'priority') === 'Spot') return undefined;
  if (properties(question, 'evictionPolicy') !== undefined) {
    return bad(`Eviction policy can be set only on Azure Spot Virtual Machines. ${SPOT_HELP}`, 'evictionPolicy');
  }
  if (properties(question, 'billingProfile', 'maxPrice') === undefined) return undefined;
  return bad(`Max price can be set only on Azure Spot Virtual Machines. ${SPOT_HELP}`, 'billingProfile');
};

const spot: Rule = (question) => {
  if (properties(question, 'priority') !== 'Spot') return undefined;
  const { name } = question.size.sku;
  if (capability(question, 'LowPriorityCapable') !== 'True') {
    return bad(`Azure Spot Virtual Machine is not supported for this VM size ${name}. ${SPOT_HELP}`, 'priority');
  }
  const price = properties(question, 'billingProfile', 'maxPrice');
  if (price === undefined || price === -1) return undefined;
  if (typeof price !== 'number' || price <= 0) {
    return bad(`Max price '${asText(price)}' is not valid: it must be -1 or greater than 0. ${SPOT_HELP}`, 'maxPrice');
  }
  const current = estimatedSpotPrice(question.size.price);
  if (price >= current) return undefined;
  return bad(
    `Unable to perform operation 'Create VM' since the provided max price '${price} USD' is lower than the current spot price '${current} USD' for Azure Spot VM size '${name}'. ${SPOT_HELP}`,
    undefined,
    'OperationNotAllowed',
    409,
  );
};

/** GB that each place for an ephemeral OS disk has. */
const PLACEMENTS: Readonly<Record<string, readonly [string, number]>> = {
  CacheDisk: ['CachedDiskBytes', 1 / GIGABYTE],
  ResourceDisk: ['MaxResourceVolumeMB', MEBIBYTE / GIGABYTE],
  NvmeDisk: ['NvmeDiskSizeInMiB', MEBIBYTE / GIGABYTE],
};

const ephemeralDisk: Rule = (question) => {
  const disk = objectAt(question.body, 'properties', 'storageProfile', 'osDisk');
  const settings = objectAt(disk, 'diffDiskSettings');
  if (settings['option'] !== 'Local') return undefined;
  const { name } = question.size.sku;
  if (capability(question, 'EphemeralOSDiskSupported') !== 'True') {
    return bad(
      `The VM size ${name} does not support ephemeral OS disks.`,
      'osDisk.diffDiskSettings',
      'NotSupported',
      409,
    );
  }
  if (disk['caching'] !== undefined && disk['caching'] !== 'ReadOnly') {
    return bad(`Ephemeral OS disks support only ReadOnly caching, not '${asText(disk['caching'])}'.`, 'osDisk.caching');
  }
  if (properties(question, 'priority') === 'Spot' && properties(question, 'evictionPolicy') === 'Deallocate') {
    return bad('Eviction policy Deallocate is not supported for VMs with an ephemeral OS disk.', 'evictionPolicy');
  }
  const supported = capability(question, 'SupportedEphemeralOSDiskPlacements').split(',');
  const wanted = textAt(settings, 'placement');
  const placement = wanted ?? ['CacheDisk', 'ResourceDisk', 'NvmeDisk'].find((each) => supported.includes(each)) ?? '';
  const [member = '', factor = 0] = PLACEMENTS[placement] ?? [];
  if (!supported.includes(placement)) {
    return bad(
      `DiffDiskPlacement ${placement} is not supported for VM size ${name}.`,
      'osDisk.diffDiskSettings.placement',
    );
  }
  const room = Math.floor(Number(capability(question, member) || 0) * factor);
  const asked = typeof disk['diskSizeGB'] === 'number' ? disk['diskSizeGB'] : IMAGE_DISK_SIZE;
  if (asked <= room) return undefined;
  return bad(
    `OS disk of Ephemeral VM with size greater than ${room} GB is not allowed for VM size ${name} when the DiffDiskPlacement is ${placement}.`,
    'osDisk.diskSizeGB',
    'NotSupported',
    409,
  );
};

const diskSize: Rule = (question) => {
  const asked = properties(question, 'storageProfile', 'osDisk', 'diskSizeGB');
  if (asked === undefined) return undefined;
  if (typeof asked !== 'number' || asked > MAX_OS_DISK) {
    return bad(
      `The value '${asText(asked)}' of parameter 'osDisk.diskSizeGB' is out of range. It must be at most ${MAX_OS_DISK}.`,
      'osDisk.diskSizeGB',
    );
  }
  if (asked >= IMAGE_DISK_SIZE) return undefined;
  return bad(
    `The specified disk size ${asked} GB is smaller than the size of the corresponding disk in the VM image: ${IMAGE_DISK_SIZE} GB. This is not allowed. Please choose equal or greater size or do not specify an explicit size.`,
    'osDisk.diskSizeGB',
    'OperationNotAllowed',
    409,
  );
};

const ultraDisk: Rule = (question) => {
  if (properties(question, 'additionalCapabilities', 'ultraSSDEnabled') !== true) return undefined;
  const { size, zone } = question;
  const details = size.sku.locationInfo.flatMap(({ zoneDetails }) => zoneDetails);
  const zones = details
    .filter(({ capabilities }) =>
      capabilities.some(({ name, value }) => name === 'UltraSSDAvailable' && value === 'True'),
    )
    .flatMap(({ name }) => name);
  const available = zone === undefined ? capability(question, 'UltraSSDAvailable') === 'True' : zones.includes(zone);
  if (available) return undefined;
  return bad(
    `UltraSSD is not supported for VM size ${size.sku.name} in ${zone === undefined ? 'this region without a zone' : `zone '${zone}'`}.`,
    'additionalCapabilities.ultraSSDEnabled',
  );
};

const encryptionAtHost: Rule = (question) =>
  properties(question, 'securityProfile', 'encryptionAtHost') === true &&
  capability(question, 'EncryptionAtHostSupported') !== 'True'
    ? bad(
        `The VM size '${question.size.sku.name}' does not support 'securityProfile.encryptionAtHost'.`,
        'securityProfile.encryptionAtHost',
      )
    : undefined;

const trustedLaunch: Rule = (question) =>
  properties(question, 'securityProfile', 'securityType') === 'TrustedLaunch' &&
  (capability(question, 'TrustedLaunchDisabled') === 'True' ||
    !capability(question, 'HyperVGenerations').includes('V2'))
    ? bad(
        `The VM size '${question.size.sku.name}' is not supported for creation of VMs and Virtual Machine Scale Set with 'TrustedLaunch' security type.`,
        undefined,
        'BadRequest',
      )
    : undefined;

const bootable: Rule = (question) => {
  const { image, size } = question;
  if (image === undefined) return undefined;
  const generations = capability(question, 'HyperVGenerations').split(',');
  if (!generations.includes(image.generation)) {
    return bad(
      `The selected VM size '${size.sku.name}' cannot boot Hypervisor Generation '${image.generation.slice(1)}'. If this was a Create operation please check that the Hypervisor Generation of the Image matches the Hypervisor Generation of the selected VM Size.`,
      undefined,
      'BadRequest',
    );
  }
  const architecture = capability(question, 'CpuArchitectureType');
  if (architecture === image.architecture) return undefined;
  return bad(
    `Cannot create a VM of size '${size.sku.name}' because this VM size only supports a CPU Architecture of '${architecture}', but an image or disk with CPU Architecture '${image.architecture}' was given.`,
    undefined,
    'BadRequest',
  );
};

const dataDisks: Rule = (question) => {
  const disks = listAt(question.body, 'properties', 'storageProfile', 'dataDisks');
  const most = Number(capability(question, 'MaxDataDiskCount') || 0);
  if (disks.length <= most) return undefined;
  return bad(
    `The maximum number of data disks allowed to be attached to a VM of this size is ${most}.`,
    'dataDisks',
    'OperationNotAllowed',
    409,
  );
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

export function checkFeatures(question: FeatureQuestion): void {
  for (const rule of RULES) {
    const refusal = rule(question);
    if (refusal !== undefined) throw refusal;
  }
}
