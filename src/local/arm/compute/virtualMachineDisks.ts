/** The managed disks of VMs: attached when a VM is written, deleted or detached with it as each delete option says. */
import { timestamp, type ArmContext } from '../armContext.ts';
import { refusal } from '../refusal.ts';
import { asText, listAt, objectAt, textAt, type JsonObject } from '../jsonPath.ts';
import type { ArmResource } from '../resourceStore.ts';

const DISKS = 'Microsoft.Compute/disks';
const IMAGE_DISK_SIZE = 30;

/** Attaches the VM's disks and returns the VM with their names and ids. Ephemeral OS disks are not resources. */
export function attachDisks(context: ArmContext, machine: ArmResource): ArmResource {
  const profile = objectAt(machine.properties, 'storageProfile');
  const disk = objectAt(profile, 'osDisk');
  const name = textAt(disk, 'name') ?? `${machine.name}_OsDisk_1_${context.random.uuid().replaceAll('-', '')}`;
  const size = typeof disk['diskSizeGB'] === 'number' ? disk['diskSizeGB'] : IMAGE_DISK_SIZE;
  const managed = disk['diffDiskSettings'] === undefined;
  const osDisk = {
    osType: 'Linux',
    caching: 'ReadWrite',
    deleteOption: 'Detach',
    ...disk,
    name,
    diskSizeGB: size,
    ...(managed ? { managedDisk: attach(context, machine, name, { ...disk, diskSizeGB: size }, true) } : {}),
  };
  const dataDisks = listAt(profile, 'dataDisks').map((each) => {
    const wanted = objectAt(each);
    const dataName = textAt(wanted, 'name') ?? `${machine.name}_disk${asText(wanted['lun'] ?? 0)}`;
    return {
      deleteOption: 'Detach',
      ...wanted,
      name: dataName,
      managedDisk: attach(context, machine, dataName, wanted, false),
    };
  });
  return {
    ...machine,
    properties: { ...machine.properties, storageProfile: { ...profile, osDisk, dataDisks } },
  };
}

/** Deletes or detaches the disks of a VM that is deleted, as each delete option says. */
export function releaseDisks(context: ArmContext, machine: ArmResource): void {
  const profile = objectAt(machine.properties, 'storageProfile');
  for (const disk of [profile['osDisk'], ...listAt(profile, 'dataDisks')]) {
    const id = textAt(disk, 'managedDisk', 'id');
    if (id === undefined) continue;
    if (textAt(disk, 'deleteOption') === 'Delete') context.store.delete(id);
    else detachDisk(context, id);
  }
}

/** Detaches the data disks that an update removed from the VM. */
export function detachMissing(context: ArmContext, before: ArmResource, after: ArmResource): void {
  const idsOf = ({ properties }: ArmResource): readonly string[] =>
    listAt(properties, 'storageProfile', 'dataDisks').map((disk) => textAt(disk, 'managedDisk', 'id') ?? '');
  const kept = new Set(idsOf(after).map((id) => id.toLowerCase()));
  for (const id of idsOf(before)) if (!kept.has(id.toLowerCase())) detachDisk(context, id);
}

function detachDisk(context: ArmContext, id: string): void {
  const found = context.store.find(id);
  if (found === undefined) return;
  const { managedBy: _managedBy, ...free } = found;
  context.store.put({ ...free, properties: { ...found.properties, diskState: 'Unattached' } });
}

function attach(
  context: ArmContext,
  machine: ArmResource,
  name: string,
  wanted: JsonObject,
  system: boolean,
): JsonObject {
  const group = machine.id.split('/')[4] ?? '';
  const given = textAt(wanted, 'managedDisk', 'id');
  const id = given ?? context.store.idOf(group, DISKS, name);
  const existing = context.store.find(id);
  const storageAccountType =
    textAt(wanted, 'managedDisk', 'storageAccountType') ?? textAt(existing?.sku, 'name') ?? 'Premium_LRS';
  if (wanted['createOption'] === 'Attach' && existing === undefined) throw refusal('NotFound.disk', { id });
  if (existing?.managedBy !== undefined && existing.managedBy.toLowerCase() !== machine.id.toLowerCase()) {
    throw refusal('ConflictingUserInput.attached', { name, managedBy: existing.managedBy });
  }
  const encryption = textAt(wanted, 'managedDisk', 'diskEncryptionSet', 'id');
  context.store.put({
    id,
    name: existing?.name ?? name,
    type: DISKS,
    location: machine.location ?? context.location,
    ...(machine.zones === undefined ? {} : { zones: machine.zones }),
    ...((existing?.tags ?? machine.tags) ? { tags: existing?.tags ?? machine.tags ?? {} } : {}),
    sku: { name: storageAccountType, tier: storageAccountType.split('_')[0] ?? '' },
    managedBy: machine.id,
    etag: `"${context.random.uuid()}"`,
    properties: {
      ...(system ? { osType: 'Linux', hyperVGeneration: 'V2' } : {}),
      creationData: { createOption: system ? 'FromImage' : 'Empty' },
      diskSizeGB: wanted['diskSizeGB'] ?? existing?.properties['diskSizeGB'],
      timeCreated: timestamp(context.clock.now()),
      uniqueId: context.random.uuid(),
      encryption: {
        type: encryption === undefined ? 'EncryptionAtRestWithPlatformKey' : 'EncryptionAtRestWithCustomerKey',
        ...(encryption === undefined ? {} : { diskEncryptionSetId: encryption }),
      },
      ...existing?.properties,
      diskState: 'Attached',
      provisioningState: 'Succeeded',
    },
  });
  return { ...objectAt(wanted, 'managedDisk'), storageAccountType, id };
}
