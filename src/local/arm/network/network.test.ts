import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../clock/virtualClock.ts';
import { ArmFixture, collect, POLL } from '../../../../test/fixtures/local/armFixture.ts';

describe('networks through @azure/arm-network', () => {
  let fixture: ArmFixture;

  beforeAll(async () => {
    fixture = await ArmFixture.start({ pageSize: 3, durations: { interfaceReservation: 60_000 } });
  });
  afterAll(() => fixture.close());

  const location = (): string => fixture.arm.location;

  it('shows the network that AKS creates for a cluster', async () => {
    const { network, group } = fixture;
    const groups = await collect(network.networkSecurityGroups.list(group));
    expect(groups.map(({ name }) => name)).toEqual(['aks-agentpool-10000000-nsg']);
    const [virtualNetwork] = await collect(network.virtualNetworks.list(group));
    expect(virtualNetwork).toMatchObject({
      name: 'aks-vnet-10000000',
      resourceGuid: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      subnets: [{ name: 'aks-subnet', addressPrefix: '10.224.0.0/16' }],
    });
    const [balancer] = await collect(network.loadBalancers.list(group));
    expect(balancer?.backendAddressPools?.map(({ name }) => name)).toEqual(['aksOutboundBackendPool', 'kubernetes']);
    const subnet = await network.subnets.get(group, 'AKS-VNET-10000000', 'aks-subnet');
    expect(subnet.id).toBe(fixture.arm.network.subnetId);
  });

  it('creates and deletes networks and subnets, and refuses overlapping ranges', async () => {
    const { network, group } = fixture;
    const put = (name: string, prefix: string) =>
      network.subnets.beginCreateOrUpdateAndWait(group, 'mine', name, { addressPrefix: prefix }, POLL);
    await expect(put('early', '10.1.0.0/24')).rejects.toMatchObject({ code: 'ParentResourceNotFound' });
    const made = await network.virtualNetworks.beginCreateOrUpdateAndWait(
      group,
      'mine',
      {
        location: location(),
        addressSpace: { addressPrefixes: ['10.1.0.0/16'] },
        subnets: [{ name: 'first', addressPrefix: '10.1.0.0/24' }],
      },
      POLL,
    );
    expect(made).toMatchObject({ provisioningState: 'Succeeded', subnets: [{ name: 'first' }] });
    await put('second', '10.1.1.0/24');
    await expect(put('third', '10.1.1.128/25')).rejects.toMatchObject({ code: 'NetcfgSubnetRangesOverlap' });
    await expect(put('third', '10.2.0.0/24')).rejects.toMatchObject({ code: 'NetcfgSubnetRangeOutsideVnet' });
    await expect(put('third', '10.1.0.1/24')).rejects.toMatchObject({ code: 'InvalidCIDRNotation' });
    expect((await collect(network.subnets.list(group, 'mine'))).map(({ name }) => name)).toEqual(['first', 'second']);
    const tagged = await network.virtualNetworks.updateTags(group, 'mine', { tags: { a: 'b' } });
    expect(tagged.tags).toEqual({ a: 'b' });
    await network.virtualNetworks.beginDeleteAndWait(group, 'mine', POLL);
    await expect(network.subnets.get(group, 'mine', 'first')).rejects.toMatchObject({ statusCode: 404 });
  });

  it('allocates addresses until a subnet is full, and frees them', async () => {
    const { network, group } = fixture;
    await network.virtualNetworks.beginCreateOrUpdateAndWait(
      group,
      'small',
      {
        location: location(),
        addressSpace: { addressPrefixes: ['10.9.0.0/28'] },
        subnets: [{ name: 'tiny', addressPrefix: '10.9.0.8/29' }],
      },
      POLL,
    );
    const subnet = { id: (await network.subnets.get(group, 'small', 'tiny')).id ?? '' };
    const make = (name: string, count: number) =>
      fixture.createInterface(name, {
        ipConfigurations: Array.from({ length: count }, (_, index) => ({ name: `ip${index}`, subnet })),
      });
    const two = await make('two', 2);
    expect(two.ipConfigurations?.map((each) => each.privateIPAddress)).toEqual(['10.9.0.12', '10.9.0.13']);
    await expect(make('more', 2)).rejects.toMatchObject({
      statusCode: 400,
      code: 'SubnetIsFull',
      message: 'Subnet tiny with address prefix 10.9.0.8/29 does not have enough capacity for 2 IP addresses.',
    });
    await make('one', 1);
    expect((await network.subnets.get(group, 'small', 'tiny')).ipConfigurations).toHaveLength(3);
    await expect(network.subnets.beginDeleteAndWait(group, 'small', 'tiny', POLL)).rejects.toMatchObject({
      code: 'InUseSubnetCannotBeDeleted',
    });
    await expect(network.virtualNetworks.beginDeleteAndWait(group, 'small', POLL)).rejects.toMatchObject({
      code: 'InUseSubnetCannotBeDeleted',
    });
    await network.networkInterfaces.beginDeleteAndWait(group, 'two', POLL);
    const chosen = await fixture.createInterface('chosen', {
      ipConfigurations: [{ name: 'a', subnet, privateIPAllocationMethod: 'Static', privateIPAddress: '10.9.0.13' }],
    });
    expect(chosen.ipConfigurations?.[0]?.privateIPAddress).toBe('10.9.0.13');
    for (const [address, code] of [
      ['10.9.0.13', 'PrivateIPAddressIsAllocated'],
      ['10.9.0.8', 'PrivateIPAddressInReservedRange'],
      ['10.10.0.1', 'PrivateIPAddressNotInSubnet'],
    ] as const) {
      await expect(
        fixture.createInterface('clash', {
          ipConfigurations: [{ name: 'a', subnet, privateIPAllocationMethod: 'Static', privateIPAddress: address }],
        }),
      ).rejects.toMatchObject({ code });
    }
    await network.networkInterfaces.beginDeleteAndWait(group, 'one', POLL);
    await network.networkInterfaces.beginDeleteAndWait(group, 'chosen', POLL);
    await network.virtualNetworks.beginDeleteAndWait(group, 'small', POLL);
  });

  it('adds interfaces to pools, and refuses references to missing resources', async () => {
    const { network, group } = fixture;
    const [balancer] = await collect(network.loadBalancers.list(group));
    const pool = balancer?.backendAddressPools?.[1]?.id ?? '';
    const configuration = { name: 'a', subnet: { id: fixture.arm.network.subnetId } };
    const made = await fixture.createInterface('pooled', {
      ipConfigurations: [{ ...configuration, loadBalancerBackendAddressPools: [{ id: pool }] }],
    });
    expect(made).toMatchObject({
      provisioningState: 'Succeeded',
      macAddress: expect.stringMatching(/^00-0D-3A/) as string,
    });
    const shown = await network.loadBalancerBackendAddressPools.get(group, 'kubernetes', 'kubernetes');
    expect(shown.backendIPConfigurations?.map(({ id }) => id)).toEqual([made.ipConfigurations?.[0]?.id]);
    const again = await fixture.createInterface('pooled', { tags: { a: 'b' } });
    expect(again.ipConfigurations?.[0]?.privateIPAddress).not.toBe('');
    await expect(
      fixture.createInterface('lost', {
        ipConfigurations: [{ ...configuration, loadBalancerBackendAddressPools: [{ id: `${pool}-gone` }] }],
      }),
    ).rejects.toMatchObject({
      statusCode: 400,
      code: 'InvalidResourceReference',
      message: expect.stringContaining(`${pool}-gone`) as string,
    });
    const patched = await network.networkInterfaces.updateTags(group, 'pooled', { tags: { only: 'this' } });
    expect(patched.tags).toEqual({ only: 'this' });
    await expect(network.networkInterfaces.get(group, 'missing')).rejects.toMatchObject({ code: 'ResourceNotFound' });
    await network.networkInterfaces.beginDeleteAndWait(group, 'pooled', POLL);
  });

  it('reserves an interface for a VM that was refused for quota', async () => {
    const { network, group, compute, arm } = fixture;
    const nic = await fixture.createInterface('held');
    arm.setQuota('standardDSv5Family', 0);
    const body = fixture.machineOn(nic.id ?? '');
    await expect(compute.virtualMachines.createOrUpdate(group, 'held', body, POLL)).rejects.toMatchObject({
      statusCode: 409,
      code: 'OperationNotAllowed',
      message: expect.stringMatching(
        /exceeding approved standardDSv5Family Cores quota.* Current Limit: 0, /,
      ) as string,
    });
    arm.setQuota('standardDSv5Family', undefined);
    await expect(network.networkInterfaces.beginDeleteAndWait(group, 'held', POLL)).rejects.toMatchObject({
      statusCode: 400,
      code: 'NicReservedForAnotherVm',
    });
    await expect(compute.virtualMachines.createOrUpdate(group, 'another', body, POLL)).rejects.toMatchObject({
      code: 'NicReservedForAnotherVm',
    });
    await compute.virtualMachines.createOrUpdate(group, 'held', body, POLL);
    await compute.virtualMachines.delete(group, 'held', POLL);
    await expect(network.networkInterfaces.get(group, 'held')).rejects.toMatchObject({ statusCode: 404 });
  });

  it('keeps security groups in use, pages lists and checks ETags', async () => {
    const { network, group } = fixture;
    for (const name of ['g1', 'g2', 'g3', 'g4']) {
      await network.networkSecurityGroups.beginCreateOrUpdateAndWait(group, name, { location: location() }, POLL);
    }
    expect((await collect(network.networkSecurityGroups.list(group))).map(({ name }) => name)).toEqual([
      'aks-agentpool-10000000-nsg',
      'g1',
      'g2',
      'g3',
      'g4',
    ]);
    const held = await network.networkSecurityGroups.get(group, 'g1');
    await fixture.createInterface('guarded', { networkSecurityGroup: { id: held.id ?? '' } });
    await expect(network.networkSecurityGroups.beginDeleteAndWait(group, 'g1', POLL)).rejects.toMatchObject({
      code: 'InUseNetworkSecurityGroupCannotBeDeleted',
    });
    await network.networkInterfaces.beginDeleteAndWait(group, 'guarded', POLL);
    await network.networkSecurityGroups.beginDeleteAndWait(group, 'g1', POLL);
    const path = `resourceGroups/${group}/providers/Microsoft.Network/networkSecurityGroups/g2?api-version=2024-05-01`;
    const body = { location: location(), tags: { a: 'b' } };
    const before = (await fixture.ask(path)).headers['etag'] as string;
    const stale = await fixture.ask(path, { method: 'PUT', body, headers: { 'if-match': 'W/"other"' } });
    expect(stale).toMatchObject({ status: 412, body: { error: { code: 'PreconditionFailed' } } });
    const fresh = await fixture.ask(path, { method: 'PUT', body, headers: { 'if-match': before } });
    expect(fresh.status).toBe(200);
    expect(fresh.headers['azure-asyncoperation']).toContain(
      '/providers/Microsoft.Network/locations/eastus/operations/',
    );
  });

  it('refuses a change of a resource while another is in progress', async () => {
    const clock = new VirtualClock(Date.now());
    const slow = await ArmFixture.start({ clock });
    const path = `resourceGroups/${slow.group}/providers/Microsoft.Network/routeTables/r?api-version=2024-05-01`;
    const body = { location: slow.arm.location, properties: { routes: [] } };
    const first = await slow.ask(path, { method: 'PUT', body });
    expect(first).toMatchObject({ status: 201, body: { properties: { provisioningState: 'Updating' } } });
    expect(await slow.ask(path, { method: 'PUT', body })).toMatchObject({
      status: 409,
      body: { error: { code: 'AnotherOperationInProgress' } },
    });
    await clock.advance(1000);
    expect((await slow.ask(path)).body).toMatchObject({ properties: { provisioningState: 'Succeeded' } });
    await slow.close();
  });
});
