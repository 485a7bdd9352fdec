import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ArmFixture, type Answer } from '../../../../test/fixtures/local/armFixture.ts';
import { NODE_PROVISIONING_RULES, type NodeProvisioningUse } from './nodeProvisioning.ts';

const VERSION = '2025-05-01';
const MODE = '.properties.nodeProvisioningProfile.mode';
const CLUSTERS = 'Microsoft.ContainerService/managedClusters';

interface ClusterBody {
  readonly properties: {
    readonly provisioningState: string;
    readonly nodeProvisioningProfile: { readonly mode: string; readonly defaultNodePools: string };
    readonly agentPoolProfiles: readonly { readonly name: string; readonly mode: string }[];
    readonly powerState: { readonly code: string };
  };
}

describe('node auto-provisioning of managed clusters', () => {
  let fixture: ArmFixture;
  let use: NodeProvisioningUse | undefined;
  let made = 0;

  beforeAll(async () => {
    fixture = await ArmFixture.start({ provisioningUse: () => use });
  });
  afterAll(() => fixture.close());

  const at = (name: string, rest = '', version = VERSION): string =>
    `resourceGroups/local/providers/${CLUSTERS}/${name}${rest}?api-version=${version}`;
  const system = { name: 'system', mode: 'System', count: 1, vmSize: 'Standard_D2s_v5' };
  const body = (properties: object = {}, pool: object = {}, more: object = {}) => ({
    location: 'eastus',
    identity: { type: 'SystemAssigned' },
    properties: {
      dnsPrefix: 'one',
      networkProfile: { networkPlugin: 'azure', networkPluginMode: 'overlay' },
      agentPoolProfiles: [{ ...system, ...pool }],
      nodeProvisioningProfile: { mode: 'Auto' },
      ...properties,
    },
    ...more,
  });
  const put = (name: string, content: object, version = VERSION): Promise<Answer> =>
    fixture.ask(at(name, '', version), { method: 'PUT', body: content });
  const get = async (name: string): Promise<ClusterBody['properties']> =>
    ((await fixture.ask(at(name))).body as ClusterBody).properties;
  const settled = async (name: string): Promise<void> => {
    await expect.poll(async () => (await get(name)).provisioningState).toBe('Succeeded');
  };
  const create = async (content: object = body()): Promise<string> => {
    const name = `cluster${++made}`;
    expect((await put(name, content)).status).toBe(201);
    await settled(name);
    return name;
  };
  const pools = async (name: string): Promise<readonly string[]> =>
    (await get(name)).agentPoolProfiles.map((pool) => pool.name);
  const words = ({ body: refusal }: Answer): unknown => refusal;

  const network = (profile: object) => ({ networkProfile: { networkPlugin: 'azure', ...profile } });
  const broken: Readonly<Record<string, object>> = {
    kubenet: body({ networkProfile: { networkPlugin: 'kubenet' } }),
    'Calico network policy': body(network({ networkPolicy: 'calico' })),
    'static block allocation of addresses': body(
      {},
      { podSubnetID: '/subnets/pods', podIPAllocationMode: 'StaticBlock' },
    ),
    'dynamic allocation of addresses': body({}, { podSubnetID: '/subnets/pods' }),
    'Basic load balancer': body(network({ loadBalancerSku: 'Basic' })),
    'service principal': body({ servicePrincipalProfile: { clientId: 'app', secret: 'word' } }),
    'IPv6 and dual stack': body(network({ ipFamilies: ['IPv4', 'IPv6'] })),
    'Windows node pools': body({}, { osType: 'Windows' }),
    'cluster autoscaler': body({}, { enableAutoScaling: true, minCount: 1, maxCount: 3 }),
    'public network access turned off': body({ publicNetworkAccess: 'Disabled' }),
    'custom private DNS zone': body({
      apiServerAccessProfile: { enablePrivateCluster: true, privateDNSZone: '/privateDnsZones/mine' },
    }),
  };

  it.each(NODE_PROVISIONING_RULES)('is refused with $forbids', async ({ forbids, words: end }) => {
    const answer = await put('refused', broken[forbids] ?? {});
    expect(answer.status).toBe(400);
    expect(words(answer)).toEqual({ code: 'OperationNotAllowed', message: `${MODE} cannot be Auto ${end}` });
    expect((await fixture.ask(at('refused'))).status).toBe(404);
    const { properties } = broken[forbids] as { properties: object };
    const manual = { ...broken[forbids], properties: { ...properties, nodeProvisioningProfile: { mode: 'Manual' } } };
    const name = `manual${++made}`;
    expect((await put(name, manual)).status).toBe(201);
    await settled(name);
    const enabled = await fixture.ask(at(name), {
      method: 'PATCH',
      body: { properties: { nodeProvisioningProfile: { mode: 'Auto' } } },
    });
    expect(words(enabled)).toEqual(words(answer));
  });

  it.each([
    ['overlay with Cilium', { networkPluginMode: 'overlay', networkDataplane: 'cilium', networkPolicy: 'cilium' }],
    ['overlay', { networkPluginMode: 'overlay' }],
    ['Azure CNI with Cilium', { networkDataplane: 'cilium' }],
    ['Azure CNI', {}],
    ['a Standard load balancer in capitals', { loadBalancerSku: 'Standard' }],
    ['no network plugin', { networkPlugin: 'none' }],
  ])('works with %s', async (_, profile) => {
    const name = await create(body(network(profile)));
    expect((await get(name)).nodeProvisioningProfile).toEqual({ mode: 'Auto', defaultNodePools: 'Auto' });
    expect(await pools(name)).toEqual(['aksmanagedap', 'system']);
  });

  it('refuses a network policy without its dataplane', async () => {
    const answer = await put('refused', body(network({ networkPolicy: 'cilium' })));
    expect(answer).toMatchObject({ status: 400, body: { code: 'InvalidParameter' } });
  });

  it('changes only with api-versions that have it', async () => {
    const name = await create(body({ nodeProvisioningProfile: undefined }));
    expect((await get(name)).nodeProvisioningProfile.mode).toBe('Manual');
    await put(name, body(), '2023-01-01');
    await settled(name);
    expect((await get(name)).nodeProvisioningProfile.mode).toBe('Manual');
    await put(
      name,
      body({ nodeProvisioningProfile: { mode: 'Auto', defaultNodePools: 'None' } }),
      '2023-09-02-preview',
    );
    await settled(name);
    expect((await get(name)).nodeProvisioningProfile).toEqual({ mode: 'Auto', defaultNodePools: 'None' });
    await put(name, body({ nodeProvisioningProfile: undefined }), '2025-10-01');
    await settled(name);
    expect((await get(name)).nodeProvisioningProfile).toEqual({ mode: 'Auto', defaultNodePools: 'None' });
  });

  it.each([
    ['mode', { mode: 'auto' }, 'Auto, Manual'],
    ['defaultNodePools', { mode: 'Auto', defaultNodePools: 'Some' }, 'Auto, None'],
  ])('refuses an unknown %s', async (member, profile, allowed) => {
    expect(words(await put('refused', body({ nodeProvisioningProfile: profile })))).toEqual({
      code: 'InvalidParameter',
      message: `The value of parameter nodeProvisioningProfile.${member} is invalid. Allowed values: ${allowed}.`,
    });
  });

  it('works with the cluster autoscaler once the feature for both is registered', async () => {
    const feature =
      'providers/Microsoft.Features/providers/Microsoft.ContainerService/features/AllowClusterAutoscalerAndNAP';
    const state = async (action: string): Promise<unknown> =>
      (await fixture.ask(`${feature}${action}?api-version=2021-07-01`, { method: action === '' ? 'GET' : 'POST' }))
        .body;
    const content = broken['cluster autoscaler'] ?? {};
    expect((await put('side', content)).status).toBe(400);
    expect(await state('')).toMatchObject({ properties: { state: 'NotRegistered' } });
    expect(await state('/register')).toMatchObject({ properties: { state: 'Registered' } });
    expect((await put('side', content)).status).toBe(201);
    await settled('side');
    expect(await state('/unregister')).toMatchObject({ properties: { state: 'NotRegistered' } });
  });

  it.each([
    ['a Windows pool', { osType: 'Windows', vmSize: 'Standard_D2s_v5' }, '.properties.osType set to one of [Linux]'],
    ['an autoscaled pool', { enableAutoScaling: true }, '.properties.enableAutoScaling set to one of [false]'],
  ])('refuses to add %s later', async (_, properties, end) => {
    const name = await create();
    const answer = await fixture.ask(at(name, '/agentPools/more'), { method: 'PUT', body: { properties } });
    expect(words(answer)).toEqual({
      code: 'OperationNotAllowed',
      message: `${MODE} cannot be Auto unless all AgentPools have property ${end}`,
    });
  });

  it('refuses to stop the cluster and to change its outbound type', async () => {
    const name = await create();
    const stop = () => fixture.ask(at(name, '/stop'), { method: 'POST' });
    expect(words(await stop())).toEqual({
      code: 'OperationNotAllowed',
      message: `The cluster cannot be stopped if ${MODE} is set to one of [Auto].`,
    });
    const outbound = body(network({ networkPluginMode: 'overlay', outboundType: 'userDefinedRouting' }));
    expect(words(await put(name, outbound))).toEqual({
      code: 'OperationNotAllowed',
      message: `.properties.networkProfile.outboundType cannot be changed if ${MODE} is set to one of [Auto].`,
    });
    const manual = await create(body({ nodeProvisioningProfile: { mode: 'Manual' } }));
    expect((await fixture.ask(at(manual, '/stop'), { method: 'POST' })).status).toBe(202);
    await expect.poll(async () => (await get(manual)).powerState.code).toBe('Stopped');
    const machines = () =>
      fixture.arm.virtualMachines().filter(({ resourceGroup }) => resourceGroup === `MC_local_${manual}_eastus`);
    expect(machines().map(({ isOff }) => isOff)).toEqual([true]);
    expect((await fixture.ask(at(manual, '/start'), { method: 'POST' })).status).toBe(202);
    await expect.poll(async () => (await get(manual)).powerState.code).toBe('Running');
    expect(machines().map(({ isOff }) => isOff)).toEqual([false]);
  });

  it('refuses to stop agent pools; in mode Manual all but system pools stop and start', async () => {
    const power = (name: string, pool: string, code: string): Promise<Answer> =>
      fixture.ask(at(name, `/agentPools/${pool}`), { method: 'PUT', body: { properties: { powerState: { code } } } });
    const withPool = async (mode: string): Promise<string> => {
      const more = { ...system, name: 'more', mode: 'User' };
      return create(body({ nodeProvisioningProfile: { mode }, agentPoolProfiles: [system, more] }));
    };
    const automatic = await withPool('Auto');
    expect(words(await power(automatic, 'more', 'Stopped'))).toEqual({
      code: 'OperationNotAllowed',
      message: `The agent pool cannot be stopped if ${MODE} is set to one of [Auto].`,
    });
    const manual = await withPool('Manual');
    expect(await power(manual, 'system', 'Stopped')).toMatchObject({
      status: 400,
      body: { code: 'OperationNotAllowed', message: "Agent pool 'system' cannot be stopped: its mode is System." },
    });
    const off = () =>
      fixture.arm
        .virtualMachines()
        .filter(({ resourceGroup, isOff }) => resourceGroup === `MC_local_${manual}_eastus` && isOff)
        .map(({ name }) => name);
    for (const [code, expected] of [
      ['Stopped', [expect.stringMatching(/^aks-more-/)]],
      ['Running', []],
    ] as const) {
      expect(await power(manual, 'more', code)).toMatchObject({
        status: 200,
        body: { properties: { powerState: { code } } },
      });
      await expect.poll(off).toEqual(expected);
    }
  });

  it('can be disabled only when no node and no open NodePool is left', async () => {
    const name = await create();
    const disable = () =>
      fixture.ask(at(name), { method: 'PATCH', body: { properties: { nodeProvisioningProfile: { mode: 'Manual' } } } });
    const refusal = async (): Promise<string> => ((await disable()).body as { message: string }).message;
    use = { nodes: ['aks-default-a', 'aks-default-b'], openPools: ['default'] };
    const message = await refusal();
    expect(message).toMatch(
      /^\.properties\.nodeProvisioningProfile\.mode cannot be changed from Auto to Manual unless/,
    );
    expect(message).toContain('Existing NAP nodes: [aks-default-a, aks-default-b].');
    expect(message).toContain('NodePools with another limit: [default].');
    use = { nodes: [], openPools: ['default'] };
    expect(await refusal()).not.toContain('Existing NAP nodes:');
    use = { nodes: [], openPools: [] };
    expect((await disable()).status).toBe(200);
    await settled(name);
    expect((await get(name)).nodeProvisioningProfile.mode).toBe('Manual');
    use = undefined;
  });

  it('survives an update with an older api-version, which does not show it', async () => {
    const name = await create(body(network({ networkDataplane: 'cilium', networkPolicy: 'cilium' })));
    const older = {
      location: 'eastus',
      tags: { team: 'a' },
      properties: { networkProfile: { networkPlugin: 'azure' } },
    };
    expect((await put(name, older, '2022-11-01')).status).toBe(200);
    await settled(name);
    const answer = (await fixture.ask(at(name))).body;
    expect(answer).toMatchObject({
      tags: { team: 'a' },
      identity: { type: 'SystemAssigned' },
      properties: { networkProfile: { networkDataplane: 'cilium' }, nodeProvisioningProfile: { mode: 'Auto' } },
    });
    const shown = async (version: string): Promise<readonly string[]> => {
      const { body: seen } = await fixture.ask(at(name).replace(/api-version=.*/, `api-version=${version}`));
      return Object.keys((seen as { properties: object }).properties);
    };
    expect(await shown('2022-11-01')).not.toContain('nodeProvisioningProfile');
    expect(await shown('2025-04-01')).not.toContain('nodeProvisioningProfile');
    expect(await shown('2023-09-02-preview')).toContain('nodeProvisioningProfile');
    expect(await shown('2025-05-01')).toContain('nodeProvisioningProfile');
  });
});

