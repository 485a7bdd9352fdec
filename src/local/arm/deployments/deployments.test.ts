import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ArmFixture } from '../../../../test/fixtures/local/armFixture.ts';

const NAP_CLUSTER = JSON.parse(
  readFileSync(new URL('../../../../test/fixtures/local/napClusterTemplate.json', import.meta.url), 'utf8'),
) as object;
const VERSION = 'api-version=2022-09-01';

interface Deployment {
  readonly properties: {
    readonly provisioningState: string;
    readonly outputs?: Readonly<Record<string, { readonly type: string; readonly value: unknown }>>;
    readonly error?: { readonly code: string; readonly details: readonly { readonly code: string; message: string }[] };
  };
}

describe('deployments of templates', () => {
  let fixture: ArmFixture;
  let made = 0;
  beforeAll(async () => {
    fixture = await ArmFixture.start();
    await fixture.resources.resourceGroups.createOrUpdate('west', { location: 'westus2' });
  });
  afterAll(() => fixture.close());

  const template = (parts: object) => ({ contentVersion: '1.0.0.0', resources: [], ...parts });
  const pathOf = (name: string, rest = ''): string =>
    `resourceGroups/west/providers/Microsoft.Resources/deployments/${name}${rest}?${VERSION}`;
  const send = (name: string, content: object, parameters: object = {}, rest = '') =>
    fixture.ask(pathOf(name, rest), {
      method: rest === '' ? 'PUT' : 'POST',
      body: { properties: { mode: 'Incremental', template: content, parameters } },
    });
  const deploy = async (content: object, parameters: object = {}): Promise<Deployment['properties']> => {
    const name = `deployment${++made}`;
    expect(await send(name, content, parameters)).toMatchObject({ status: 201 });
    let last: Deployment['properties'] = { provisioningState: 'Running' };
    await expect
      .poll(async () => {
        last = ((await fixture.ask(pathOf(name))).body as Deployment).properties;
        return last.provisioningState;
      })
      .not.toBe('Running');
    return last;
  };
  const output = async (value: unknown, parts: object = {}): Promise<unknown> => {
    const { outputs, error } = await deploy(template({ outputs: { it: { type: 'object', value } }, ...parts }));
    expect(error).toBeUndefined();
    return outputs?.['it']?.value;
  };
  const identity = (name: string, more: object = {}) => ({
    type: 'Microsoft.ManagedIdentity/userAssignedIdentities',
    apiVersion: '2023-01-31',
    name,
    location: '[resourceGroup().location]',
    ...more,
  });

  it('are refused when the name of a resource has a malformed escape', async () => {
    expect(await send('escaped', template({ resources: [identity('%zz')] }))).toMatchObject({ status: 404 });
  });

  it('create the cluster of the documented template', async () => {
    expect((await deploy(NAP_CLUSTER)).provisioningState).toBe('Succeeded');
    const cluster = await fixture.containers.managedClusters.get('west', 'napcluster');
    expect(cluster).toMatchObject({
      location: 'westus2',
      provisioningState: 'Succeeded',
      nodeProvisioningProfile: { mode: 'Auto' },
      networkProfile: { networkDataplane: 'cilium', loadBalancerSku: 'standard' },
      nodeResourceGroup: 'MC_west_napcluster_westus2',
    });
    expect(cluster.agentPoolProfiles?.find(({ name }) => name === 'agentpool')).toMatchObject({ count: 3 });
    const nodes = () =>
      fixture.arm.virtualMachines().filter(({ resourceGroup }) => resourceGroup === 'MC_west_napcluster_westus2');
    await expect
      .poll(() => nodes().map(({ location, size }) => `${location} ${size.toLowerCase()}`))
      .toEqual(['westus2 standard_d2s_v3', 'westus2 standard_d2s_v3', 'westus2 standard_d2s_v3']);
    const preview = await send('again', NAP_CLUSTER, {}, '/whatIf');
    const isSame = { resourceId: expect.stringMatching(/napcluster$/) as string, changeType: 'NoChange', delta: [] };
    expect(preview.body).toMatchObject({
      properties: { changes: expect.arrayContaining([expect.objectContaining(isSame)]) as object[] },
    });
    const valid = await send('again', NAP_CLUSTER, {}, '/validate');
    expect(valid.body).toMatchObject({
      properties: { validatedResources: [{ id: expect.stringMatching(/napcluster$/) as string }] },
    });
  });

  it.each([
    [`[concat('a', '-', 1)]`, 'a-1'],
    [`[format('{0}/{1}', 'x', resourceGroup().name)]`, 'x/west'],
    [`[toUpper(variables('both').tail[1])]`, 'Z'],
    [`[if(equals(variables('both').head, 'h'), 'yes', reference('/nowhere'))]`, 'yes'],
    [
      `[resourceId('Microsoft.Network/virtualNetworks/subnets', 'a', 'b')]`,
      expect.stringMatching(/\/west\/providers\/Microsoft\.Network\/virtualNetworks\/a\/subnets\/b$/),
    ],
    [
      `[resourceId('other', 'Microsoft.Network/virtualNetworks', 'a')]`,
      expect.stringContaining('/resourceGroups/other/'),
    ],
    [`[length(uniqueString(resourceGroup().id))]`, 13],
    [`[equals(uniqueString('a'), uniqueString('a'))]`, true],
    [`[union(createObject('a', 1), createObject('b', createArray('x')))]`, { a: 1, b: ['x'] }],
    ['[[not an expression]', '[not an expression]'],
    [`['it''s']`, "it's"],
  ])('evaluate %s', async (expression, expected) => {
    const variables = { both: { head: 'h', tail: ['y', `[toLower('Z')]`] } };
    expect(await output(expression, { variables })).toEqual(expected);
  });

  it('create resources after those that they depend on or refer to', async () => {
    const result = await deploy(
      template({
        resources: [
          identity('third', { tags: { of: `[reference('second').clientId]` } }),
          identity('second', {
            dependsOn: [`[resourceId('Microsoft.ManagedIdentity/userAssignedIdentities', 'first')]`],
          }),
          identity('first'),
          identity(`[concat('copy', copyIndex(1))]`, { copy: { name: 'more', count: 2 } }),
          identity('never', { condition: false }),
        ],
        outputs: {
          client: { type: 'string', value: `[reference('second').clientId]` },
          place: { type: 'string', value: `[reference('first', '2023-01-31', 'Full').location]` },
        },
      }),
    );
    expect(result).toMatchObject({ provisioningState: 'Succeeded', outputs: { place: { value: 'westus2' } } });
    const names = (await fixture.ask(`resourceGroups/west/resources?${VERSION}`)).body as {
      value: readonly { name: string; tags?: { of?: string } }[];
    };
    expect(names.value.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['first', 'second', 'third', 'copy1', 'copy2']),
    );
    expect(names.value.map(({ name }) => name)).not.toContain('never');
    expect(names.value.find(({ name }) => name === 'third')?.tags?.of).toBe(result.outputs?.['client']?.value);
  });

  it('accept declared parameters, with defaults, and refuse others', async () => {
    const content = template({
      parameters: {
        size: { type: 'string', allowedValues: ['small', 'large'], defaultValue: 'small' },
        count: { type: 'int', maxValue: 3 },
      },
      outputs: { said: { type: 'string', value: `[concat(parameters('SIZE'), parameters('count'))]` } },
    });
    expect((await deploy(content, { count: { value: 2 } })).outputs?.['said']).toEqual({
      type: 'string',
      value: 'small2',
    });
    for (const [parameters, words] of [
      [{}, "parameter 'count' is not provided"],
      [{ count: { value: 'two' } }, "Expected 'int'"],
      [{ count: { value: 9 } }, "parameter 'count' is not valid"],
      [{ count: { value: 1 }, size: { value: 'huge' } }, "allowed value(s): 'small,large'"],
      [{ count: { value: 1 }, other: { value: 1 } }, 'parameters were supplied, but do not correspond'],
    ] as const) {
      const answer = await send('refused', content, parameters);
      expect(answer).toMatchObject({ status: 400, body: { error: { code: 'InvalidTemplate' } } });
      expect((answer.body as { error: { message: string } }).error.message).toContain(words);
    }
  });

  it.each([
    [
      'an unknown function',
      { outputs: { it: { type: 'string', value: `[nothing()]` } }, resources: [identity(`[nothing()]`)] },
    ],
    ['a dependency cycle', { resources: [identity('a', { dependsOn: ['b'] }), identity('b', { dependsOn: ['a'] })] }],
    ['an unknown dependency', { resources: [identity('a', { dependsOn: ['nowhere'] })] }],
    ['a broken expression', { resources: [identity(`[concat('a']`)] }],
    ['an unknown variable', { resources: [identity(`[variables('x')]`)] }],
  ])('refuse %s before anything is created', async (_, parts) => {
    expect(await send('refused', template(parts))).toMatchObject({
      status: 400,
      body: { error: { code: 'InvalidTemplate' } },
    });
    expect(await send('refused', template(parts), {}, '/validate')).toMatchObject({ status: 400 });
    expect((await fixture.ask(pathOf('refused'))).status).toBe(404);
  });

  it('are refused before anything is created when a provider would refuse a resource', async () => {
    const cluster = {
      type: 'Microsoft.ContainerService/managedClusters',
      apiVersion: '2025-05-01',
      name: 'bad',
      location: 'westus2',
      properties: { networkProfile: { networkPlugin: 'kubenet' }, nodeProvisioningProfile: { mode: 'Auto' } },
    };
    const content = template({ resources: [identity('before'), cluster] });
    for (const rest of ['', '/validate', '/whatIf']) {
      const answer = await send('refused', content, {}, rest);
      expect(answer).toMatchObject({
        status: 400,
        body: {
          error: {
            code: 'InvalidTemplateDeployment',
            message: expect.stringMatching(
              /^The template deployment 'refused' is not valid according to the validation procedure\. The following resource provider\(s\) - 'Microsoft\.ContainerService\/managedClusters \(2025-05-01\)' reported preflight validation errors\. Tracking id is '[-0-9a-f]{36}'\. See inner errors for details\.$/,
            ) as string,
            details: [
              {
                code: 'OperationNotAllowed',
                message:
                  'Preflight validation check for resource(s) for container service bad in resource group west failed. Message: .properties.nodeProvisioningProfile.mode cannot be Auto unless .properties.networkProfile.networkPlugin is set to one of [azure, none].. Details: ',
              },
            ],
          },
        },
      });
    }
    expect((await fixture.ask(pathOf('refused'))).status).toBe(404);
    const list = (await fixture.ask(`resourceGroups/west/resources?${VERSION}`)).body as { value: { name: string }[] };
    expect(list.value.map(({ name }) => name)).not.toContain('before');
  });

  it('are refused for an unknown type or api-version', async () => {
    for (const [wrong, code] of [
      [{ type: 'Microsoft.ManagedIdentity/nothing' }, 'InvalidResourceType'],
      [{ apiVersion: '2001-01-01' }, 'NoRegisteredProviderFound'],
    ] as const) {
      const answer = await send('refused', template({ resources: [identity('a', wrong)] }), {}, '/validate');
      expect(answer.body).toMatchObject({ error: { code } });
    }
  });

  it('fail with the error of the provider, and create no dependent resources', async () => {
    const nic = {
      type: 'Microsoft.Network/networkInterfaces',
      apiVersion: '2024-05-01',
      name: 'bad',
      location: 'westus2',
      properties: { ipConfigurations: [{ name: 'a', properties: { subnet: { id: '/nowhere' } } }] },
    };
    const failed = await deploy(template({ resources: [nic, identity('orphan', { dependsOn: ['bad'] })] }));
    expect(failed).toMatchObject({
      provisioningState: 'Failed',
      error: { code: 'DeploymentFailed', details: [{ code: 'InvalidResourceReference' }] },
    });
    const operations = await fixture.ask(pathOf(`deployment${made}`, '/operations'));
    const asked = `resourcegroups/west/deployments/deployment${made}/operations?${VERSION}`;
    expect((await fixture.ask(asked)).body).toEqual(operations.body);
    expect(operations.body).toMatchObject({
      value: [{ properties: { provisioningState: 'Failed', statusCode: '400' } }],
    });
    const list = (await fixture.ask(`resourceGroups/west/resources?${VERSION}`)).body as { value: { name: string }[] };
    expect(list.value.map(({ name }) => name)).not.toContain('orphan');
  });

  it('change nothing when a group is deployed from its own export', async () => {
    const { resources, containers, arm } = fixture;
    await resources.resourceGroups.createOrUpdate('exported', { location: 'eastus' });
    const at = (name: string, rest = ''): string => pathOf(name, rest).replace('/west/', '/exported/');
    const ask = (rest: string, content: object) =>
      fixture.ask(at('again', rest), {
        method: rest === '' ? 'PUT' : 'POST',
        body: { properties: { mode: 'Incremental', template: content } },
      });
    const done = async (): Promise<void> => {
      await expect
        .poll(async () => ((await fixture.ask(at('again'))).body as Deployment).properties.provisioningState)
        .toBe('Succeeded');
    };
    const cluster = {
      type: 'Microsoft.ContainerService/managedClusters',
      apiVersion: '2025-05-01',
      name: 'shop',
      location: 'eastus',
      identity: { type: 'SystemAssigned' },
      tags: { team: 'a' },
      properties: {
        networkProfile: { networkPlugin: 'azure', networkPluginMode: 'overlay' },
        agentPoolProfiles: [{ name: 'system', mode: 'System', count: 1, vmSize: 'Standard_D2s_v5' }],
        nodeProvisioningProfile: { mode: 'Auto' },
      },
    };
    await ask('', template({ resources: [cluster, identity('mine', { location: 'eastus' })] }));
    await done();
    const exported = async (options?: string) => {
      const answer = await fixture.ask(`resourceGroups/exported/exportTemplate?${VERSION}`, {
        method: 'POST',
        body: { resources: ['*'], ...(options && { options }) },
      });
      expect(answer.status).toBe(200);
      return (answer.body as { template: { parameters: object; resources: { type: string; name: string }[] } })
        .template;
    };
    const plain = await exported();
    expect(plain.parameters).toMatchObject({ managedClusters_shop_name: { type: 'String' } });
    expect(plain.resources.map(({ name }) => name)).toEqual([
      "[parameters('managedClusters_shop_name')]",
      "[concat(parameters('managedClusters_shop_name'), '/aksmanagedap')]",
      "[concat(parameters('managedClusters_shop_name'), '/system')]",
      "[parameters('userAssignedIdentities_mine_name')]",
    ]);
    const nameless = await exported('SkipAllParameterization');
    expect(nameless.parameters).toEqual({});
    expect(nameless.resources.map(({ name }) => name)).toEqual(['shop', 'shop/aksmanagedap', 'shop/system', 'mine']);
    const complete = await exported('IncludeParameterDefaultValue');
    const preview = await ask('/whatIf', complete);
    const { changes } = (preview.body as { properties: { changes: { changeType: string }[] } }).properties;
    expect(changes.map(({ changeType }) => changeType)).toEqual(Array(4).fill('NoChange'));
    const shown = () => containers.managedClusters.get('exported', 'shop');
    const { etag: _etag, eTag: _eTag, systemData: _data, ...before } = { ...(await shown()), etag: '' };
    await ask('', complete);
    await done();
    expect(await shown()).toMatchObject({ ...before, agentPoolProfiles: [{}, {}] });
    const one = await fixture.ask(`resourceGroups/exported/exportTemplate?${VERSION}`, {
      method: 'POST',
      body: {
        resources: [
          `/subscriptions/${arm.subscriptionId}/resourceGroups/exported/providers/Microsoft.ManagedIdentity/userAssignedIdentities/mine`,
        ],
      },
    });
    expect((one.body as { template: { resources: object[] } }).template.resources).toHaveLength(1);
  });

  it('preview what they would change', async () => {
    await deploy(template({ resources: [identity('known', { tags: { a: '1' } })] }));
    const preview = await send(
      'preview',
      template({
        resources: [identity('known', { tags: { a: '2' } }), identity('new'), identity('first', { tags: {} })],
      }),
      {},
      '/whatIf',
    );
    const { changes } = (preview.body as { properties: { changes: { resourceId: string; changeType: string }[] } })
      .properties;
    const byName = new Map(changes.map((change) => [change.resourceId.split('/').at(-1), change]));
    expect(byName.get('known')).toMatchObject({
      changeType: 'Modify',
      delta: [{ path: 'tags.a', propertyChangeType: 'Modify', before: '1', after: '2' }],
    });
    expect(byName.get('new')).toMatchObject({ changeType: 'Create' });
    expect(changes.filter(({ changeType }) => changeType === 'Ignore').length).toBeGreaterThan(0);
    expect((await fixture.ask(pathOf('preview'))).status).toBe(404);
  });
});
