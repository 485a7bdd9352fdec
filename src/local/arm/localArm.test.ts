import { ComputeManagementClient, type VirtualMachine } from '@azure/arm-compute';
import { NetworkManagementClient } from '@azure/arm-network';
import { ClientSecretCredential } from '@azure/identity';
import { Agent, request } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SeededRandom } from '../../clock/seededRandom.ts';
import { SystemClock } from '../../clock/systemClock.ts';
import { ArmError } from './armError.ts';
import type { Fault, FaultPlan } from './faultPlan.ts';
import { LocalArm } from './localArm.ts';
import type { VirtualMachineEvent } from './virtualMachines.ts';

const QUICK = { networkInterface: 5, virtualMachineCreate: 30, virtualMachineDelete: 30, extension: 5 };
const POLL = { updateIntervalInMs: 5 };

describe('LocalArm with the official SDKs', () => {
  let arm: LocalArm;
  let compute: ComputeManagementClient;
  let network: NetworkManagementClient;
  let credential: ClientSecretCredential;
  let group: string;
  let faults: Map<string, Fault>;
  let events: VirtualMachineEvent[];

  beforeEach(async () => {
    faults = new Map();
    events = [];
    const plan: FaultPlan = { before: ({ name }) => faults.get(name) };
    arm = new LocalArm({ clock: new SystemClock(), random: new SeededRandom(1), durations: QUICK, faults: plan });
    await arm.listen();
    arm.onVirtualMachine((event) => events.push(event));
    group = arm.nodeResourceGroup;
    const { tenantId, clientId, clientSecret } = arm.credentials;
    const tlsOptions = { ca: arm.caPem };
    credential = new ClientSecretCredential(tenantId, clientId, clientSecret, {
      authorityHost: arm.endpoint,
      disableInstanceDiscovery: true,
      tlsOptions,
    });
    const options = { endpoint: arm.endpoint, tlsOptions, retryOptions: { maxRetries: 0 } };
    compute = new ComputeManagementClient(credential, arm.subscriptionId, options);
    network = new NetworkManagementClient(credential, arm.subscriptionId, options);
  });

  afterEach(() => arm.close());

  function createInterface(name: string) {
    return network.networkInterfaces.beginCreateOrUpdateAndWait(
      group,
      name,
      {
        location: arm.location,
        tags: { 'karpenter.sh_nodepool': 'default' },
        ipConfigurations: [{ name, primary: true, subnet: { id: arm.network.subnetId } }],
      },
      POLL,
    );
  }

  function machineOn(interfaceId: string, overrides: Partial<VirtualMachine> = {}): VirtualMachine {
    return {
      location: arm.location,
      zones: ['2'],
      tags: { 'karpenter.sh_nodepool': 'default' },
      hardwareProfile: { vmSize: 'Standard_D2s_v5' },
      storageProfile: {
        imageReference: { communityGalleryImageId: '/CommunityGalleries/g/images/i/versions/1' },
        osDisk: { name: 'disk-1', createOption: 'FromImage', deleteOption: 'Delete', diskSizeGB: 128 },
      },
      osProfile: { computerName: 'one', adminUsername: 'azureuser', customData: btoa('#!/bin/bash\n') },
      networkProfile: { networkInterfaces: [{ id: interfaceId, primary: true, deleteOption: 'Delete' }] },
      ...overrides,
    };
  }

  it('creates, shows, lists and deletes a machine with its interface and disk', async () => {
    const nic = await createInterface('one');
    expect(nic.provisioningState).toBe('Succeeded');
    expect(nic.ipConfigurations?.[0]?.privateIPAddress).toBe('10.224.0.4');

    const created = await compute.virtualMachines.createOrUpdate(group, 'one', machineOn(nic.id ?? ''), POLL);
    expect(created.provisioningState).toBe('Succeeded');
    expect(created.osProfile?.customData).toBeUndefined();
    expect(events).toMatchObject([
      { type: 'created', vm: { name: 'one', zone: '2', vCPUs: 2, memoryGiB: 8, privateIPAddress: '10.224.0.4' } },
    ]);
    expect(atob(events[0]?.vm.customData ?? '')).toBe('#!/bin/bash\n');

    const view = await compute.virtualMachines.instanceView(group, 'one');
    expect(view.statuses?.map((status) => status.code)).toEqual(['ProvisioningState/succeeded', 'PowerState/running']);
    const names: (string | undefined)[] = [];
    for await (const machine of compute.virtualMachines.list(group)) names.push(machine.name);
    expect(names).toEqual(['one']);
    const bound = await network.networkInterfaces.get(group, 'one');
    expect(bound.virtualMachine?.id).toBe(created.id);

    await compute.virtualMachines.delete(group, 'one', { ...POLL, forceDeletion: true });
    await expect(compute.virtualMachines.get(group, 'one')).rejects.toMatchObject({
      statusCode: 404,
      code: 'ResourceNotFound',
    });
    await expect(network.networkInterfaces.get(group, 'one')).rejects.toMatchObject({ statusCode: 404 });
    const disks = [];
    for await (const disk of compute.disks.listByResourceGroup(group)) disks.push(disk);
    expect(disks).toEqual([]);
    expect(events.map(({ type }) => type)).toEqual(['created', 'deleted']);
  });

  it('keeps an interface that a machine uses, and lets it go when it was not made to go with the machine', async () => {
    const nic = await createInterface('kept');
    const machine = machineOn(nic.id ?? '', {
      networkProfile: { networkInterfaces: [{ id: nic.id ?? '', deleteOption: 'Detach' }] },
    });
    await compute.virtualMachines.createOrUpdate(group, 'kept', machine, POLL);
    await expect(network.networkInterfaces.beginDeleteAndWait(group, 'kept', POLL)).rejects.toMatchObject({
      statusCode: 400,
      code: 'NicInUse',
    });
    await compute.virtualMachines.delete(group, 'kept', POLL);
    const free = await network.networkInterfaces.get(group, 'kept');
    expect(free.virtualMachine).toBeUndefined();
    await network.networkInterfaces.beginDeleteAndWait(group, 'kept', POLL);
    await expect(network.networkInterfaces.get(group, 'kept')).rejects.toMatchObject({ statusCode: 404 });
  });

  it('refuses what Azure refuses, with the same codes', async () => {
    const nic = await createInterface('one');
    const id = nic.id ?? '';
    const put = (machine: VirtualMachine) => compute.virtualMachines.createOrUpdate(group, 'one', machine, POLL);
    await expect(put(machineOn(id, { hardwareProfile: { vmSize: 'Standard_X1' } }))).rejects.toMatchObject({
      statusCode: 400,
      code: 'InvalidParameter',
    });
    await expect(put(machineOn(id, { zones: ['7'] }))).rejects.toMatchObject({ code: 'InvalidAvailabilityZone' });
    const unavailable = machineOn(id, { hardwareProfile: { vmSize: 'Standard_NC24ads_A100_v4' } });
    await expect(put(unavailable)).rejects.toMatchObject({ statusCode: 409, code: 'SkuNotAvailable' });
    await expect(put(machineOn(`${id}-missing`))).rejects.toMatchObject({ statusCode: 404 });
    await put(machineOn(id));
    await expect(put(machineOn(id, { zones: ['1'] }))).rejects.toMatchObject({ code: 'PropertyChangeNotAllowed' });
    await expect(compute.virtualMachines.createOrUpdate(group, 'two', machineOn(id), POLL)).rejects.toMatchObject({
      code: 'NicInUse',
    });
    await expect(compute.virtualMachines.get('nowhere', 'one')).rejects.toMatchObject({
      code: 'ResourceGroupNotFound',
    });
    await expect(
      network.networkInterfaces.beginCreateOrUpdateAndWait(group, 'lost', {
        location: arm.location,
        ipConfigurations: [{ name: 'lost', subnet: { id: `${arm.network.subnetId}-missing` } }],
      }),
    ).rejects.toMatchObject({ code: 'InvalidResourceReference' });
  });

  it('lets faults refuse a request or fail an operation late', async () => {
    const nic = await createInterface('one');
    const error = new ArmError(409, 'AllocationFailed', 'No room.');
    faults.set('virtualMachines.createOrUpdate', { kind: 'refuse', error });
    const put = () => compute.virtualMachines.createOrUpdate(group, 'one', machineOn(nic.id ?? ''), POLL);
    await expect(put()).rejects.toMatchObject({ statusCode: 409, code: 'AllocationFailed' });
    faults.set('virtualMachines.createOrUpdate', { kind: 'failLate', error });
    await expect(put()).rejects.toThrow('AllocationFailed. No room.');
    const failed = await compute.virtualMachines.get(group, 'one');
    expect(failed.provisioningState).toBe('Failed');
    expect(events).toEqual([]);
  });

  it('sells sizes with the capabilities that provisioners read', async () => {
    const skus = new Map<string, Record<string, string | undefined>>();
    for await (const sku of compute.resourceSkus.list({ filter: `location eq '${arm.location}'` })) {
      const capabilities = sku.capabilities?.map(({ name, value }) => [name ?? '', value] as const) ?? [];
      skus.set(sku.name ?? '', Object.fromEntries(capabilities));
      expect(sku.locationInfo?.[0]?.zones?.length).toBeGreaterThan(0);
    }
    expect(skus.size).toBeGreaterThan(350);
    expect(skus.get('Standard_D4ps_v6')).toMatchObject({
      vCPUs: '4',
      MemoryGB: '16',
      CpuArchitectureType: 'Arm64',
      HyperVGenerations: 'V2',
    });
    expect(skus.get('Standard_D64s_v3')?.['CachedDiskBytes']).toBe('1717986918400');
    expect(skus.get('Standard_D128ds_v6')?.['NvmeDiskSizeInMiB']).toBe('7208960');
    expect(skus.get('Standard_NC16as_T4_v3')).toMatchObject({ GPUs: '1', CachedDiskBytes: '154618822656' });
  });

  it('asks for a token and an api-version, and says so in the shape of ARM', async () => {
    const dispatcher = new Agent({ connect: { ca: arm.caPem } });
    const path = `${arm.endpoint}/subscriptions/${arm.subscriptionId}`;
    const anonymous = await request(path, { dispatcher });
    expect(anonymous.statusCode).toBe(401);
    expect(anonymous.headers['x-ms-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(await anonymous.body.json()).toMatchObject({ error: { code: 'AuthenticationFailed' } });
    const token = await credential.getToken('https://management.azure.com/.default');
    const headers = { authorization: `Bearer ${token.token}` };
    const unversioned = await request(path, { dispatcher, headers });
    expect(await unversioned.body.json()).toMatchObject({ error: { code: 'MissingApiVersionParameter' } });
    const good = await request(`${path}?api-version=2022-12-01`, { dispatcher, headers });
    expect(await good.body.json()).toMatchObject({ subscriptionId: arm.subscriptionId, state: 'Enabled' });
    const forged = { authorization: `Bearer ${token.token.slice(0, -2)}xx` };
    const refused = await request(`${path}?api-version=2022-12-01`, { dispatcher, headers: forged });
    expect(refused.statusCode).toBe(401);
    await refused.body.dump();
    await dispatcher.close();
  });

  it('pages the retail price list', async () => {
    const dispatcher = new Agent({ connect: { ca: arm.caPem } });
    const filter = "priceType eq 'Consumption' and armRegionName eq 'westeurope' and serviceFamily eq 'Compute'";
    const prices = new Map<string, number>();
    let pages = 0;
    let next: string | null = `${arm.endpoint}/api/retail/prices?$filter=${encodeURIComponent(filter)}`;
    while (next !== null && pages < 50) {
      const response = await request(next, { dispatcher });
      const page = (await response.body.json()) as {
        Items: { skuName: string; retailPrice: number; armRegionName: string }[];
        NextPageLink: string | null;
      };
      for (const item of page.Items) {
        expect(item.armRegionName).toBe('westeurope');
        prices.set(item.skuName, item.retailPrice);
      }
      next = page.NextPageLink;
      pages += 1;
    }
    expect(pages).toBeGreaterThan(3);
    expect(prices.get('D2s v5')).toBe(0.115);
    expect(prices.get('D2s v5 Spot')).toBe(0.02875);
    expect(prices.has('B2s v2 Spot')).toBe(false);
    await dispatcher.close();
  });
});
