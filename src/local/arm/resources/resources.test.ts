import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ArmFixture, collect, POLL } from '../../../../test/fixtures/local/armFixture.ts';

describe('subscriptions, groups and resources of any type', () => {
  let fixture: ArmFixture;

  beforeAll(async () => {
    fixture = await ArmFixture.start({ pageSize: 3 });
  });
  afterAll(() => fixture.close());

  it('shows the subscription, its tenant and its locations with their zones', async () => {
    const { subscriptions, arm } = fixture;
    const [only, ...others] = await collect(subscriptions.subscriptions.list());
    expect(others).toEqual([]);
    expect(only).toMatchObject({ subscriptionId: arm.subscriptionId, state: 'Enabled' });
    expect((await subscriptions.subscriptions.get(arm.subscriptionId)).displayName).toBe('nodewright local');
    expect((await collect(subscriptions.tenants.list())).map(({ tenantId }) => tenantId)).toEqual([
      arm.credentials.tenantId,
    ]);
    const locations = await collect(subscriptions.subscriptions.listLocations(arm.subscriptionId));
    expect(locations.find(({ name }) => name === 'eastus')).toMatchObject({
      displayName: 'East US',
      regionalDisplayName: '(US) East US',
      type: 'Region',
      metadata: { regionType: 'Physical', pairedRegion: [{ name: 'westus' }] },
      availabilityZoneMappings: [
        { logicalZone: '1', physicalZone: 'eastus-az1' },
        { logicalZone: '2', physicalZone: 'eastus-az3' },
        { logicalZone: '3', physicalZone: 'eastus-az2' },
      ],
    });
    await expect(subscriptions.subscriptions.get('11111111-1111-1111-1111-111111111111')).rejects.toMatchObject({
      statusCode: 404,
      code: 'SubscriptionNotFound',
    });
  });

  it('has registered all providers, with their api-versions', async () => {
    const compute = await fixture.resources.providers.get('microsoft.compute');
    expect(compute).toMatchObject({ namespace: 'Microsoft.Compute', registrationState: 'Registered' });
    const machines = compute.resourceTypes?.find(({ resourceType }) => resourceType === 'virtualMachines');
    expect(machines?.apiVersions).toContain('2024-07-01');
    expect(machines?.locations).toContain('East US');
    await expect(fixture.resources.providers.get('Microsoft.Nothing')).rejects.toMatchObject({
      code: 'InvalidResourceNamespace',
    });
    expect((await collect(fixture.resources.providers.list())).length).toBeGreaterThan(4);
    const service = { namespace: 'Microsoft.ContainerService', registrationState: 'Registered' };
    expect(await fixture.resources.providers.get('Microsoft.ContainerService')).toMatchObject(service);
    expect(await fixture.resources.providers.register('Microsoft.ContainerService')).toMatchObject(service);
    // This path takes the api-versions of ARM, not those of the provider.
    expect(await fixture.ask('providers/Microsoft.ContainerService?api-version=2021-04-01')).toMatchObject({
      status: 200,
      body: service,
    });
  });

  it('creates groups, and deletes them with all their resources', async () => {
    const { resources, network, compute, arm } = fixture;
    const groups = resources.resourceGroups;
    const made = await groups.createOrUpdate('Mine', { location: 'East US', tags: { a: 'b' } });
    expect(made).toMatchObject({ name: 'Mine', location: 'eastus', properties: { provisioningState: 'Succeeded' } });
    expect((await groups.get('mine')).name).toBe('Mine');
    expect((await groups.checkExistence('mine')).body).toBe(true);
    expect((await groups.checkExistence('missing')).body).toBe(false);
    expect((await groups.update('mine', { tags: { c: 'd' } })).tags).toEqual({ c: 'd' });
    const filtered = await collect(groups.list({ filter: "tagName eq 'c' and tagValue eq 'd'" }));
    expect(filtered.map(({ name }) => name)).toEqual(['Mine']);
    await expect(groups.createOrUpdate('mine', { location: 'westus2' })).rejects.toMatchObject({
      statusCode: 409,
      code: 'InvalidResourceGroupLocation',
    });
    await expect(groups.createOrUpdate('other', { location: 'atlantis' })).rejects.toMatchObject({
      code: 'LocationNotAvailableForResourceGroup',
    });
    const nic = await network.networkInterfaces.beginCreateOrUpdateAndWait(
      'mine',
      'n',
      { location: arm.location, ipConfigurations: [{ name: 'a', subnet: { id: arm.network.subnetId } }] },
      POLL,
    );
    await compute.virtualMachines.createOrUpdate('mine', 'n', fixture.machineOn(nic.id ?? ''), POLL);
    const gone: string[] = [];
    const stop = arm.onVirtualMachine(({ type, vm }) => gone.push(`${type} ${vm.name}`));
    await groups.beginDeleteAndWait('mine', POLL);
    stop();
    expect(gone).toEqual(['deleted n']);
    await expect(groups.get('mine')).rejects.toMatchObject({ statusCode: 404, code: 'ResourceGroupNotFound' });
    await expect(network.networkInterfaces.get('mine', 'n')).rejects.toMatchObject({ code: 'ResourceGroupNotFound' });
    await expect(groups.beginDeleteAndWait('mine', POLL)).rejects.toMatchObject({ statusCode: 404 });
  });

  it('reads, writes and deletes resources of any type by id', async () => {
    const { resources, arm, group } = fixture;
    const id = `/subscriptions/${arm.subscriptionId}/resourceGroups/${group}/providers/Microsoft.Network/routeTables/byid`;
    const version = '2024-05-01';
    const made = await resources.resources.beginCreateOrUpdateByIdAndWait(
      id,
      version,
      { location: arm.location, tags: { a: 'b' } },
      POLL,
    );
    expect(made).toMatchObject({ name: 'byid', type: 'Microsoft.Network/routeTables', tags: { a: 'b' } });
    expect((await resources.resources.checkExistenceById(id, version)).body).toBe(true);
    expect((await resources.resources.checkExistenceById(`${id}x`, version)).body).toBe(false);
    expect(
      (await resources.resources.getById(id.toUpperCase().replace('/SUBSCRIPTIONS', '/subscriptions'), version)).id,
    ).toBe(id);
    const types = await collect(
      resources.resources.list({
        filter: "resourceType eq 'microsoft.network/routetables'",
        expand: 'provisioningState',
      }),
    );
    expect(types.map(({ name }) => name)).toEqual(['aks-agentpool-10000000-routetable', 'byid']);
    const tagged = await collect(resources.resources.list({ filter: "tagName eq 'a' and tagValue eq 'b'" }));
    expect(tagged.map(({ name }) => name)).toEqual(['byid']);
    const inGroup = await collect(resources.resources.listByResourceGroup(group));
    expect(inGroup.length).toBeGreaterThan(4);
    expect(inGroup.every(({ type }) => type !== 'Microsoft.Network/virtualNetworks/subnets')).toBe(true);
    await expect(collect(resources.resources.list({ filter: "colour eq 'red'" }))).rejects.toMatchObject({
      code: 'InvalidFilterInQueryString',
    });
    await resources.resources.beginDeleteByIdAndWait(id, version, POLL);
    await expect(resources.resources.getById(id, version)).rejects.toMatchObject({ code: 'ResourceNotFound' });
  });

  it('reads and changes tags of groups and resources separately', async () => {
    const { resources, arm } = fixture;
    const tags = resources.tagsOperations;
    await resources.resourceGroups.createOrUpdate('tagged', { location: 'eastus', tags: { a: '1' } });
    const group = `/subscriptions/${arm.subscriptionId}/resourceGroups/tagged`;
    const id = `${group}/providers/Microsoft.Network/routeTables/one`;
    await resources.resources.beginCreateOrUpdateByIdAndWait(id, '2024-05-01', { location: arm.location }, POLL);
    for (const scope of [group, id]) {
      const read = async () => (await tags.getAtScope(scope)).properties.tags;
      const patch = async (operation: string, given: Record<string, string>) =>
        (await tags.beginUpdateAtScopeAndWait(scope, { operation, properties: { tags: given } })).properties.tags;
      await tags.beginCreateOrUpdateAtScopeAndWait(scope, { properties: { tags: { team: 'shop', tier: '1' } } });
      expect(await read()).toEqual({ team: 'shop', tier: '1' });
      expect(await patch('Merge', { tier: '2', more: 'x' })).toEqual({ team: 'shop', tier: '2', more: 'x' });
      expect(await patch('Delete', { tier: '1', more: 'x' })).toEqual({ team: 'shop', tier: '2' });
      expect(await patch('Replace', { only: 'this' })).toEqual({ only: 'this' });
      await expect(patch('Shuffle', {})).rejects.toMatchObject({ code: 'InvalidTagsPatchOperation' });
      await expect(patch('Merge', { 'a/b': '' })).rejects.toMatchObject({ code: 'InvalidTagNameCharacters' });
    }
    expect((await resources.resources.getById(id, '2024-05-01')).tags).toEqual({ only: 'this' });
    expect((await collect(tags.list())).find(({ tagName }) => tagName === 'only')).toMatchObject({
      count: { value: 2 },
      values: [{ tagValue: 'this', count: { value: 2 } }],
    });
    await tags.beginDeleteAtScopeAndWait(id);
    expect((await resources.resources.getById(id, '2024-05-01')).tags).toEqual({});
    await expect(tags.getAtScope(`${id}x`)).rejects.toMatchObject({ code: 'ResourceNotFound' });
    await resources.resourceGroups.beginDeleteAndWait('tagged', POLL);
  });
});
