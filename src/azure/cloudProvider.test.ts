import type { TokenCredential } from '@azure/core-auth';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { Annotations, Labels, ManagedTags } from '../api/labels.ts';
import { InsufficientCapacityError } from '../cloud/errors.ts';
import { ArmError } from '../local/arm/armError.ts';
import { bootInstance } from '../local/kubelet/bootInstance.ts';
import { fits, parseResources } from '../units/resources.ts';
import { environmentAt, environmentNamed, type AzureEnvironment } from './azureEnvironment.ts';
import { claimNamed, ProviderRig } from '../../test/fixtures/azure/providerRig.ts';

describe('AzureCloudProvider on the local Azure', () => {
  let rig: ProviderRig;

  beforeEach(async () => {
    rig = await ProviderRig.start();
  });
  afterEach(() => rig.arm.close());

  it('launches the cheapest instance that fits, with interface, tags, labels, taints and provider id', async () => {
    const instance = await rig.finish(rig.launch(claimNamed('one')));
    const [vm] = rig.arm.virtualMachines();
    expect(vm).toMatchObject({ name: 'aks-one', size: 'Standard_D2as_v5', zone: '1', provisioningState: 'Creating' });
    expect(instance).toMatchObject({
      claimName: 'one',
      providerID: `azure:///subscriptions/${rig.arm.subscriptionId}/resourceGroups/${rig.arm.nodeResourceGroup.toLowerCase()}/providers/Microsoft.Compute/virtualMachines/aks-one`,
      imageID: expect.stringMatching(/2404gen2containerd\/versions\/202610\.15\.0$/) as string,
      capacity: { cpu: '2', pods: '250', 'ephemeral-storage': '128G' },
      labels: {
        [Labels.instanceType]: 'Standard_D2as_v5',
        [Labels.zone]: 'eastus-1',
        [Labels.capacityType]: 'on-demand',
        [Labels.placementScope]: 'zonal',
        [Labels.skuFamily]: 'D',
        [Labels.skuUltraSsd]: 'false',
        [Labels.aksScaleSetPriority]: 'regular',
      },
    });
    expect(instance.createdAt).toBeLessThanOrEqual(rig.clock.now());
    expect((await rig.cloud.get(instance.providerID)).providerID).toBe(instance.providerID);
    expect(Object.keys(instance.annotations)).toEqual([
      Annotations.aksNodeClassHash,
      Annotations.aksNodeClassHashVersion,
      Annotations.inPlaceUpdateHash,
    ]);
    expect(instance.capacity).not.toHaveProperty(['nvidia.com/gpu']);
    expect(vm?.tags).toEqual({
      [ManagedTags.cluster]: 'test',
      [ManagedTags.nodePool]: 'default',
      [ManagedTags.billing]: 'linux',
    });
    const script = atob(vm?.customData ?? '');
    expect(script).toContain('--register-with-taints=team=a:NoSchedule,karpenter.sh/unregistered:NoExecute ');
    expect(script).toMatch(/KUBELET_NODE_LABELS='.*karpenter\.sh\/nodepool=default.*'/);
    expect(script).toMatch(/--kube-reserved=cpu=100m,memory=1843Mi .*--max-pods=250 /);
    expect(script).toContain("API_SERVER_NAME='10.0.0.1'");
  });

  it('boots a node that is what the claim was promised', async () => {
    const instance = await rig.finish(rig.launch(claimNamed('one')));
    const [vm] = rig.arm.virtualMachines();
    const booted = vm === undefined ? undefined : bootInstance(vm);
    expect(booted).toMatchObject({
      name: 'aks-one',
      providerID: instance.providerID,
      kubeletVersion: 'v1.36.3',
      osImage: 'Ubuntu 24.04.3 LTS',
      taints: [
        { key: 'team', value: 'a', effect: 'NoSchedule' },
        { key: 'karpenter.sh/unregistered', effect: 'NoExecute' },
      ],
      capacity: { cpu: '2', pods: '250' },
      allocatable: { cpu: '1900m', pods: '250' },
    });
    const { labels = {}, allocatable = {} } = booted ?? {};
    expect(labels).toMatchObject(instance.labels);
    expect(labels).toMatchObject({ [Labels.nodePool]: 'default', 'kubernetes.azure.com/role': 'agent' });
    const promised = parseResources({ memory: instance.allocatable['memory'] ?? '' });
    expect(fits(promised, parseResources(allocatable))).toBe(true);
  });

  const extensionCalls = (): readonly string[] =>
    rig.calls.filter((name) => name === 'virtualMachineExtensions.createOrUpdate');

  it('returns when ARM has accepted the VM, and installs the billing extension once it runs', async () => {
    await rig.finish(rig.launch(claimNamed('one')));
    expect(rig.arm.virtualMachines()).toMatchObject([{ provisioningState: 'Creating' }]);
    expect(extensionCalls()).toEqual([]);
    await rig.clock.advance(2 * 60_000);
    expect(rig.arm.virtualMachines()).toMatchObject([{ provisioningState: 'Succeeded' }]);
    expect(extensionCalls()).toHaveLength(1);
  });

  it('resumes launches of an earlier process, and does nothing twice', async () => {
    const crash = new AbortController();
    await rig.finish(rig.launch(claimNamed('one'), crash.signal));
    crash.abort(new Error('crash'));
    await rig.clock.advance(2 * 60_000);
    expect(extensionCalls()).toEqual([]);
    for (let process = 0; process < 2; process += 1) {
      await rig.newProvider();
      await rig.finish(rig.cloud.list());
      await rig.clock.advance(2 * 60_000);
      expect(extensionCalls()).toHaveLength(1);
    }
    expect(rig.calls.filter((name) => name === 'virtualMachines.createOrUpdate')).toHaveLength(1);
  });

  it('keeps a healthy VM whose extension fails, and retries the extension', async () => {
    const error = new ArmError(409, 'VMExtensionProvisioningError', 'No.');
    rig.failNext('virtualMachineExtensions.createOrUpdate', { kind: 'failLate', error });
    const failures: Error[] = [];
    await rig.finish(rig.launch(claimNamed('one'), undefined, (failure) => failures.push(failure)));
    await rig.clock.advance(5 * 60_000);
    expect(extensionCalls()).toHaveLength(2);
    expect(rig.arm.virtualMachines()).toMatchObject([{ name: 'aks-one', provisioningState: 'Succeeded' }]);
    expect(failures).toEqual([]);
  });

  it('polls an operation as often as Azure asks, and does not fetch its result again', async () => {
    await rig.arm.close();
    rig = await ProviderRig.start({ durations: { virtualMachineCreate: 45_000 } });
    await rig.newProvider({ billingExtension: false });
    rig.calls.length = rig.callTimes.length = 0;
    await rig.finish(rig.launch(claimNamed('one')));
    const accepted = rig.clock.now();
    const before = rig.calls.length;
    await rig.clock.advance(2 * 60_000);
    const polls = rig.callTimes.filter((_at, index) => index >= before && rig.calls[index] === 'operations.get');
    expect(rig.arm.virtualMachines()).toMatchObject([{ provisioningState: 'Succeeded' }]);
    const waits = polls.map((at, index) => at - (polls[index - 1] ?? accepted));
    expect(waits).toEqual([10_000, 10_000, 10_000, 10_000, 5_000]);
    expect(rig.calls.filter((name) => name === 'networkInterfaces.get')).toHaveLength(1);
    expect(rig.calls.filter((name) => name === 'virtualMachines.get')).toHaveLength(2);
  });

  it('offers every size with prices, zones and the regional offering', async () => {
    await rig.clock.idle();
    const types = await rig.instanceTypes();
    const type = types.find(({ name }) => name === 'Standard_D2s_v5');
    expect(type?.offerings.map(({ zone, capacityType, price }) => `${zone} ${capacityType} ${price}`)).toEqual([
      'eastus-1 on-demand 0.096',
      'eastus-1 spot 0.024',
      'eastus-2 on-demand 0.096',
      'eastus-2 spot 0.024',
      'eastus-3 on-demand 0.096',
      'eastus-3 spot 0.024',
      '0 on-demand 0.096',
      '0 spot 0.024',
    ]);
    expect(type?.requirements.get(Labels.zone).toString()).toContain('[0 eastus-1 eastus-2 eastus-3]');
    const burstable = types.find(({ name }) => name === 'Standard_B2ms');
    expect(burstable?.offerings.filter((one) => one.capacityType === 'spot' && one.available)).toEqual([]);
  });

  it('offers no instance type that no image of the class boots', async () => {
    const architectures = async (name: string): Promise<Set<string>> => {
      const types = await rig.instanceTypes(name);
      return new Set(types.flatMap(({ requirements }) => [...requirements.get(Labels.arch).values]));
    };
    expect(await architectures('default')).toEqual(new Set(['amd64', 'arm64']));
    await rig.makeNodeClass('trusted', { security: { trustedLaunch: { secureBoot: true, vtpm: true } } });
    expect(await architectures('trusted')).toEqual(new Set(['amd64']));
  });

  it('starts with list prices when the price list does not answer, with spot as dear as on demand', async () => {
    await rig.newProvider({
      environment: { ...environmentAt(rig.arm.endpoint), prices: `${rig.arm.endpoint}/nowhere` },
    });
    await rig.clock.idle();
    const type = (await rig.instanceTypes()).find(({ name }) => name === 'Standard_D2s_v5');
    expect(new Set(type?.offerings.map(({ price }) => price))).toEqual(new Set([0.096]));
  });

  it('uses the audience of another cloud, and configures its name and registry on nodes', async () => {
    const china = environmentNamed('azurechinacloud');
    expect(china?.prices).toBeUndefined();
    const scopes: string[] = [];
    const environment: AzureEnvironment = {
      ...environmentAt(rig.arm.endpoint),
      name: china?.name ?? '',
      registry: china?.registry ?? '',
      audience: china?.audience ?? '',
      prices: undefined,
    };
    const credential: TokenCredential = {
      getToken: (asked) => {
        scopes.push(...[asked].flat());
        return rig.arm.credential.getToken();
      },
    };
    await rig.newProvider({ environment, credential });
    await rig.finish(rig.launch(claimNamed('one')));
    await rig.finish(rig.cloud.list());
    expect(new Set(scopes)).toEqual(new Set(['https://management.core.chinacloudapi.cn/.default']));
    const script = atob(rig.arm.virtualMachines()[0]?.customData ?? '');
    expect(script).toContain("TARGET_CLOUD='AzureChinaCloud'");
    expect(script).toContain("MCR_REPOSITORY_BASE='mcr.azure.cn'");
    const type = (await rig.instanceTypes()).find(({ name }) => name === 'Standard_D2s_v5');
    expect(type?.offerings[0]?.price).toBe(0.096);
  });

  it('buys spot when allowed, and an instance without a zone when asked', async () => {
    const requirements: NodeClaim['spec']['requirements'] = [
      { key: Labels.placementScope, operator: 'In', values: ['regional'] },
    ];
    const claim = claimNamed('cheap', requirements);
    const [, ...others] = claim.spec.requirements;
    const instance = await rig.finish(rig.launch({ ...claim, spec: { ...claim.spec, requirements: others } }));
    expect(instance.labels).toMatchObject({
      [Labels.zone]: '0',
      [Labels.capacityType]: 'spot',
      [Labels.aksPriority]: 'spot',
    });
    expect(rig.arm.virtualMachines()).toMatchObject([{ zone: undefined, priority: 'Spot' }]);
  });

  it('has no capacity for offerings that are not sold', async () => {
    const claim = claimNamed('none', [{ key: Labels.skuCpu, operator: 'Gt', values: ['100000'] }]);
    await expect(rig.finish(rig.launch(claim))).rejects.toBeInstanceOf(InsufficientCapacityError);
    const huge = claimNamed('huge');
    const requests = { memory: '99Ti' };
    await expect(
      rig.finish(rig.launch({ ...huge, spec: { ...huge.spec, resources: { requests } } })),
    ).rejects.toBeInstanceOf(InsufficientCapacityError);
  });

  it.each([
    'networkInterfaces.createOrUpdate',
    'operations.get',
    'virtualMachines.createOrUpdate',
    'virtualMachines.get',
  ])('finds its instance again after a crash at %s', async (operation) => {
    const crash = new AbortController();
    const first = rig.launch(claimNamed('one'), crash.signal);
    first.catch(() => undefined);
    const seen = rig.calls.length;
    await rig.clock.runUntil(() => rig.calls.slice(seen).includes(operation));
    crash.abort(new Error('crash'));
    // Requests on the wire may have reached Azure, and the answers the dying process.
    await Promise.allSettled([rig.finish(first)]);
    await rig.newProvider();
    const instance = await rig.finish(rig.launch(claimNamed('one')));
    const again = await rig.finish(rig.launch(claimNamed('one')));
    expect({ ...again, createdAt: 0 }).toEqual({ ...instance, createdAt: 0 });
    expect(rig.arm.virtualMachines()).toHaveLength(1);
    expect((await rig.cloud.list()).map(({ claimName }) => claimName)).toEqual(['one']);
  });
});
