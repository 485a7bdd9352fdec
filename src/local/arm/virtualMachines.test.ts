import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { VirtualMachine } from '@azure/arm-compute';
import { eventually } from '../../../test/controlplane/eventually.ts';
import { ArmFixture, collect, POLL } from '../../../test/fixtures/local/armFixture.ts';
import { ArmError } from './armError.ts';
import type { Fault } from './faultPlan.ts';
import type { VirtualMachineEvent } from './virtualMachines.ts';

const EPHEMERAL = {
  createOption: 'FromImage',
  caching: 'ReadOnly',
  diffDiskSettings: { option: 'Local', placement: 'CacheDisk' },
} as const;

describe('virtual machines through @azure/arm-compute', () => {
  let fixture: ArmFixture;
  const faults = new Map<string, Fault>();
  let events: VirtualMachineEvent[] = [];

  beforeAll(async () => {
    fixture = await ArmFixture.start({ pageSize: 2, faults: { before: ({ name }) => faults.get(name) } });
    fixture.arm.onVirtualMachine((event) => events.push(event));
  });
  afterAll(() => fixture.close());
  beforeEach(async () => {
    faults.clear();
    for (const { name } of fixture.arm.virtualMachines()) {
      await fixture.compute.virtualMachines.delete(fixture.group, name, POLL);
    }
    events = [];
  });

  const machines = () => fixture.compute.virtualMachines;
  const interfaces = () => fixture.network.networkInterfaces;
  const powerOf = async (name: string): Promise<string | undefined> =>
    (await machines().instanceView(fixture.group, name)).statuses?.find(({ code }) => code?.startsWith('PowerState'))
      ?.code;

  it('are created, shown, listed and deleted with their interface and disk', async () => {
    const { group, compute } = fixture;
    const nic = await fixture.createInterface('one');
    const body = fixture.machineOn(nic.id ?? '', { userData: btoa('hello') });
    const created = await machines().createOrUpdate(group, 'one', body, POLL);
    expect(created).toMatchObject({
      provisioningState: 'Succeeded',
      zones: ['2'],
      type: 'Microsoft.Compute/virtualMachines',
    });
    expect(created.osProfile?.customData).toBeUndefined();
    expect(created.storageProfile?.osDisk?.managedDisk?.storageAccountType).toBe('Premium_LRS');
    expect(events).toMatchObject([{ type: 'created', vm: { name: 'one', zone: '2', vCPUs: 2, memoryGiB: 8 } }]);
    expect(atob(events[0]?.vm.customData ?? '')).toBe('#!/bin/bash\n');
    expect((await machines().get(group, 'ONE')).userData).toBeUndefined();
    const expanded = await machines().get(group, 'one', { expand: 'userData' });
    expect(expanded.userData).toBe(btoa('hello'));
    const view = await machines().get(group, 'one', { expand: 'instanceView' });
    expect(view.instanceView?.statuses?.map(({ code }) => code)).toEqual([
      'ProvisioningState/succeeded',
      'PowerState/running',
    ]);
    expect((await interfaces().get(group, 'one')).virtualMachine?.id).toBe(created.id);
    const disk = await compute.disks.get(group, 'one');
    expect(disk).toMatchObject({ diskState: 'Attached', managedBy: created.id, zones: ['2'], diskSizeGB: 128 });
    await expect(compute.disks.delete(group, 'one', POLL)).rejects.toMatchObject({ code: 'OperationNotAllowed' });

    await machines().delete(group, 'one', { ...POLL, forceDeletion: true });
    await expect(machines().get(group, 'one')).rejects.toMatchObject({ statusCode: 404, code: 'ResourceNotFound' });
    await expect(interfaces().get(group, 'one')).rejects.toMatchObject({ statusCode: 404 });
    await expect(compute.disks.get(group, 'one')).rejects.toMatchObject({ statusCode: 404 });
    await machines().delete(group, 'one', POLL);
    expect(events.map(({ type }) => type)).toEqual(['created', 'deleted']);
  });

  it('are listed in pages, by group and in the subscription', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await fixture.createMachine(name);
    const names = (list: readonly VirtualMachine[]) => list.map(({ name }) => name);
    expect(names(await collect(machines().list(fixture.group)))).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(names(await collect(machines().listAll()))).toEqual(['a', 'b', 'c', 'd', 'e']);
    const path = `resourceGroups/${fixture.group}/providers/Microsoft.Compute/virtualMachines?api-version=2024-07-01`;
    const first = (await fixture.ask(path)).body as { value: unknown[]; nextLink: string };
    expect(first.value).toHaveLength(2);
    await machines().delete(fixture.group, 'b', POLL);
    const second = (await fixture.ask(first.nextLink.slice(fixture.arm.endpoint.length))).body as {
      value: VirtualMachine[];
    };
    expect(names(second.value)).toEqual(['c', 'd']);
  });

  it('change tags and identities, and restart to change their size', async () => {
    const { group } = fixture;
    await fixture.createMachine('one');
    const tagged = await machines().update(group, 'one', { tags: { team: 'a' } }, POLL);
    expect(tagged).toMatchObject({ tags: { team: 'a' }, provisioningState: 'Succeeded' });
    const identity = '/subscriptions/s/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i';
    const assigned = await machines().update(
      group,
      'one',
      { identity: { type: 'UserAssigned', userAssignedIdentities: { [identity]: {} } } },
      POLL,
    );
    expect(Object.keys(assigned.identity?.userAssignedIdentities ?? {})).toEqual([identity]);
    expect(assigned.tags).toEqual({ team: 'a' });
    const resized = await machines().update(group, 'one', { hardwareProfile: { vmSize: 'Standard_D4s_v5' } }, POLL);
    expect(resized.hardwareProfile?.vmSize).toBe('Standard_D4s_v5');
    expect(events.map(({ type, vm }) => `${type} ${vm.vCPUs}`)).toEqual(['created 2', 'stopped 4', 'started 4']);
    await expect(machines().update(group, 'one', { tags: {} }, { ...POLL, ifMatch: '"other"' })).rejects.toMatchObject({
      statusCode: 412,
      code: 'PreconditionFailed',
    });
  });

  it('are powered off and on', async () => {
    const { group } = fixture;
    await fixture.createMachine('one');
    await machines().powerOff(group, 'one', POLL);
    expect(await powerOf('one')).toBe('PowerState/stopped');
    await expect(machines().restart(group, 'one', POLL)).rejects.toMatchObject({ code: 'OperationNotAllowed' });
    await machines().start(group, 'one', POLL);
    expect(await powerOf('one')).toBe('PowerState/running');
    await machines().restart(group, 'one', POLL);
    await machines().deallocate(group, 'one', POLL);
    expect(await powerOf('one')).toBe('PowerState/deallocated');
    expect(events.map(({ type }) => type)).toEqual(['created', 'stopped', 'started', 'stopped', 'started', 'stopped']);
    const extension = {
      location: fixture.arm.location,
      publisher: 'p',
      typePropertiesType: 't',
      typeHandlerVersion: '1.0',
    };
    await expect(
      fixture.compute.virtualMachineExtensions.createOrUpdate(group, 'one', 'x', extension, POLL),
    ).rejects.toMatchObject({ code: 'OperationNotAllowed' });
  });

  it('have extensions, whose protected settings are never returned', async () => {
    const { group, compute } = fixture;
    await fixture.createMachine('one');
    const { virtualMachineExtensions: extensions } = compute;
    const body = {
      location: fixture.arm.location,
      tags: { a: 'b' },
      publisher: 'Microsoft.Azure.Extensions',
      typePropertiesType: 'CustomScript',
      typeHandlerVersion: '2.0',
      protectedSettings: { commandToExecute: 'true' },
    };
    const made = await extensions.createOrUpdate(group, 'one', 'cse-agent-karpenter', body, POLL);
    expect(made).toMatchObject({
      provisioningState: 'Succeeded',
      tags: { a: 'b' },
      typePropertiesType: 'CustomScript',
    });
    expect(made.protectedSettings).toBeUndefined();
    const updated = await extensions.update(group, 'one', 'cse-agent-karpenter', { tags: { c: 'd' } }, POLL);
    expect(updated).toMatchObject({ tags: { c: 'd' }, publisher: 'Microsoft.Azure.Extensions' });
    expect((await extensions.list(group, 'one')).value).toHaveLength(1);
    expect((await machines().get(group, 'one')).resources?.[0]?.name).toBe('cse-agent-karpenter');
    await expect(extensions.createOrUpdate(group, 'missing', 'x', body, POLL)).rejects.toMatchObject({
      statusCode: 404,
      code: 'ParentResourceNotFound',
    });
    await extensions.delete(group, 'one', 'cse-agent-karpenter', POLL);
    await expect(extensions.get(group, 'one', 'cse-agent-karpenter')).rejects.toMatchObject({ statusCode: 404 });
  });

  it.each<readonly [string, Partial<VirtualMachine>, number, string]>([
    ['an unknown size', { hardwareProfile: { vmSize: 'Standard_X1' } }, 400, 'InvalidParameter'],
    ['an unknown zone', { zones: ['7'] }, 400, 'InvalidAvailabilityZone'],
    ['two zones', { zones: ['1', '2'] }, 400, 'InvalidParameter'],
    ['another location', { location: 'mars' }, 400, 'LocationNotAvailableForResourceType'],
    [
      'a size not sold in the zone',
      { hardwareProfile: { vmSize: 'Standard_NC24ads_A100_v4' } },
      409,
      'SkuNotAvailable',
    ],
    ['an eviction policy without spot', { evictionPolicy: 'Delete' }, 400, 'InvalidParameter'],
    ['a price without spot', { billingProfile: { maxPrice: -1 } }, 400, 'InvalidParameter'],
    [
      'a price below the spot price',
      { priority: 'Spot', billingProfile: { maxPrice: 0.0001 } },
      409,
      'OperationNotAllowed',
    ],
    [
      'spot of a size that does not offer it',
      { priority: 'Spot', hardwareProfile: { vmSize: 'Standard_B2ms' } },
      400,
      'InvalidParameter',
    ],
    [
      'ultra disks without a zone',
      { zones: [], additionalCapabilities: { ultraSSDEnabled: true } },
      400,
      'InvalidParameter',
    ],
    [
      'custom data that is not Base64',
      { osProfile: { computerName: 'x', adminUsername: 'a', customData: '#!' } },
      400,
      'InvalidParameter',
    ],
    [
      'a disk smaller than the image',
      { storageProfile: { osDisk: { createOption: 'FromImage', diskSizeGB: 10 } } },
      409,
      'OperationNotAllowed',
    ],
    [
      'an ephemeral disk larger than the cache',
      {
        hardwareProfile: { vmSize: 'Standard_D4ds_v5' },
        storageProfile: { osDisk: { ...EPHEMERAL, diskSizeGB: 128 } },
      },
      409,
      'NotSupported',
    ],
    [
      'an ephemeral disk with a write cache',
      {
        hardwareProfile: { vmSize: 'Standard_D64s_v3' },
        storageProfile: { osDisk: { ...EPHEMERAL, caching: 'ReadWrite', diskSizeGB: 128 } },
      },
      400,
      'InvalidParameter',
    ],
    [
      'trusted launch on a size that does not support it',
      {
        hardwareProfile: { vmSize: 'Standard_D2ps_v5' },
        securityProfile: { securityType: 'TrustedLaunch', uefiSettings: { vTpmEnabled: true } },
      },
      400,
      'BadRequest',
    ],
    [
      'an image for another architecture',
      {
        hardwareProfile: { vmSize: 'Standard_D2ps_v5' },
        storageProfile: {
          imageReference: {
            communityGalleryImageId:
              '/CommunityGalleries/AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2/images/2204gen2containerd/versions/202610.15.0',
          },
        },
      },
      400,
      'BadRequest',
    ],
    [
      'an unknown image version',
      {
        storageProfile: {
          imageReference: {
            communityGalleryImageId:
              '/CommunityGalleries/AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2/images/2204gen2containerd/versions/1.0.0',
          },
        },
      },
      404,
      'GalleryImageNotFound',
    ],
    [
      'an unknown disk encryption set',
      { storageProfile: { osDisk: { createOption: 'FromImage', managedDisk: { diskEncryptionSet: { id: '/no' } } } } },
      404,
      'NotFound',
    ],
    ['a tag with a slash', { tags: { 'a/b': 'c' } }, 400, 'InvalidTagNameCharacters'],
  ])('refuse %s', async (_what, more, statusCode, code) => {
    const nic = await fixture.createInterface('refused');
    await expect(
      machines().createOrUpdate(fixture.group, 'refused', fixture.machineOn(nic.id ?? '', more), POLL),
    ).rejects.toMatchObject({ statusCode, code });
    expect(fixture.arm.virtualMachines()).toEqual([]);
  });

  it('refuse changes of immutable properties, and an interface or disk of another VM', async () => {
    const { group } = fixture;
    const nic = await fixture.createInterface('one');
    const put = (more: Partial<VirtualMachine>, name = 'one') =>
      machines().createOrUpdate(group, name, fixture.machineOn(nic.id ?? '', more), POLL);
    await put({});
    for (const change of [
      { zones: ['1'] },
      { osProfile: { computerName: 'one', adminUsername: 'azureuser', customData: btoa('other') } },
      { priority: 'Spot' },
    ]) {
      await expect(put(change)).rejects.toMatchObject({ statusCode: 409, code: 'PropertyChangeNotAllowed' });
    }
    await expect(put({}, 'two')).rejects.toMatchObject({ statusCode: 400, code: 'NicInUse' });
    await expect(interfaces().beginDeleteAndWait(group, 'one', POLL)).rejects.toMatchObject({ code: 'NicInUse' });
    const other = await fixture.createInterface('other');
    const disk = fixture.machineOn('one');
    await expect(
      machines().createOrUpdate(
        group,
        'other',
        { ...fixture.machineOn(other.id ?? ''), storageProfile: disk.storageProfile ?? {} },
        POLL,
      ),
    ).rejects.toMatchObject({ statusCode: 409, code: 'ConflictingUserInput' });
    await expect(
      machines().createOrUpdate(group, 'three', fixture.machineOn(`${nic.id ?? ''}-missing`), POLL),
    ).rejects.toMatchObject({ statusCode: 404 });
    await interfaces().beginDeleteAndWait(group, 'other', POLL);
  });

  it('leave interface and disk when the delete option is Detach', async () => {
    const { group, compute } = fixture;
    const nic = await fixture.createInterface('kept');
    const body = fixture.machineOn(nic.id ?? '', {
      networkProfile: { networkInterfaces: [{ id: nic.id ?? '', deleteOption: 'Detach' }] },
      storageProfile: { osDisk: { name: 'kept', createOption: 'FromImage', deleteOption: 'Detach', diskSizeGB: 64 } },
    });
    await machines().createOrUpdate(group, 'kept', body, POLL);
    await machines().delete(group, 'kept', POLL);
    expect((await interfaces().get(group, 'kept')).virtualMachine).toBeUndefined();
    const disk = await compute.disks.get(group, 'kept');
    expect(disk.diskState).toBe('Unattached');
    expect(disk.managedBy).toBeUndefined();
    await compute.disks.delete(group, 'kept', POLL);
    await interfaces().beginDeleteAndWait(group, 'kept', POLL);
  });

  it('fail at once or late with an injected fault, and are created again by another PUT', async () => {
    const { group } = fixture;
    const nic = await fixture.createInterface('one');
    const error = new ArmError(409, 'AllocationFailed', 'No room.');
    const put = () => machines().createOrUpdate(group, 'one', fixture.machineOn(nic.id ?? ''), POLL);
    faults.set('virtualMachines.createOrUpdate', { kind: 'refuse', error });
    await expect(put()).rejects.toMatchObject({ statusCode: 409, code: 'AllocationFailed' });
    faults.set('virtualMachines.createOrUpdate', { kind: 'failLate', error });
    await expect(put()).rejects.toThrow('AllocationFailed. No room.');
    const failed = await machines().get(group, 'one', { expand: 'instanceView' });
    expect(failed.provisioningState).toBe('Failed');
    expect(failed.instanceView?.statuses?.[0]?.code).toBe('ProvisioningState/failed/AllocationFailed');
    expect(events).toEqual([]);
    faults.clear();
    expect((await put()).provisioningState).toBe('Succeeded');
    expect(events.map(({ type }) => type)).toEqual(['created']);
  });

  it('never run when they are deleted while they are created', async () => {
    const slow = await ArmFixture.start({ durations: { virtualMachineCreate: 600_000 } });
    try {
      const seen: string[] = [];
      slow.arm.onVirtualMachine(({ type }) => seen.push(type));
      const nic = await slow.createInterface('one');
      const { virtualMachines } = slow.compute;
      const creation = virtualMachines.createOrUpdate(slow.group, 'one', slow.machineOn(nic.id ?? ''), POLL);
      await creation.submitted();
      expect((await virtualMachines.get(slow.group, 'one')).provisioningState).toBe('Creating');
      await virtualMachines.delete(slow.group, 'one', POLL);
      await expect(creation).rejects.toThrow('OperationPreempted');
      expect(seen).toEqual(['deleted']);
    } finally {
      await slow.close();
    }
  });

  it('run, and their interfaces are ready, before an operation that finishes late ends', async () => {
    const { group } = fixture;
    const late = { kind: 'finishLate', milliseconds: 600_000 } as const;
    for (const kind of ['virtualMachines', 'networkInterfaces']) faults.set(`${kind}.createOrUpdate`, late);
    await interfaces().beginCreateOrUpdate(group, 'one', {
      location: fixture.arm.location,
      ipConfigurations: [{ name: 'one', primary: true, subnet: { id: fixture.arm.network.subnetId } }],
    });
    const nic = await eventually('the interface to be ready', async () => {
      const found = await interfaces().get(group, 'one');
      return found.provisioningState === 'Succeeded' ? found : undefined;
    });
    await machines()
      .createOrUpdate(group, 'one', fixture.machineOn(nic.id ?? ''), POLL)
      .submitted();
    await eventually('the VM to run', async () => (events.length > 0 ? true : undefined));
    expect((await machines().get(group, 'one')).provisioningState).toBe('Creating');
    expect(await powerOf('one')).toBe('PowerState/running');
    faults.clear();
    await machines().delete(group, 'one', POLL);
    expect(events.map(({ type }) => type)).toEqual(['created', 'deleted']);
  });

  it('are deleted or deallocated by their eviction policy', async () => {
    const { group } = fixture;
    const spot = { priority: 'Spot', billingProfile: { maxPrice: -1 } } as const;
    await fixture.createMachine('gone', { ...spot, evictionPolicy: 'Delete' });
    await fixture.createMachine('off', { ...spot, evictionPolicy: 'Deallocate' });
    expect(fixture.arm.preempt('gone')).toBe(true);
    expect(fixture.arm.preempt('off')).toBe(true);
    expect(fixture.arm.preempt('missing')).toBe(false);
    await expect(machines().get(group, 'gone')).rejects.toMatchObject({ statusCode: 404 });
    expect(await powerOf('off')).toBe('PowerState/deallocated');
    expect(events.map(({ type, vm }) => `${type} ${vm.name}`)).toEqual([
      'created gone',
      'created off',
      'deleted gone',
      'stopped off',
    ]);
    await fixture.createMachine('regular');
    await expect(machines().simulateEviction(group, 'regular')).rejects.toMatchObject({ code: 'OperationNotAllowed' });
  });
});
