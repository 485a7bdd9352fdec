/** What Azure checks before it accepts a machine. In: the body of the PUT. Out: nothing, or the error it would give. */
import { ArmError } from './armError.ts';
import type { ArmContext } from './armContext.ts';
import { at, listAt, textAt } from './jsonPath.ts';
import type { ArmResource } from './resourceStore.ts';

const MAX_CUSTOM_DATA = 87_380;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

export function checkVirtualMachine(context: ArmContext, id: string, body: unknown): void {
  checkPlace(context, id, body);
  checkCustomData(body);
  const references = listAt(body, 'properties', 'networkProfile', 'networkInterfaces');
  if (references.length === 0) {
    throw new ArmError(400, 'InvalidParameter', "Required parameter 'networkProfile' is missing (null).", {
      target: 'networkProfile',
    });
  }
  for (const reference of references) checkInterface(context, id, textAt(reference, 'id') ?? '');
}

function checkPlace(context: ArmContext, id: string, body: unknown): void {
  const location = textAt(body, 'location');
  if (location === undefined) {
    throw new ArmError(400, 'LocationRequired', 'The location property is required for this definition.');
  }
  if (location.toLowerCase().replaceAll(' ', '') !== context.location) {
    throw new ArmError(
      400,
      'LocationNotAvailableForResourceType',
      `The provided location '${location}' is not available for resource type 'Microsoft.Compute/virtualMachines'. List of available regions for the resource type is '${context.location}'.`,
    );
  }
  const sizeName = textAt(body, 'properties', 'hardwareProfile', 'vmSize') ?? '';
  const size = context.catalogue.find(sizeName);
  if (size === undefined) {
    throw new ArmError(
      400,
      'InvalidParameter',
      `The value ${sizeName} provided for the VM size is not valid. Find out more on the valid VM sizes in each region at https://aka.ms/azure-regions.`,
      { target: 'vmSize' },
    );
  }
  const zones = listAt(body, 'zones').map(String);
  const name = id.split('/').at(-1) ?? '';
  for (const zone of zones) {
    if (!/^[1-3]$/.test(zone)) {
      throw new ArmError(
        400,
        'InvalidAvailabilityZone',
        `The zone(s) '${zone}' for resource 'Microsoft.Compute/virtualMachines/${name}' is not supported. The supported zones for location '${context.location}' are '1,2,3'`,
      );
    }
    if (size.zones.includes(zone)) continue;
    throw new ArmError(
      409,
      'SkuNotAvailable',
      `The requested VM size for resource 'Following SKUs have failed for Capacity Restrictions: ${sizeName}' is currently not available in location '${context.location}' zone '${zone}'. Please try another size or deploy to a different location or different zone. See https://aka.ms/azureskunotavailable for details.`,
    );
  }
}

function checkCustomData(body: unknown): void {
  const customData = at(body, 'properties', 'osProfile', 'customData');
  if (customData === undefined) return;
  if (typeof customData === 'string' && customData.length <= MAX_CUSTOM_DATA && BASE64.test(customData)) return;
  throw new ArmError(
    400,
    'InvalidParameter',
    `Custom data in OSProfile must be in Base64 encoding and with a maximum length of ${MAX_CUSTOM_DATA} characters.`,
    { target: 'customData' },
  );
}

function checkInterface(context: ArmContext, machineId: string, interfaceId: string): void {
  const found = context.store.find(interfaceId);
  if (found === undefined) {
    throw new ArmError(404, 'NotFound', `Resource ${interfaceId} not found.`);
  }
  const owner = textAt(found.properties, 'virtualMachine', 'id');
  if (owner !== undefined && owner.toLowerCase() !== machineId.toLowerCase()) {
    throw new ArmError(400, 'NicInUse', `Network Interface ${interfaceId} is used by existing VM ${owner}.`);
  }
  const state = textAt(found.properties, 'provisioningState');
  if (state === 'Succeeded') return;
  throw new ArmError(
    409,
    'ReferencedResourceNotProvisioned',
    `Cannot proceed with operation because resource ${interfaceId} used by resource ${machineId} is not in Succeeded state. Resource is in ${state ?? 'unknown'} state.`,
  );
}

/** A PUT over a machine that exists may not change what it was made of. */
export function checkUnchanged(existing: ArmResource, customData: string | undefined, body: unknown): void {
  if (existing.properties['provisioningState'] === 'Deleting') {
    throw new ArmError(
      409,
      'OperationNotAllowed',
      `Operation 'createOrUpdate' is not allowed on VM '${existing.name}' since the VM is marked for deletion. You can only retry the Delete operation (or wait for an ongoing one to complete).`,
    );
  }
  const same = (left: unknown, right: unknown): boolean => JSON.stringify(left) === JSON.stringify(right);
  const image = ['properties', 'storageProfile', 'imageReference'];
  const changes: readonly (readonly [string, boolean])[] = [
    ['zones', same(existing.zones ?? [], listAt(body, 'zones'))],
    ['imageReference', same(at(existing, ...image), at(body, ...image))],
    ['osProfile.customData', customData === textAt(body, 'properties', 'osProfile', 'customData')],
    [
      'hardwareProfile.vmSize',
      textAt(existing.properties, 'hardwareProfile', 'vmSize') ===
        textAt(body, 'properties', 'hardwareProfile', 'vmSize'),
    ],
  ];
  const changed = changes.find(([, equal]) => !equal)?.[0];
  if (changed === undefined) return;
  throw new ArmError(409, 'PropertyChangeNotAllowed', `Changing property '${changed}' is not allowed.`, {
    target: changed,
  });
}
