/** Makes the stored resource of a VM from the body of a PUT or PATCH; write-only members go to `hidden`. */
import { timestamp, type ArmContext } from '../armContext.ts';
import { at, listAt, objectAt, textAt, type JsonObject } from '../jsonPath.ts';
import { checkTags, normalLocation } from '../resources/requestRules.ts';
import type { ArmResource } from '../resourceStore.ts';

const VIRTUAL_MACHINES = 'Microsoft.Compute/virtualMachines';
/** Properties of a VM that an update may change. */
const CHANGEABLE: readonly string[] = [
  'hardwareProfile',
  'billingProfile',
  'additionalCapabilities',
  'securityProfile',
  'diagnosticsProfile',
  'scheduledEventsProfile',
  'networkProfile',
];

export function newVirtualMachine(context: ArmContext, id: string, name: string, body: unknown): ArmResource {
  const { clock, random } = context;
  const given = objectAt(body);
  const properties = objectAt(body, 'properties');
  const zones = listAt(body, 'zones').map(String);
  return {
    id,
    name,
    type: VIRTUAL_MACHINES,
    location: normalLocation(textAt(body, 'location') ?? context.location),
    ...(zones.length === 0 ? {} : { zones }),
    tags: checkTags(body),
    ...(given['identity'] === undefined ? {} : { identity: identityOf(context, given['identity']) }),
    etag: `"${random.uuid()}"`,
    properties: {
      ...shown(properties),
      vmId: random.uuid(),
      timeCreated: timestamp(clock.now()),
      provisioningState: 'Creating',
    },
    hidden: { createdAt: clock.now(), powerState: 'starting', ...kept(properties) },
  };
}

/** Returns the VM with the tags, identity, data disks and changeable properties of the body; everything else stays. */
export function updatedVirtualMachine(context: ArmContext, machine: ArmResource, body: unknown): ArmResource {
  const given = objectAt(body);
  const wanted = objectAt(body, 'properties');
  const changes: JsonObject = Object.fromEntries(
    CHANGEABLE.filter((member) => wanted[member] !== undefined).map((member) => [member, wanted[member]]),
  );
  const dataDisks = at(wanted, 'storageProfile', 'dataDisks');
  const storageProfile = { ...objectAt(machine.properties, 'storageProfile'), dataDisks };
  return {
    ...machine,
    ...(given['tags'] === undefined ? {} : { tags: checkTags(body) }),
    ...(given['identity'] === undefined ? {} : { identity: identityOf(context, given['identity']) }),
    properties: {
      ...machine.properties,
      ...changes,
      ...(dataDisks === undefined ? {} : { storageProfile }),
    },
    hidden: { ...machine.hidden, ...kept(wanted) },
  };
}

export function sizeOf({ properties }: ArmResource): string {
  return (textAt(properties, 'hardwareProfile', 'vmSize') ?? '').toLowerCase();
}

function shown(properties: JsonObject): JsonObject {
  const { customData: _customData, adminPassword: _adminPassword, ...osProfile } = objectAt(properties, 'osProfile');
  const { userData: _userData, ...rest } = properties;
  return { ...rest, osProfile: { allowExtensionOperations: true, ...osProfile } };
}

function kept(properties: JsonObject): JsonObject {
  const customData = textAt(properties, 'osProfile', 'customData');
  const userData = textAt(properties, 'userData');
  return { ...(customData === undefined ? {} : { customData }), ...(userData === undefined ? {} : { userData }) };
}

/** Returns the identity with the client and principal ids that the directory has for it. */
function identityOf(context: ArmContext, identity: unknown): JsonObject {
  const assigned = Object.keys(objectAt(identity, 'userAssignedIdentities')).map((id) => {
    const found = context.store.find(id)?.properties;
    const clientId = textAt(found, 'clientId');
    return [id, clientId === undefined ? {} : { clientId, principalId: textAt(found, 'principalId') }] as const;
  });
  return {
    ...objectAt(identity),
    ...(assigned.length === 0 ? {} : { userAssignedIdentities: Object.fromEntries(assigned) }),
  };
}
