import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ArmFixture, collect, POLL } from '../../../../test/fixtures/local/armFixture.ts';
import { ArmError } from '../armError.ts';

const UBUNTU = 'AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2';

describe('SKUs, quota, disks and images of Microsoft.Compute, through @azure/arm-compute', () => {
  let fixture: ArmFixture;

  beforeAll(async () => {
    fixture = await ArmFixture.start({ restrictions: [{ size: 'Standard_D96s_v5', zones: ['1', '3'] }] });
  });
  afterAll(() => fixture.close());

  it('lists sizes with capabilities, zones and restrictions', async () => {
    const { arm, compute } = fixture;
    const lift = arm.restrict({ size: 'Standard_E2s_v5', reason: 'QuotaId' });
    const skus = await collect(compute.resourceSkus.list({ filter: `location eq '${arm.location}'` }));
    const sizes = skus.filter(({ resourceType }) => resourceType === 'virtualMachines');
    expect(sizes.length).toBeGreaterThan(350);
    const find = (name: string) => sizes.find((sku) => sku.name === name);
    const capabilities = (name: string): Record<string, string | undefined> =>
      Object.fromEntries(find(name)?.capabilities?.map((each) => [each.name ?? '', each.value]) ?? []);
    expect(capabilities('Standard_D4ps_v6')).toMatchObject({
      vCPUs: '4',
      MemoryGB: '16',
      CpuArchitectureType: 'Arm64',
      HyperVGenerations: 'V2',
    });
    expect(capabilities('Standard_D64s_v3')['CachedDiskBytes']).toBe('1717986918400');
    expect(capabilities('Standard_NC16as_T4_v3')).toMatchObject({ GPUs: '1' });
    expect(find('Standard_D96s_v5')?.restrictions).toEqual([
      {
        type: 'Zone',
        values: ['eastus'],
        restrictionInfo: { locations: ['eastus'], zones: ['1', '3'] },
        reasonCode: 'NotAvailableForSubscription',
      },
    ]);
    expect(find('Standard_E2s_v5')?.restrictions).toMatchObject([{ type: 'Location', reasonCode: 'QuotaId' }]);
    expect(skus.filter(({ resourceType }) => resourceType === 'disks').map(({ name }) => name)).toContain(
      'UltraSSD_LRS',
    );
    expect(await collect(compute.resourceSkus.list({ filter: "location eq 'mars'" }))).toEqual([]);
    const elsewhere = await collect(compute.resourceSkus.list({ filter: "location eq 'westus2'" }));
    expect(new Set(elsewhere.flatMap(({ locations = [] }) => locations))).toEqual(new Set(['westus2']));
    await expect(collect(compute.resourceSkus.list({ filter: "name eq 'x'" }))).rejects.toMatchObject({
      code: 'InvalidParameter',
    });
    const nic = await fixture.createInterface('restricted');
    const body = fixture.machineOn(nic.id ?? '', { hardwareProfile: { vmSize: 'Standard_E2s_v5' } });
    const put = () => compute.virtualMachines.createOrUpdate(fixture.group, 'restricted', body, POLL);
    await expect(put()).rejects.toMatchObject({ statusCode: 409, code: 'SkuNotAvailable' });
    lift();
    await put();
    expect((await collect(compute.virtualMachineSizes.list(arm.location))).length).toBe(sizes.length);
    await compute.virtualMachines.delete(fixture.group, 'restricted', POLL);
  });

  it('counts vCPUs per family, per region and for spot, and refuses VMs that exceed a limit', async () => {
    const { arm, compute, group } = fixture;
    const usages = async (...names: string[]): Promise<Record<string, string>> =>
      Object.fromEntries(
        (await collect(compute.usage.list(arm.location)))
          .filter(({ name }) => names.includes(name?.value ?? ''))
          .map(({ name, currentValue, limit }) => [name?.value ?? '', `${currentValue}/${limit}`]),
      );
    await fixture.createMachine('counted');
    await fixture.createMachine('cheap', { priority: 'Spot', evictionPolicy: 'Delete' });
    expect(await usages('standardDSv5Family', 'cores', 'lowPriorityCores', 'virtualMachines')).toEqual({
      standardDSv5Family: '2/10000',
      cores: '2/100000',
      lowPriorityCores: '2/100000',
      virtualMachines: '2/25000',
    });
    const family = (await collect(compute.usage.list(arm.location))).find(
      ({ name }) => name?.value === 'standardDSv5Family',
    );
    expect(family?.name?.localizedValue).toBe('Standard DSv5 Family vCPUs');
    for (const [counter, text, more] of [
      ['standardDSv5Family', 'standardDSv5Family Cores quota', {}],
      ['cores', 'Total Regional Cores quota', {}],
      ['lowPriorityCores', 'LowPriorityCores quota', { priority: 'Spot', evictionPolicy: 'Delete' }],
    ] as const) {
      arm.setQuota(counter, 3);
      await expect(fixture.createMachine('refused', more)).rejects.toMatchObject({
        statusCode: 409,
        code: 'OperationNotAllowed',
        message: expect.stringContaining(
          `exceeding approved ${text}. Additional details - Deployment Model: Resource Manager, Location: eastus, Current Limit: 3, Current Usage: 2, Additional Required: 2, (Minimum) New Limit Required: 4.`,
        ) as string,
      });
      arm.setQuota(counter, undefined);
    }
    arm.setQuota('cores', 4);
    await expect(
      compute.virtualMachines.update(group, 'counted', { hardwareProfile: { vmSize: 'Standard_D8s_v5' } }, POLL),
    ).rejects.toMatchObject({ code: 'OperationNotAllowed' });
    arm.setQuota('cores', undefined);
    for (const name of ['counted', 'cheap']) await compute.virtualMachines.delete(group, name, POLL);
    expect(await usages('cores', 'lowPriorityCores')).toEqual({ cores: '0/100000', lowPriorityCores: '0/100000' });
    await expect(collect(compute.usage.list('atlantis'))).rejects.toMatchObject({ code: 'NoRegisteredProviderFound' });
  });

  it('creates, attaches and detaches disks', async () => {
    const { arm, compute, group } = fixture;
    const disk = await compute.disks.createOrUpdate(
      group,
      'data',
      {
        location: arm.location,
        zones: ['2'],
        sku: { name: 'StandardSSD_LRS' },
        diskSizeGB: 64,
        creationData: { createOption: 'Empty' },
      },
      POLL,
    );
    expect(disk).toMatchObject({
      provisioningState: 'Succeeded',
      diskState: 'Unattached',
      sku: { name: 'StandardSSD_LRS' },
    });
    const machine = await fixture.createMachine('holder');
    const storageProfile = { dataDisks: [{ lun: 0, createOption: 'Attach', managedDisk: { id: disk.id ?? '' } }] };
    await compute.virtualMachines.update(group, 'holder', { storageProfile }, POLL);
    expect(await compute.disks.get(group, 'data')).toMatchObject({ diskState: 'Attached', managedBy: machine.id });
    await expect(compute.disks.delete(group, 'data', POLL)).rejects.toMatchObject({
      code: 'OperationNotAllowed',
      message: `Disk data is attached to VM ${machine.id ?? ''}.`,
    });
    await compute.virtualMachines.update(group, 'holder', { storageProfile: { dataDisks: [] } }, POLL);
    expect((await compute.disks.get(group, 'data')).diskState).toBe('Unattached');
    const grown = await compute.disks.update(group, 'data', { diskSizeGB: 128, tags: { a: 'b' } }, POLL);
    expect(grown).toMatchObject({ diskSizeGB: 128, tags: { a: 'b' }, zones: ['2'] });
    await compute.disks.delete(group, 'data', POLL);
    await compute.virtualMachines.delete(group, 'holder', POLL);
    expect(await collect(compute.disks.list())).toEqual([]);
    await expect(
      compute.disks.createOrUpdate(group, 'bad', { location: arm.location, creationData: {} } as never, POLL),
    ).rejects.toMatchObject({ code: 'InvalidParameter' });
  });

  it('encrypts disks with disk encryption sets, which cannot be deleted while disks use them', async () => {
    const { arm, compute, group } = fixture;
    const { diskEncryptionSets: sets } = compute;
    const set = await sets.createOrUpdate(
      group,
      'keys',
      { location: arm.location, identity: { type: 'SystemAssigned' }, activeKey: { keyUrl: 'https://vault/keys/k/1' } },
      POLL,
    );
    expect(set).toMatchObject({ provisioningState: 'Succeeded', encryptionType: 'EncryptionAtRestWithCustomerKey' });
    const nic = await fixture.createInterface('secret');
    const body = fixture.machineOn(nic.id ?? '');
    const osDisk = { name: 'secret', createOption: 'FromImage', deleteOption: 'Delete' } as const;
    await compute.virtualMachines.createOrUpdate(
      group,
      'secret',
      { ...body, storageProfile: { osDisk: { ...osDisk, managedDisk: { diskEncryptionSet: { id: set.id ?? '' } } } } },
      POLL,
    );
    expect((await compute.disks.get(group, 'secret')).encryption).toMatchObject({ diskEncryptionSetId: set.id });
    await expect(sets.delete(group, 'keys', POLL)).rejects.toMatchObject({ code: 'OperationNotAllowed' });
    await compute.virtualMachines.delete(group, 'secret', POLL);
    await sets.delete(group, 'keys', POLL);
    await expect(sets.get(group, 'keys')).rejects.toMatchObject({ statusCode: 404, code: 'ResourceNotFound' });
  });

  it('publishes images in community and shared galleries', async () => {
    const { arm, compute } = fixture;
    const versions = await collect(
      compute.communityGalleryImageVersions.list(arm.location, UBUNTU, '2404gen2containerd'),
    );
    expect(versions.map(({ name }) => name)).toEqual(['202606.01.0', '202610.15.0']);
    expect(versions[1]?.publishedDate?.toISOString()).toBe('2026-10-15T00:00:00.000Z');
    const image = await compute.communityGalleryImages.get(arm.location, UBUNTU, '2404containerd');
    expect(image).toMatchObject({ hyperVGeneration: 'V1', architecture: 'x64', osType: 'Linux' });
    const images = await collect(compute.communityGalleryImages.list(arm.location, UBUNTU));
    expect(images.map(({ name }) => name)).not.toContain('2004gen2fipscontainerd');
    await expect(
      collect(compute.communityGalleryImageVersions.list(arm.location, UBUNTU, '2004gen2fipscontainerd')),
    ).rejects.toMatchObject({ statusCode: 404, code: 'GalleryImageNotFound' });
    await expect(compute.communityGalleries.get(arm.location, 'missing')).rejects.toMatchObject({
      code: 'GalleryNotFound',
    });
  });

  it('boots from an image of another subscription only with a token for that subscription', async () => {
    const path = '/sig/token?scope=https://management.azure.com/.default';
    const { Token } = (await fixture.ask(path)).body as { Token: string };
    const nodeImages = await fixture.ask(
      'providers/Microsoft.ContainerService/locations/eastus/nodeImageVersions?api-version=2025-07-02-preview',
    );
    expect((nodeImages.body as { value: unknown[] }).value).toContainEqual({
      fullName: 'AKSUbuntu-2004gen2fipscontainerd-202610.15.0',
      os: 'AKSUbuntu',
      sku: '2004gen2fipscontainerd',
      version: '202610.15.0',
    });
    const nic = await fixture.createInterface('shared');
    const body = {
      location: fixture.arm.location,
      properties: {
        hardwareProfile: { vmSize: 'Standard_D2s_v5' },
        storageProfile: {
          imageReference: {
            id: '/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/AKS-Ubuntu/providers/Microsoft.Compute/galleries/AKSUbuntu/images/2204gen2containerd/versions/202610.15.0',
          },
          osDisk: { createOption: 'FromImage', deleteOption: 'Delete' },
        },
        osProfile: { computerName: 'shared', adminUsername: 'a' },
        networkProfile: { networkInterfaces: [{ id: nic.id, properties: { deleteOption: 'Delete' } }] },
      },
    };
    const vm = `resourceGroups/${fixture.group}/providers/Microsoft.Compute/virtualMachines/shared?api-version=2024-07-01`;
    expect(await fixture.ask(vm, { method: 'PUT', body })).toMatchObject({
      status: 403,
      body: { error: { code: 'LinkedAuthorizationFailed' } },
    });
    const headers = { 'x-ms-authorization-auxiliary': `Bearer ${Token}` };
    expect((await fixture.ask(vm, { method: 'PUT', body, headers })).status).toBe(201);
  });

  it('reports an injected late failure as the failure of the operation', async () => {
    const error = new ArmError(409, 'AllocationFailed', 'No room.', {
      target: 'vmSize',
      details: [{ code: 'a', message: 'b' }],
    });
    expect(error.toBody()).toEqual({
      error: {
        code: 'AllocationFailed',
        message: 'No room.',
        target: 'vmSize',
        details: [{ code: 'a', message: 'b' }],
      },
    });
    const other = await ArmFixture.start({
      faults: { before: ({ name }) => (name === 'disks.createOrUpdate' ? { kind: 'failLate', error } : undefined) },
    });
    const body = { location: 'eastus', creationData: { createOption: 'Empty' as const }, diskSizeGB: 4 };
    await expect(other.compute.disks.createOrUpdate(other.group, 'd', body, POLL)).rejects.toThrow('AllocationFailed');
    expect((await other.compute.disks.get(other.group, 'd')).provisioningState).toBe('Failed');
    await other.close();
  });
});