describe('upgrades of Kubernetes', () => {
  let fixture: ArmFixture;
  beforeAll(async () => {
    fixture = await ArmFixture.start();
  });
  afterAll(() => fixture.close());

  it('go to later patches and the next minor version only', async () => {
    const path = `resourceGroups/local/providers/${CLUSTERS}/old`;
    const put = (kubernetesVersion: string): Promise<Answer> =>
      fixture.ask(`${path}?api-version=${VERSION}`, {
        method: 'PUT',
        body: {
          location: 'eastus',
          properties: {
            kubernetesVersion,
            agentPoolProfiles: [{ name: 'system', mode: 'System', count: 1, vmSize: 'Standard_D2s_v5' }],
          },
        },
      });
    const state = async (): Promise<string> =>
      ((await fixture.ask(`${path}?api-version=${VERSION}`)).body as ClusterBody).properties.provisioningState;
    const settled = async (): Promise<void> => {
      await expect.poll(state).toBe('Succeeded');
    };
    await put('1.33.5');
    await settled();
    const profile = await fixture.ask(`${path}/upgradeProfiles/default?api-version=${VERSION}`);
    expect(profile.body).toMatchObject({
      properties: {
        controlPlaneProfile: {
          kubernetesVersion: '1.33.5',
          upgrades: [{ kubernetesVersion: '1.34.1' }, { kubernetesVersion: '1.34.4' }],
        },
      },
    });
    expect((await put('1.35')).body).toEqual({
      code: 'OperationNotAllowed',
      message:
        'Upgrading Kubernetes version 1.33.5 to 1.35.3 is not allowed. Available upgrades: [1.34.4 1.34.1]. Please see https://aka.ms/aks-supported-k8s-ver for version details.',
    });
    expect((await put('1.32.9')).body).toMatchObject({ code: 'OperationNotAllowed' });
    expect((await put('1.34')).body).toMatchObject({ properties: { currentKubernetesVersion: '1.34.4' } });
    await settled();
  });
});
