import type { TokenCredential } from '@azure/core-auth';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { READY } from '../api/conditionTypes.ts';
import { renderCrds } from '../api/crds.ts';
import { Kinds, type Node } from '../api/kinds.ts';
import type { AksNodeClass, AksNodeClassSpec } from '../api/kinds/aksNodeClass.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import { Annotations, Labels, ManagedTags } from '../api/labels.ts';
import { SeededRandom } from '../clock/seededRandom.ts';
import { VirtualClock } from '../clock/virtualClock.ts';
import type { DriftSubject, Instance } from '../cloud/cloudProvider.ts';
import {
  InstanceNotFoundError,
  InsufficientCapacityError,
  LaunchError,
  NodeClassNotReadyError,
} from '../cloud/errors.ts';
import type { InstanceType } from '../cloud/instanceType.ts';
import type { Kube } from '../kube/kube.ts';
import { ArmError } from '../local/arm/armError.ts';
import type { Fault } from '../local/arm/faultPlan.ts';
import { bootInstance } from '../local/kubelet/bootInstance.ts';
import { LocalArm } from '../local/arm/localArm.ts';
import { Catalog } from '../local/apiserver/catalog.ts';
import { LocalKube } from '../local/apiserver/localKube.ts';
import { Objects } from '../local/apiserver/objects.ts';
import { Store } from '../local/apiserver/store.ts';
import { fits, parseResources } from '../units/resources.ts';
import { clusterAccess } from '../../test/fixtures/local/clusterAccess.ts';
import { createAzureClients } from './clients.ts';
import type { AzureCloudProvider } from './cloudProvider.ts';
import { environmentAt, environmentNamed, type AzureEnvironment } from './azureEnvironment.ts';
import { createAzureCloudProvider, type AzureCloudProviderOptions } from './createAzureCloudProvider.ts';

const START = Date.UTC(2026, 10, 15);

