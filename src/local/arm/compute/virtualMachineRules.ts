/** Validation of a VM before Azure accepts it. */
import { capabilityOf, type CatalogueSize } from '../../../catalogue/skuCatalogue.ts';
import type { ArmContext } from '../armContext.ts';
import type { ArmError } from '../armError.ts';
import { refusal } from '../refusal.ts';
import { authorizeLinked } from '../directory/principals.ts';
import { at, listAt, objectAt, textAt } from '../jsonPath.ts';
import type { NetworkInterfaces } from '../network/networkInterfaces.ts';
import type { ArmResource } from '../resourceStore.ts';
import type { ArmRequest } from '../server/router.ts';
import type { Images } from './images.ts';
import type { Skus } from './skus.ts';
import { checkFeatures } from './virtualMachineFeatures.ts';

const VIRTUAL_MACHINES = 'Microsoft.Compute/virtualMachines';
const MAX_COMPUTER_NAME = 64;

export interface VirtualMachineRules {
  readonly context: ArmContext;
  readonly skus: Skus;
  readonly images: Images;
  readonly interfaces: NetworkInterfaces;
}

export function checkVirtualMachine(rules: VirtualMachineRules, id: string, request: ArmRequest): void {
  const { context } = rules;
  const { body } = request;
  const size = checkSize(context, body);
  const zone = checkZone(context, id, size, body);
  const image = rules.images.check(at(body, 'properties', 'storageProfile', 'imageReference'), request);
  checkFeatures({ body, size, zone, image });
  checkNames(body);
  checkInterfaces(rules, id, size, request);
  checkDisk(context, id, body);
}

/** Throws when the size is not offered to the subscription in the location or zone of the VM. */
export function checkAvailable({ context, skus }: VirtualMachineRules, body: unknown): void {
  const name = textAt(body, 'properties', 'hardwareProfile', 'vmSize') ?? '';
  const zone = listAt(body, 'zones').map(String)[0];
  const location = textAt(body, 'location') ?? context.location;
  const size = context.catalogueAt(location).find(name);
  const offered = zone === undefined || size?.zones.includes(zone) === true;
  if (offered && !skus.isRestricted(name, zone)) return;
  const where = zone === undefined ? '' : ` zone '${zone}'`;
  throw refusal('SkuNotAvailable', { name, location, where });
}

function checkSize(context: ArmContext, body: unknown): CatalogueSize {
  const name = textAt(body, 'properties', 'hardwareProfile', 'vmSize') ?? '';
  const catalogue = context.catalogueAt(textAt(body, 'location'));
  const size = catalogue.find(name);
  if (size !== undefined) return size;
  const sizes = catalogue.all().map(({ sku }) => sku.name);
  throw refusal('InvalidParameter.vmSize', { name, sizes: sizes.join(',') });
}

function checkZone(context: ArmContext, id: string, size: CatalogueSize, body: unknown): string | undefined {
  const zones = listAt(body, 'zones').map(String);
  const name = id.split('/').at(-1) ?? '';
  if (zones.length > 1) throw refusal('InvalidParameter.zones', { name, zones: zones.join(',') });
  const [zone] = zones;
  if (zone !== undefined && !/^[1-3]$/.test(zone)) {
    throw refusal('InvalidAvailabilityZone', {
      zone,
      type: VIRTUAL_MACHINES,
      name,
      region: size.sku.locations[0] ?? context.location,
    });
  }
  return zone;
}

function checkNames(body: unknown): void {
  const name = textAt(body, 'properties', 'osProfile', 'computerName') ?? '';
  if (name.length <= MAX_COMPUTER_NAME) return;
  throw refusal('InvalidParameter.hostName', { longest: MAX_COMPUTER_NAME });
}

function checkDisk(context: ArmContext, id: string, body: unknown): void {
  const disk = objectAt(body, 'properties', 'storageProfile', 'osDisk');
  const key = textAt(disk, 'managedDisk', 'diskEncryptionSet', 'id');
  if (key !== undefined && context.store.find(key) === undefined) throw refusal('NotFound.encryptionSet', { key });
  const name = textAt(disk, 'name');
  if (name === undefined || disk['diffDiskSettings'] !== undefined || disk['createOption'] === 'Attach') return;
  const group = id.split('/')[4] ?? '';
  const there = context.store.find(context.store.idOf(group, 'Microsoft.Compute/disks', name));
  if (there === undefined || there.managedBy?.toLowerCase() === id.toLowerCase()) return;
  throw refusal('ConflictingUserInput.exists', { name, group: group.toUpperCase() });
}

function checkInterfaces(
  rules: VirtualMachineRules,
  id: string,
  size: CatalogueSize,
  { body, principal }: ArmRequest,
): void {
  const references = listAt(body, 'properties', 'networkProfile', 'networkInterfaces');
  if (references.length === 0) throw refusal('InvalidParameter.networkProfile');
  for (const reference of references) {
    const nic = textAt(reference, 'id') ?? '';
    const found = rules.context.store.find(nic);
    if (found === undefined) throw refusal('NotFound.resource', { nic });
    authorizeLinked(principal, 'Microsoft.Network/networkInterfaces/join/action', nic, `${VIRTUAL_MACHINES}/write`);
    rules.interfaces.checkFree(found, id);
    checkAcceleration(found, id, size);
    const state = textAt(found.properties, 'provisioningState');
    if (state === 'Succeeded') continue;
    throw refusal('ReferencedResourceNotProvisioned', { nic, id, state: state ?? 'unknown' });
  }
}

function checkAcceleration(nic: ArmResource, id: string, size: CatalogueSize): void {
  if (nic.properties['enableAcceleratedNetworking'] !== true) return;
  if (capabilityOf(size, 'AcceleratedNetworkingEnabled') === 'True') return;
  throw refusal('VMSizeIsNotPermittedToEnableAcceleratedNetworking', { name: size.sku.name, id });
}

/** Throws when a PUT or PATCH would change an immutable property of the VM. */
export function checkUnchanged(existing: ArmResource, body: unknown, patch: boolean): void {
  if (existing.properties['provisioningState'] === 'Deleting') throw markedForDeletion(existing, 'createOrUpdate');
  const given = objectAt(body, 'properties');
  const same = (left: unknown, right: unknown): boolean =>
    (patch && right === undefined) || JSON.stringify(left) === JSON.stringify(right);
  const image = ['storageProfile', 'imageReference'];
  const customData = at(given, 'osProfile', 'customData');
  const changes: readonly (readonly [string, boolean])[] = [
    ['zones', same(existing.zones ?? [], patch ? at(body, 'zones') : listAt(body, 'zones'))],
    ['imageReference', same(at(existing.properties, ...image), at(given, ...image))],
    ['osProfile.customData', customData === undefined || customData === existing.hidden?.['customData']],
    [
      'osProfile.computerName',
      same(at(existing.properties, 'osProfile', 'computerName'), at(given, 'osProfile', 'computerName')),
    ],
    [
      'priority',
      same(existing.properties['priority'] ?? 'Regular', given['priority'] ?? (patch ? undefined : 'Regular')),
    ],
    ['evictionPolicy', same(existing.properties['evictionPolicy'], given['evictionPolicy'])],
  ];
  const changed = changes.find(([, equal]) => !equal)?.[0];
  if (changed === undefined) return;
  throw refusal('PropertyChangeNotAllowed', { changed });
}

export function markedForDeletion({ name }: ArmResource, operation: string): ArmError {
  return refusal('OperationNotAllowed.markedForDeletion', { operation, name });
}
