import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../clock/virtualClock.ts';
import { ArmFixture, type Answer } from '../../../../test/fixtures/local/armFixture.ts';

const VERSION = 'api-version=2025-05-01';
const SYSTEM = { name: 'system', mode: 'System', count: 1, vmSize: 'Standard_D2s_v5' };

describe('validation of managed clusters', () => {
  let fixture: ArmFixture;
  beforeAll(async () => {
    fixture = await ArmFixture.start();
  });
  afterAll(() => fixture.close());

  const at = (name: string, rest = ''): string =>
    `resourceGroups/local/providers/Microsoft.ContainerService/managedClusters/${name}${rest}?${VERSION}`;
  const put = (name: string, properties: object): Promise<Answer> =>
    fixture.ask(at(name), {
      method: 'PUT',
      body: { location: 'eastus', identity: { type: 'SystemAssigned' }, properties },
    });
  const withPool = (pool: object): object => ({ agentPoolProfiles: [{ ...SYSTEM, ...pool }] });
  const withNetwork = (networkProfile: object): object => ({ ...withPool({}), networkProfile });
  const naming = 'Please see https://aka.ms/aks-naming-rules for more details.';
  const invalid = (parameter: string, details = ''): object => ({
    code: 'InvalidParameter',
    message: `The value of parameter ${parameter} is invalid.${details} ${naming}`,
    target: parameter,
  });
  const settled = async (name: string): Promise<object> => {
    const read = async (): Promise<{ readonly properties: { readonly provisioningState: string } }> =>
      (await fixture.ask(at(name))).body as { properties: { provisioningState: string } };
    await expect.poll(async () => (await read()).properties.provisioningState).toBe('Succeeded');
    return read();
  };

  it.each([
    ['networkPlugin', 'flannel', 'azure, kubenet, none'],
    ['networkPluginMode', 'underlay', 'overlay'],
    ['networkPolicy', 'some', 'azure, calico, cilium, none'],
    ['networkDataplane', 'ebpf', 'azure, cilium'],
    ['loadBalancerSku', 'gateway', 'standard, basic'],
  ])('refuses an unknown %s', async (member, value, allowed) => {
    const { status, body } = await put('refused', withNetwork({ networkPlugin: 'azure', [member]: value }));
    expect(status).toBe(400);
    expect(body).toEqual(invalid(`networkProfile.${member}`, ` Error details: '${value}' is not one of [${allowed}].`));
  });

  it.each([
    [
      { networkPlugin: 'kubenet', networkPluginMode: 'overlay' },
      'UnsupportedNetworkPluginModeWithNetworkPlugin',
      'NetworkPluginMode overlay is not supported with NetworkPlugin kubenet.',
    ],
    [
      { networkPlugin: 'azure', networkDataplane: 'cilium', networkPolicy: 'azure' },
      'BadRequest',
      'Cilium dataplane requires network policy cilium.',
    ],
    [
      { networkPlugin: 'kubenet', networkDataplane: 'cilium' },
      'BadRequest',
      'Cilium dataplane requires network plugin azure.',
    ],
    [
      { networkPlugin: 'azure', networkPolicy: 'cilium' },
      'InvalidParameter',
      "Network policy cilium is only supported with network dataplane cilium, not with 'azure'.",
    ],
  ])('refuses %j', async (profile, code, message) => {
    expect(await put('refused', withNetwork(profile))).toMatchObject({ status: 400, body: { code, message } });
  });

  it('requires one range of addresses for each IP family', async () => {
    const overlay = { networkPlugin: 'azure', networkPluginMode: 'overlay' };
    const two = ['10.244.0.0/16', 'fd00::/64'];
    const { body } = await put('refused', withNetwork({ ...overlay, podCidrs: two }));
    expect(body).toEqual(
      invalid('networkProfile.podCidrs', ' Error details: There are 2 ranges for the IP families [IPv4].'),
    );
    const swapped = withNetwork({ ...overlay, ipFamilies: ['IPv4', 'IPv6'], podCidrs: two.toReversed() });
    expect(await put('refused', swapped)).toMatchObject({ status: 400, body: { code: 'InvalidParameter' } });
    const dual = withNetwork({ ...overlay, ipFamilies: ['IPv4', 'IPv6'], podCidrs: two });
    expect((await put('dual', dual)).status).toBe(201);
    expect(await settled('dual')).toMatchObject({
      properties: {
        networkProfile: { podCidrs: two, serviceCidrs: ['10.0.0.0/16', expect.stringContaining('fd')] },
      },
    });
  });

  it.each([
    [{ name: 'Sys_1' }, invalid('agentPoolProfile.name')],
    [
      { count: 0 },
      invalid(
        'agentPoolProfile.count',
        ' Error details: agentPoolProfile.count was 0. It must be greater or equal to minCount:1 and less than or equal to maxCount:1000.',
      ),
    ],
    [
      { count: 2000 },
      invalid(
        'agentPoolProfile.count',
        ' Error details: agentPoolProfile.count was 2000. It must be greater or equal to minCount:1 and less than or equal to maxCount:1000.',
      ),
    ],
    [
      { maxPods: 5 },
      invalid(
        'agentPoolProfile.maxPods',
        ' Error details: agentPoolProfile.maxPods was 5. It must be between 10 and 250.',
      ),
    ],
    [
      { nodeLabels: { team: 'not a label' } },
      invalid(
        'agentPoolProfile.nodeLabels',
        " Error details: 'team=not a label': a label value must consist of letters, digits, '-', '_' and '.', and begin and end with a letter or digit.",
      ),
    ],
    [
      { nodeTaints: ['team=a:Sometimes'] },
      invalid(
        'agentPoolProfile.nodeTaints',
        " Error details: 'team=a:Sometimes': must be key=value:effect, with the effect NoSchedule, PreferNoSchedule or NoExecute.",
      ),
    ],
    [
      { enableAutoScaling: true, minCount: 3, maxCount: 1 },
      invalid(
        'agentPoolProfile.maxCount',
        ' Error details: With enableAutoScaling it must be between minCount and 1000.',
      ),
    ],
    [
      { enableAutoScaling: true },
      invalid('agentPoolProfile.minCount', ' Error details: With enableAutoScaling it must be between 1 and 1000.'),
    ],
    [{ mode: 'User' }, { code: 'MustDefineAtLeastOneSystemPool', message: 'Must define at least one system pool.' }],
  ])('refuses a pool with %j', async (pool, refusal) => {
    expect(await put('refused', withPool(pool))).toMatchObject({ status: 400, body: refusal });
    expect((await fixture.ask(at('refused'))).status).toBe(404);
  });

  it('requires nodes for its own pods: a system pool, or the NodePool system-surge', async () => {
    const missing = { code: 'InvalidParameter', message: 'Required parameter agentPoolProfiles is missing (null).' };
    const provisioning = (defaultNodePools: string): object => ({
      nodeProvisioningProfile: { mode: 'Auto', defaultNodePools },
    });
    expect(await put('refused', {})).toMatchObject({ status: 400, body: missing });
    expect(await put('refused', provisioning('None'))).toMatchObject({ status: 400, body: missing });
    expect((await put('surge', provisioning('Auto'))).status).toBe(201);
    await settled('surge');
  });

  it.each([
    ['name', 'ends-', withPool({}), invalid('resourceName')],
    ['DNS prefix', 'refused', { ...withPool({}), dnsPrefix: '-a_' }, invalid('dnsPrefix')],
    [
      'node provisioning profile',
      'refused',
      { ...withPool({}), nodeProvisioningProfile: 'Auto' },
      invalid('nodeProvisioningProfile', ' Error details: It must be an object.'),
    ],
    [
      'upgrade channel',
      'refused',
      { ...withPool({}), autoUpgradeProfile: { upgradeChannel: 'fast' } },
      invalid(
        'autoUpgradeProfile.upgradeChannel',
        " Error details: 'fast' is not one of [rapid, stable, patch, node-image, none].",
      ),
    ],
  ])('refuses an invalid %s', async (_, name, properties, refusal) => {
    expect(await put(name, properties)).toMatchObject({ status: 400, body: refusal });
  });

  it('refuses a change while another is in progress', async () => {
    const slow = await ArmFixture.start({ clock: new VirtualClock(Date.now()) });
    const body = { location: 'eastus', properties: withPool({}) };
    expect((await slow.ask(at('one'), { method: 'PUT', body })).status).toBe(201);
    const busy = await slow.ask(at('one'), { method: 'PUT', body });
    expect(busy).toMatchObject({ status: 409, body: { code: 'OperationNotAllowed' } });
    expect((busy.body as { message: string }).message).toMatch(
      /^Operation is not allowed because there's an in progress create managed cluster operation \(operation ID: [0-9a-f-]+\) on the managed cluster started on UTC \S+Z\. /,
    );
    await slow.close();
  });

  it.each([
    ['K8sVersionNotSupported', 'Managed cluster refused is on version 1.20.7 which', { kubernetesVersion: '1.20.7' }],
    ['AgentPoolK8sVersionNotSupported', 'Version 1.20.7', withPool({ orchestratorVersion: '1.20.7' })],
  ])('refuses an unsupported version of Kubernetes: %s', async (code, begin, properties) => {
    const answer = await put('refused', { ...withPool({}), ...properties });
    expect(answer).toMatchObject({ status: 400, body: { code } });
    expect((answer.body as { message: string }).message).toContain(`${begin} is not supported in this region. Please`);
  });

  it('refuses changes of immutable properties, but lets kubenet become overlay', async () => {
    const network = { networkPlugin: 'kubenet', serviceCidr: '10.1.0.0/16', dnsServiceIP: '10.1.0.10' };
    const first = { ...withNetwork(network), dnsPrefix: 'first' };
    expect((await put('kept', first)).status).toBe(201);
    await settled('kept');
    for (const [property, change] of [
      ['dnsPrefix', { dnsPrefix: 'second' }],
      ['networkProfile.serviceCidr', withNetwork({ ...network, serviceCidr: '10.2.0.0/16' })],
      ['networkProfile.networkPlugin', withNetwork({ ...network, networkPlugin: 'none' })],
    ] as const) {
      expect(await put('kept', change)).toMatchObject({
        status: 400,
        body: { code: 'PropertyChangeNotAllowed', message: `Changing property '${property}' is not allowed.` },
      });
    }
    expect((await put('kept', first)).status).toBe(200);
    await settled('kept');
    const overlay = { networkPlugin: 'azure', networkPluginMode: 'overlay' };
    expect((await put('kept', withNetwork(overlay))).status).toBe(200);
  });

  it('refuses to start a cluster that runs', async () => {
    expect((await put('two', withPool({}))).status).toBe(201);
    await settled('two');
    expect(await fixture.ask(at('two', '/start'), { method: 'POST' })).toMatchObject({
      status: 400,
      body: {
        code: 'BadRequest',
        message:
          'managed cluster is in Provisioning State(Succeeded) and Power State(Running), starting cannot be performed',
      },
    });
  });

  it('changes a pool, with a warning when its nodes cannot be labelled', async () => {
    const warnings: string[] = [];
    const onWarning = ({ message }: Error): void => void warnings.push(message);
    process.on('warning', onWarning);
    const unmarked = await ArmFixture.start({ markNodes: () => Promise.reject(new Error('no answer')) });
    unmarked.arm.addAgentPool('pool', { ...SYSTEM });
    const body = { properties: { nodeLabels: { team: 'a' } } };
    expect((await unmarked.ask(at('local', '/agentPools/pool'), { method: 'PUT', body })).status).toBe(200);
    await expect.poll(() => warnings).toContain('nodes of pool: no answer');
    process.off('warning', onWarning);
    await unmarked.close();
  });

  it('has the defaults of AKS', async () => {
    for (const [name, networkProfile, maxPods] of [
      ['subnet', { networkPlugin: 'azure' }, 30],
      ['kubenet', { networkPlugin: 'Kubenet' }, 110],
      ['overlay', { networkPlugin: 'azure', networkPluginMode: 'Overlay', networkDataplane: 'cilium' }, 250],
    ] as const) {
      expect((await put(name, withNetwork(networkProfile))).status).toBe(201);
      expect(await settled(name)).toMatchObject({
        sku: { name: 'Base', tier: 'Free' },
        identity: { type: 'SystemAssigned', tenantId: expect.any(String) as string },
        properties: { agentPoolProfiles: [{ name: 'system', maxPods }] },
      });
    }
    expect(await settled('overlay')).toMatchObject({
      properties: { networkProfile: { networkPluginMode: 'overlay', networkPolicy: 'cilium' } },
    });
    expect(await settled('kubenet')).toMatchObject({ properties: { networkProfile: { networkPlugin: 'kubenet' } } });
  });
});