describe('AzureCloudProvider on the local Azure', () => {
  let clock: VirtualClock;
  let arm: LocalArm;
  let kube: Kube;
  let cloud: AzureCloudProvider;
  /** By operation: what goes wrong, and how many more times. */
  let faults: Map<string, { readonly fault: Fault; times: number }>;
  let calls: string[];

  beforeEach(async () => {
    clock = new VirtualClock(START);
    faults = new Map();
    calls = [];
    arm = new LocalArm({
      clock,
      random: new SeededRandom(1),
      faults: {
        before: ({ name }) => {
          calls.push(name);
          const entry = faults.get(name);
          if (entry === undefined || entry.times <= 0) return undefined;
          entry.times -= 1;
          return entry.fault;
        },
      },
    });
    await arm.listen();
    kube = newKube(clock);
    for (const definition of renderCrds()) await kube.create(Kinds.CustomResourceDefinition, definition);
    cloud = await newProvider();
    await makeNodeClass('default');
  });

  afterEach(() => arm.close());

  function newProvider(more: Partial<AzureCloudProviderOptions> = {}): Promise<AzureCloudProvider> {
    return createAzureCloudProvider({
      environment: environmentAt(arm.endpoint),
      caPem: arm.caPem,
      credential: arm.credential,
      subscriptionId: arm.subscriptionId,
      location: arm.location,
      nodeResourceGroup: arm.nodeResourceGroup,
      clusterName: 'test',
      clusterEndpoint: 'https://10.0.0.1:6443',
      ...clusterAccess,
      vnetSubnetId: arm.network.subnetId,
      kube,
      clock,
      random: new SeededRandom(2),
      ...more,
    });
  }

  async function makeNodeClass(name: string, wanted: Partial<AksNodeClassSpec> = {}): Promise<AksNodeClass> {
    const spec: AksNodeClassSpec = { imageFamily: 'Ubuntu', osDiskSizeGB: 128, ...wanted };
    const created = await kube.create(Kinds.AKSNodeClass, { metadata: { name }, spec });
    const { status } = await cloud.nodeClass.reconcileStatus(created);
    return kube.replace(Kinds.AKSNodeClass, { ...created, status }, { subresource: 'status' });
  }

  function claimNamed(name: string, requirements: NodeClaim['spec']['requirements'] = []): NodeClaim {
    return {
      metadata: { name, labels: { [Labels.nodePool]: 'default' } },
      spec: {
        nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
        requirements: [
          { key: Labels.capacityType, operator: 'In', values: ['on-demand'] },
          { key: Labels.skuFamily, operator: 'In', values: ['D'] },
          { key: Labels.arch, operator: 'In', values: ['amd64'] },
          ...requirements,
        ],
        resources: { requests: { cpu: '1500m', memory: '4Gi', pods: '5' } },
        taints: [{ key: 'team', value: 'a', effect: 'NoSchedule' }],
        expireAfter: 'Never',
      },
    };
  }

  /** Lets virtual time pass until the work is done. */
  async function finish<T>(work: Promise<T>): Promise<T> {
    let settled = false;
    const markSettled = (): void => {
      settled = true;
    };
    work.then(markSettled, markSettled);
    await clock.runUntil(() => settled);
    return work;
  }

  async function interfaces(): Promise<readonly string[]> {
    const { caPem, credential, subscriptionId, nodeResourceGroup } = arm;
    const environment = environmentAt(arm.endpoint);
    const random = new SeededRandom(3);
    const { network } = createAzureClients({ environment, caPem, credential, subscriptionId, clock, random });
    const names: string[] = [];
    const list = async (): Promise<void> => {
      for await (const { name = '' } of network.networkInterfaces.list(nodeResourceGroup)) names.push(name);
    };
    await finish(list());
    return names.sort();
  }

  function failNext(operation: string, fault: Fault, times = 1): void {
    faults.set(operation, { fault, times });
  }

  const nodeClassNamed = (name: string): Promise<AksNodeClass> => kube.get(Kinds.AKSNodeClass, { name });

  async function launch(claim: NodeClaim, signal?: AbortSignal, onFailure?: (error: Error) => void): Promise<Instance> {
    const nodeClass = await nodeClassNamed(claim.spec.nodeClassRef.name);
    return cloud.create({ claim, nodeClass, ...(onFailure && { onFailure }) }, signal);
  }

  async function instanceTypes(className = 'default'): Promise<readonly InstanceType[]> {
    const pool: NodePool = {
      metadata: { name: 'default' },
      spec: {
        template: {
          spec: {
            nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
            requirements: [],
            expireAfter: 'Never',
          },
        },
        disruption: { consolidateAfter: '0s', consolidationPolicy: 'WhenEmptyOrUnderutilized', budgets: [] },
      },
    };
    return cloud.instanceTypes(pool, await nodeClassNamed(className));
  }

  it('launches the cheapest instance that fits, with interface, tags, labels, taints and provider id', async () => {
    const instance = await finish(launch(claimNamed('one')));
    const [vm] = arm.virtualMachines();
    expect(vm).toMatchObject({ name: 'aks-one', size: 'Standard_D2as_v5', zone: '1', provisioningState: 'Creating' });
    expect(instance).toMatchObject({
      claimName: 'one',
      providerID: `azure:///subscriptions/${arm.subscriptionId}/resourceGroups/${arm.nodeResourceGroup.toLowerCase()}/providers/Microsoft.Compute/virtualMachines/aks-one`,
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
    expect(instance.createdAt).toBeLessThanOrEqual(clock.now());
    expect((await cloud.get(instance.providerID)).providerID).toBe(instance.providerID);
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
    const instance = await finish(launch(claimNamed('one')));
    const [vm] = arm.virtualMachines();
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
    calls.filter((name) => name === 'virtualMachineExtensions.createOrUpdate');

  it('returns when ARM has accepted the VM, and puts the billing extension on once it runs', async () => {
    await finish(launch(claimNamed('one')));
    expect(arm.virtualMachines()).toMatchObject([{ provisioningState: 'Creating' }]);
    expect(extensionCalls()).toEqual([]);
    await clock.advance(2 * 60_000);
    expect(arm.virtualMachines()).toMatchObject([{ provisioningState: 'Succeeded' }]);
    expect(extensionCalls()).toHaveLength(1);
  });

  it('takes up in a new process what an old one has left, and does nothing twice', async () => {
    const crash = new AbortController();
    await finish(launch(claimNamed('one'), crash.signal));
    crash.abort(new Error('crash'));
    await clock.advance(2 * 60_000);
    expect(extensionCalls()).toEqual([]);
    for (let process = 0; process < 2; process += 1) {
      cloud = await newProvider();
      await finish(cloud.list());
      await clock.advance(2 * 60_000);
      expect(extensionCalls()).toHaveLength(1);
    }
    expect(calls.filter((name) => name === 'virtualMachines.createOrUpdate')).toHaveLength(1);
  });

  it('keeps a healthy VM whose extension fails, and tries the extension again', async () => {
    const error = new ArmError(409, 'VMExtensionProvisioningError', 'No.');
    failNext('virtualMachineExtensions.createOrUpdate', { kind: 'failLate', error });
    const failures: Error[] = [];
    await finish(launch(claimNamed('one'), undefined, (failure) => failures.push(failure)));
    await clock.advance(5 * 60_000);
    expect(extensionCalls()).toHaveLength(2);
    expect(arm.virtualMachines()).toMatchObject([{ name: 'aks-one', provisioningState: 'Succeeded' }]);
    expect(failures).toEqual([]);
  });

  it('asks about an operation as often as Azure wants, and not again for its result', async () => {
    await arm.close();
    const polls: number[] = [];
    arm = new LocalArm({
      clock,
      random: new SeededRandom(1),
      durations: { virtualMachineCreate: 45_000 },
      faults: {
        before: ({ name }) => {
          calls.push(name);
          if (name === 'operations.get') polls.push(clock.now());
          return undefined;
        },
      },
    });
    await arm.listen();
    cloud = await newProvider({ billingExtension: false });
    calls = [];
    await finish(launch(claimNamed('one')));
    const accepted = clock.now();
    polls.length = 0;
    await clock.advance(2 * 60_000);
    expect(arm.virtualMachines()).toMatchObject([{ provisioningState: 'Succeeded' }]);
    const waits = polls.map((at, index) => at - (polls[index - 1] ?? accepted));
    expect(waits).toEqual([10_000, 10_000, 10_000, 10_000, 5_000]);
    expect(calls.filter((name) => name === 'networkInterfaces.get')).toHaveLength(1);
    expect(calls.filter((name) => name === 'virtualMachines.get')).toHaveLength(2);
  });

  it('offers every size with prices, zones and the regional offering', async () => {
    await clock.idle();
    const types = await instanceTypes();
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
      const types = await instanceTypes(name);
      return new Set(types.flatMap(({ requirements }) => [...requirements.get(Labels.arch).values]));
    };
    expect(await architectures('default')).toEqual(new Set(['amd64', 'arm64']));
    await makeNodeClass('trusted', { security: { trustedLaunch: { secureBoot: true, vtpm: true } } });
    expect(await architectures('trusted')).toEqual(new Set(['amd64']));
  });

  it('starts at list prices when the price list does not answer, with spot as dear as on demand', async () => {
    cloud = await newProvider({ environment: { ...environmentAt(arm.endpoint), prices: `${arm.endpoint}/nowhere` } });
    await clock.idle();
    const type = (await instanceTypes()).find(({ name }) => name === 'Standard_D2s_v5');
    expect(new Set(type?.offerings.map(({ price }) => price))).toEqual(new Set([0.096]));
  });

  it('speaks to another cloud with its audience, and tells nodes its name and registry', async () => {
    const china = environmentNamed('azurechinacloud');
    expect(china?.prices).toBeUndefined();
    const scopes: string[] = [];
    const environment: AzureEnvironment = {
      ...environmentAt(arm.endpoint),
      name: china?.name ?? '',
      registry: china?.registry ?? '',
      audience: china?.audience ?? '',
      prices: undefined,
    };
    const credential: TokenCredential = {
      getToken: (asked) => {
        scopes.push(...[asked].flat());
        return arm.credential.getToken();
      },
    };
    cloud = await newProvider({ environment, credential });
    await finish(launch(claimNamed('one')));
    await finish(cloud.list());
    expect(new Set(scopes)).toEqual(new Set(['https://management.core.chinacloudapi.cn/.default']));
    const script = atob(arm.virtualMachines()[0]?.customData ?? '');
    expect(script).toContain("TARGET_CLOUD='AzureChinaCloud'");
    expect(script).toContain("MCR_REPOSITORY_BASE='mcr.azure.cn'");
    const type = (await instanceTypes()).find(({ name }) => name === 'Standard_D2s_v5');
    expect(type?.offerings[0]?.price).toBe(0.096);
  });

  it('buys spot when allowed, and an instance in no zone when asked', async () => {
    const requirements: NodeClaim['spec']['requirements'] = [
      { key: Labels.placementScope, operator: 'In', values: ['regional'] },
    ];
    const claim = claimNamed('cheap', requirements);
    const [, ...others] = claim.spec.requirements;
    const instance = await finish(launch({ ...claim, spec: { ...claim.spec, requirements: others } }));
    expect(instance.labels).toMatchObject({
      [Labels.zone]: '0',
      [Labels.capacityType]: 'spot',
      [Labels.aksPriority]: 'spot',
    });
    expect(arm.virtualMachines()).toMatchObject([{ zone: undefined, priority: 'Spot' }]);
  });

  it('has no capacity for what is not sold', async () => {
    const claim = claimNamed('none', [{ key: Labels.skuCpu, operator: 'Gt', values: ['100000'] }]);
    await expect(finish(launch(claim))).rejects.toBeInstanceOf(InsufficientCapacityError);
    const huge = claimNamed('huge');
    const requests = { memory: '99Ti' };
    await expect(finish(launch({ ...huge, spec: { ...huge.spec, resources: { requests } } }))).rejects.toBeInstanceOf(
      InsufficientCapacityError,
    );
  });

  it.each([
    'networkInterfaces.createOrUpdate',
    'operations.get',
    'virtualMachines.createOrUpdate',
    'virtualMachines.get',
  ])('finds its instance again after a crash at %s', async (operation) => {
    const crash = new AbortController();
    const first = launch(claimNamed('one'), crash.signal);
    first.catch(() => undefined);
    const seen = calls.length;
    await clock.runUntil(() => calls.slice(seen).includes(operation));
    crash.abort(new Error('crash'));
    // What was on the wire may have reached Azure, and its answer the dying process.
    await Promise.allSettled([finish(first)]);
    cloud = await newProvider();
    const instance = await finish(launch(claimNamed('one')));
    const again = await finish(launch(claimNamed('one')));
    expect({ ...again, createdAt: 0 }).toEqual({ ...instance, createdAt: 0 });
    expect(arm.virtualMachines()).toHaveLength(1);
    expect((await cloud.list()).map(({ claimName }) => claimName)).toEqual(['one']);
  });

  it('deletes until nothing is left', async () => {
    const instance = await finish(launch(claimNamed('one')));
    const claim = { ...claimNamed('one'), status: { providerID: instance.providerID } };
    await finish(cloud.delete(claim));
    expect(await cloud.get(instance.providerID)).toMatchObject({ deleting: true });
    await finish(cloud.delete(claim));
    await clock.advance(60_000);
    expect(arm.virtualMachines()).toEqual([]);
    await expect(finish(cloud.delete(claim))).rejects.toBeInstanceOf(InstanceNotFoundError);
    await expect(cloud.get(instance.providerID)).rejects.toBeInstanceOf(InstanceNotFoundError);
    expect(await cloud.list()).toEqual([]);
  });

  it('removes an interface that was left without a VM', async () => {
    const crash = new AbortController();
    const first = launch(claimNamed('one'), crash.signal);
    first.catch(() => undefined);
    await clock.runUntil(() => calls.includes('networkInterfaces.createOrUpdate'));
    crash.abort(new Error('crash'));
    await expect(finish(first)).rejects.toThrow(/crash|abort/i);
    await finish(cloud.delete(claimNamed('one')));
    await clock.advance(60_000);
    await expect(finish(cloud.delete(claimNamed('one')))).rejects.toBeInstanceOf(InstanceNotFoundError);
  });

  it('removes interfaces that refused launches have left, once Azure lets go of them, and no others', async () => {
    const { labels } = await finish(launch(claimNamed('kept')));
    const crash = new AbortController();
    const begun = launch(claimNamed('begun'), crash.signal);
    begun.catch(() => undefined);
    const seen = calls.length;
    await clock.runUntil(() => calls.slice(seen).includes('networkInterfaces.createOrUpdate'));
    crash.abort(new Error('crash'));
    await expect(finish(begun)).rejects.toThrow(/crash|abort/i);
    const size = labels[Labels.instanceType] ?? '';
    arm.restrict({ size });
    const only = claimNamed('refused', [{ key: Labels.instanceType, operator: 'In', values: [size] }]);
    await expect(finish(launch(only))).rejects.toBeInstanceOf(InsufficientCapacityError);
    expect(await interfaces()).toEqual(['aks-begun', 'aks-kept', 'aks-refused']);
    const tidy = (): Promise<readonly string[]> => finish(cloud.leftovers.remove(() => ['begun']));
    expect(await tidy()).toEqual([]);
    await clock.advance(200_000);
    expect(await tidy()).toEqual(['aks-refused']);
    await clock.advance(60_000);
    expect(await interfaces()).toEqual(['aks-begun', 'aks-kept']);
  });

  it('learns from a zone that is full, cleans up, and goes elsewhere', async () => {
    const error = new ArmError(409, 'ZonalAllocationFailed', 'No room in the zone.');
    const before = await instanceTypes();
    failNext('virtualMachines.createOrUpdate', { kind: 'failLate', error });
    const failures: Error[] = [];
    await finish(launch(claimNamed('one'), undefined, (failure) => failures.push(failure)));
    await clock.advance(2 * 60_000);
    expect(failures).toMatchObject([{ name: 'LaunchError', reason: 'ZonalAllocationFailure' }]);
    expect(arm.virtualMachines()).toEqual([]);
    await expect(finish(cloud.delete(claimNamed('one')))).rejects.toBeInstanceOf(InstanceNotFoundError);
    const instance = await finish(launch(claimNamed('one')));
    expect(instance.labels[Labels.zone]).toBe('eastus-2');
    const after = await instanceTypes();
    const changed = after.filter((type, index) => type !== before[index]).map(({ name }) => name);
    expect(changed).toContain('Standard_D96as_v5');
    expect(changed.every((name) => /^Standard_D\d+as_v5$/.test(name))).toBe(true);
  });

  it('forgets a launch whose claim is deleted meanwhile', async () => {
    const error = new ArmError(409, 'ZonalAllocationFailed', 'No room in the zone.');
    failNext('virtualMachines.createOrUpdate', { kind: 'failLate', error });
    const failures: Error[] = [];
    await finish(launch(claimNamed('one'), undefined, (failure) => failures.push(failure)));
    await finish(cloud.delete(claimNamed('one')));
    await clock.advance(2 * 60_000);
    expect(failures).toEqual([]);
    await expect(finish(cloud.delete(claimNamed('one')))).rejects.toBeInstanceOf(InstanceNotFoundError);
  });

  it('keeps off a family whose quota is used up, and believes the figures for a while', async () => {
    const family = 'standardDASv5Family';
    const available = async (): Promise<string[]> => {
      const types = await instanceTypes();
      await clock.idle();
      const wanted = types.filter(({ name }) => ['Standard_D2as_v5', 'Standard_D4as_v5'].includes(name));
      return wanted.flatMap(({ name, offerings }) => {
        const bought = offerings.filter((one) => one.available && one.zone === 'eastus-1');
        return bought.map(({ capacityType }) => `${name} ${capacityType}`);
      });
    };
    await arm.close();
    arm = new LocalArm({ clock, random: new SeededRandom(1), quota: { [family]: 4 } });
    await arm.listen();
    cloud = await newProvider();
    await finish(launch(claimNamed('one')));
    // What was launched counts at once, before Azure's figures say so.
    expect(await available()).toEqual(['Standard_D2as_v5 on-demand', 'Standard_D2as_v5 spot', 'Standard_D4as_v5 spot']);
    // Figures are refreshed by a loop of their own, whether anything is planned or not.
    const stop = new AbortController();
    const refreshing = cloud.refreshes.run(stop.signal);
    await clock.advance(10 * 60_000);
    stop.abort();
    await refreshing;
    expect(await available()).toEqual(['Standard_D2as_v5 on-demand', 'Standard_D2as_v5 spot', 'Standard_D4as_v5 spot']);
    const second = await finish(launch(claimNamed('two')));
    expect(second.labels[Labels.instanceType]).toBe('Standard_D2as_v5');
    const third = await finish(launch(claimNamed('three')));
    expect(third.labels[Labels.instanceType]).not.toBe('Standard_D2as_v5');
  });

  it('waits as long as Azure asks when it is throttled', async () => {
    const error = new ArmError(429, 'TooManyRequests', 'Slow down.', { headers: { 'retry-after': '17' } });
    failNext('virtualMachines.get', { kind: 'refuse', error }, 2);
    const began = clock.now();
    await expect(
      finish(cloud.get('azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/x')),
    ).rejects.toBeInstanceOf(InstanceNotFoundError);
    expect(clock.now() - began).toBe(34_000);
  });

  it('waits through a throttled launch, whichever of Azure’s services is busy', async () => {
    const error = new ArmError(429, 'SubscriptionRequestsThrottled', 'Slow down.', { headers: { 'retry-after': '5' } });
    failNext('networkInterfaces.createOrUpdate', { kind: 'refuse', error }, 6);
    failNext('virtualMachines.createOrUpdate', { kind: 'refuse', error }, 6);
    const began = clock.now();
    await finish(launch(claimNamed('one')));
    expect(clock.now() - began).toBeGreaterThan(60_000);
    await clock.advance(60_000);
    expect(arm.virtualMachines()).toMatchObject([{ name: 'aks-one', provisioningState: 'Succeeded' }]);
    expect(calls.filter((name) => name === 'networkInterfaces.createOrUpdate')).toHaveLength(7);
  });

  it('keeps the access token out of errors', async () => {
    const error = new ArmError(403, 'AuthorizationFailed', 'No.');
    failNext('virtualMachines.get', { kind: 'refuse', error });
    const id = 'azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/x';
    const thrown: unknown = await finish(cloud.get(id)).catch((caught: unknown) => caught);
    expect(thrown).toMatchObject({ statusCode: 403, code: 'AuthorizationFailed' });
    expect(JSON.stringify((thrown as { request?: unknown }).request)).not.toContain('Bearer');
  });

  it('refuses to launch from a class that is not ready, or not ready for its present spec', async () => {
    const claim = claimNamed('one');
    const from = (name: string): NodeClaim => ({
      ...claim,
      spec: { ...claim.spec, nodeClassRef: { ...claim.spec.nodeClassRef, name } },
    });
    await makeNodeClass('fips', { fipsMode: 'FIPS', imageFamily: 'AzureLinux' });
    await expect(finish(launch(from('fips')))).rejects.toBeInstanceOf(NodeClassNotReadyError);
    const edited = await makeNodeClass('edited');
    await kube.replace(Kinds.AKSNodeClass, { ...edited, spec: { imageFamily: 'Ubuntu', osDiskSizeGB: 256 } });
    await expect(finish(launch(from('edited')))).rejects.toBeInstanceOf(LaunchError);
  });

  it('resolves the status of a class, and says what is wrong with it', async () => {
    const good = await kube.get(Kinds.AKSNodeClass, { name: 'default' });
    expect(good.status).toMatchObject({ kubernetesVersion: '1.36.3', localDNSState: 'Disabled' });
    expect(good.status?.images?.map(({ id }) => id.split('/')[4])).toEqual([
      '2404gen2containerd',
      '2404containerd',
      '2404gen2arm64containerd',
    ]);
    expect(good.status?.conditions?.find(({ type }) => type === READY)?.status).toBe('True');
    const lost = await makeNodeClass('lost', { vnetSubnetID: arm.network.subnetId.replace('aks-vnet', 'my-vnet') });
    expect(lost.status?.conditions?.find(({ type }) => type === 'SubnetsReady')).toMatchObject({
      status: 'False',
      reason: 'SubnetIDInvalid',
    });
    expect(lost.status?.conditions?.find(({ type }) => type === READY)?.status).toBe('False');
  });

  it('names the ways in which an instance differs from its class', async () => {
    const instance = await finish(launch(claimNamed('one')));
    const bare = claimNamed('one');
    const claim: NodeClaim = {
      ...bare,
      metadata: { ...bare.metadata, annotations: { ...instance.annotations } },
      status: { providerID: instance.providerID, imageID: instance.imageID ?? '' },
    };
    const nodeClass = await nodeClassNamed('default');
    const drift = (subject: Partial<DriftSubject<AksNodeClass>>): Promise<string | undefined> =>
      cloud.driftReason({ claim, nodeClass, node: undefined, ...subject });
    expect(await drift({})).toBeUndefined();
    expect(await drift({ claim: { ...claim, status: { ...claim.status, imageID: 'old' } } })).toBe('ImageDrift');
    const annotations = { ...instance.annotations, [Annotations.aksNodeClassHash]: '1' };
    const edited = { ...nodeClass, metadata: { ...nodeClass.metadata, annotations } };
    expect(await drift({ nodeClass: edited })).toBe('NodeClassDrift');
    const node: Node = {
      metadata: { name: 'aks-one' },
      status: { nodeInfo: { kubeletVersion: 'v1.35.0' } as NonNullable<NonNullable<Node['status']>['nodeInfo']> },
    };
    expect(await drift({ node })).toBe('K8sVersionDrift');
  });
});

function newKube(clock: VirtualClock): Kube {
  const store = new Store({ historyLimit: 1000 });
  const objects = new Objects(store, new Catalog(store), clock, new SeededRandom(3));
  return new LocalKube({ objects, clock, raw: async () => ({ gitVersion: 'v1.36.3' }) });
}
