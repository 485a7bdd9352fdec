/**
 * What the suites of Azure's own provider prove on live clusters, as far as no other test tells it as a story: on a
 * whole local AKS, from a pod to a VM, a node and a running pod.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import type { AksNodeClassSpec } from '../../src/api/kinds/aksNodeClass.ts';
import { Labels } from '../../src/api/labels.ts';
import { CORES, only, ProviderStories } from '../fixtures/engine/providerStory.ts';
import { VirtualAks } from '../fixtures/engine/virtualAks.ts';

const IDENTITY = 'Microsoft.ManagedIdentity/userAssignedIdentities/story-agentpool';

let aks: VirtualAks;
let stories: ProviderStories;
/** Of the identity with which nodes pull images. */
let principalId = '';

beforeAll(async () => {
  aks = await VirtualAks.start({ seed: 'stories', profile: 'calm', azure: withKubeletIdentity });
  stories = new ProviderStories(aks);
}, 300_000);
afterEach(() => stories.clear());
afterAll(() => aks.stop(), 300_000);

async function withKubeletIdentity(world: VirtualAks) {
  const path = `/subscriptions/${world.world.arm.subscriptionId}/resourceGroups/${world.world.arm.nodeResourceGroup}/providers/${IDENTITY}`;
  const { properties } = await world
    .azure()
    .send<{ readonly properties: { readonly clientId: string; readonly principalId: string } }>({
      method: 'PUT',
      path,
      apiVersion: '2023-01-31',
      body: { location: world.world.arm.location },
    });
  principalId = properties.principalId;
  return { nodeIdentities: [path], kubeletIdentityClientId: properties.clientId };
}

describe('utilization: one pod on each node', () => {
  it.each([
    ['ubuntu2204', 'Ubuntu2204', 'amd64', 'Ubuntu 22.04'],
    ['ubuntu2404', 'Ubuntu2404', 'amd64', 'Ubuntu 24.04'],
    ['azurelinux', 'AzureLinux', 'amd64', 'Azure Linux 3'],
    ['ubuntu2404-arm', 'Ubuntu2404', 'arm64', 'Ubuntu 24.04'],
    ['azurelinux-arm', 'AzureLinux', 'arm64', 'Azure Linux 3'],
  ] as const)('%s', { timeout: 300_000 }, async (story, imageFamily, architecture, image) => {
    await stories.pool(
      story,
      [only(Labels.arch, architecture), only(Labels.skuCpu, '2'), only(Labels.capacityType, 'on-demand')],
      { class: { imageFamily } },
    );
    await stories.pod(story, `${story}-1`, CORES);
    await stories.pod(story, `${story}-2`, CORES);
    const [one, other] = [await stories.whereRuns(`${story}-1`), await stories.whereRuns(`${story}-2`)];
    expect(one.vm.id).not.toBe(other.vm.id);
    for (const { node, vm } of [one, other]) {
      expect(vm).toMatchObject({ architecture, vCPUs: 2 });
      expect(node.status?.nodeInfo?.osImage).toContain(image);
    }
  });
});

describe('gpu: a pod that needs one', () => {
  it.each<[string, Partial<AksNodeClassSpec>]>([
    ['gpu-ubuntu', { imageFamily: 'Ubuntu2204' }],
    ['gpu-azurelinux', { imageFamily: 'AzureLinux' }],
    ['gpu-none', { imageFamily: 'Ubuntu2404', gpu: { mode: 'None' } }],
  ])('%s', { timeout: 300_000 }, async (story, spec) => {
    await stories.pool(story, [only(Labels.skuGpuManufacturer, 'nvidia'), only(Labels.capacityType, 'on-demand')], {
      class: spec,
    });
    await stories.pod(story, story, { limits: { 'nvidia.com/gpu': '1' }, requests: { cpu: '1' } });
    const { node, vm } = await stories.whereRuns(story);
    expect(Number(node.status?.allocatable?.['nvidia.com/gpu'])).toBe(vm.gpus);
    const script = Buffer.from(vm.customData ?? '', 'base64').toString('utf8');
    expect(script).toContain(`GPU_NODE='${String(spec.gpu?.mode !== 'None')}'`);
  });
});

describe('spot: bought by another of its labels', () => {
  it.each([Labels.aksScaleSetPriority, Labels.aksPriority])('%s', { timeout: 300_000 }, async (label) => {
    const story = `spot-${label.split('/')[1] ?? ''}`;
    await stories.pool(story, [only(label, 'spot')]);
    await stories.pod(story, story, CORES, { nodeSelector: { [label]: 'spot' } });
    const { vm, labels } = await stories.whereRuns(story);
    expect(vm.priority).toBe('Spot');
    expect(labels).toMatchObject({
      [Labels.capacityType]: 'spot',
      [Labels.aksScaleSetPriority]: 'spot',
      [Labels.aksPriority]: 'spot',
    });
  });
});

describe('integration: zones and regional placement', () => {
  it.each([
    ['zonal', ['1', '2', '3']],
    ['regional', [undefined]],
  ] as const)('%s', { timeout: 300_000 }, async (scope, zones) => {
    await stories.pool(scope, [only(Labels.placementScope, scope), only(Labels.capacityType, 'on-demand')]);
    await stories.pod(scope, scope, CORES);
    const { vm, labels } = await stories.whereRuns(scope);
    expect(zones).toContain(vm.zone);
    expect(labels[Labels.zone]).toBe(vm.zone === undefined ? '0' : `${vm.location}-${vm.zone}`);
    expect(labels[Labels.placementScope]).toBe(scope);
  });
});

describe('subnet: of a class', () => {
  it('keeps pods waiting while it is in another network, and lets them run once it is corrected', async () => {
    const { subnetId } = aks.world.arm.network;
    const foreign = subnetId.replace(/virtualNetworks\/[^/]+/, 'virtualNetworks/other');
    await stories.pool('subnet', [only(Labels.capacityType, 'on-demand')], { class: { vnetSubnetID: foreign } });
    await stories.pod('subnet', 'subnet', CORES);
    await aks.advance(2 * 60_000);
    expect((await stories.phaseOf('subnet')).phase).toBe('Pending');
    const { status } = await aks.kube.get(Kinds.AKSNodeClass, { name: 'subnet' });
    expect(status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'SubnetsReady', status: 'False', reason: 'SubnetIDInvalid' }),
    );
    const body = { spec: { vnetSubnetID: subnetId } };
    await aks.kube.patch(Kinds.AKSNodeClass, { name: 'subnet' }, { type: 'merge', body });
    await stories.whereRuns('subnet');
  }, 300_000);
});

describe('storage: a disk', () => {
  it('is made where its pod runs, and brings the next pod to the same zone', async () => {
    await stories.pool('storage', [only(Labels.placementScope, 'zonal'), only(Labels.capacityType, 'on-demand')]);
    await aks.kube.create(Kinds.PersistentVolumeClaim, {
      metadata: { namespace: 'default', name: 'disk' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'managed-csi',
        resources: { requests: { storage: '10Gi' } },
      },
    });
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'disk' } }];
    await stories.pod('storage', 'first', CORES, { volumes });
    const first = await stories.whereRuns('first');
    await aks.kube.delete(Kinds.Pod, { namespace: 'default', name: 'first' });
    const claims = (await aks.kube.list(Kinds.NodeClaim)).items;
    const claim = claims.find(({ status }) => status?.nodeName === first.node.metadata.name);
    await aks.kube.delete(Kinds.NodeClaim, { name: claim?.metadata.name ?? '' });
    await stories.pod('storage', 'second', CORES, { volumes });
    const second = await stories.whereRuns('second');
    expect(second.node.metadata.name).not.toBe(first.node.metadata.name);
    expect(second.vm.zone).toBe(first.vm.zone);
  }, 300_000);
});

describe('nodeclaim: without a pool', () => {
  it('gets a VM that joins, and goes with everything that it had', async () => {
    const claim = await aks.kube.create(Kinds.NodeClaim, {
      metadata: { name: 'alone' },
      spec: {
        nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
        requirements: [only(Labels.instanceType, 'Standard_D2s_v5'), only(Labels.capacityType, 'on-demand')],
        resources: { requests: { cpu: '1' } },
        expireAfter: 'Never',
      },
    });
    const stored = () => aks.kube.get(Kinds.NodeClaim, { name: claim.metadata.name });
    const isReady = async (): Promise<boolean> =>
      (await stored()).status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
    await stories.until(isReady);
    const { status } = await stored();
    expect(stories.machineNamed(status?.nodeName ?? '')).toMatchObject({ size: 'Standard_D2s_v5' });
    await aks.kube.delete(Kinds.NodeClaim, { name: 'alone' });
    await aks.advance(5 * 60_000);
    expect((await aks.kube.list(Kinds.NodeClaim)).items.map(({ metadata }) => metadata.name)).not.toContain('alone');
    expect(stories.machineNamed(status?.nodeName ?? '')).toBeUndefined();
  }, 300_000);
});

describe('acr: an image of a registry that asks who is there', () => {
  const registry = (): string =>
    `/subscriptions/${aks.world.arm.subscriptionId}/resourceGroups/${aks.world.arm.cluster.resourceGroup}/providers/Microsoft.ContainerRegistry/registries/stories`;

  it('is pulled once the registry is attached to the cluster', { timeout: 300_000 }, async () => {
    const azure = aks.azure();
    const { location, subscriptionId } = aks.world.arm;
    const body = { location, sku: { name: 'Basic' } };
    await azure.send({ method: 'PUT', path: registry(), apiVersion: '2023-07-01', body });
    await stories.pool('acr', [only(Labels.capacityType, 'on-demand')]);
    const image = 'stories.azurecr.io/pause:3.6';
    await stories.pod('acr', 'acr', {}, { containers: [{ name: 'c', image, resources: CORES }] });
    await stories.until(async () => (await containerOf('acr'))?.state?.waiting?.reason === 'ImagePullBackOff');
    expect(await containerOf('acr')).toMatchObject({
      state: { waiting: { message: expect.stringContaining('401 Unauthorized') as string } },
    });
    // As `az aks update --attach-acr` does it.
    const role = '7f951dda-4ed3-4680-a7ca-43fe172d538d';
    await azure.send({
      method: 'PUT',
      path: `${registry()}/providers/Microsoft.Authorization/roleAssignments/6f2a1c3e-0000-4000-8000-000000000001`,
      apiVersion: '2022-04-01',
      body: {
        properties: {
          roleDefinitionId: `/subscriptions/${subscriptionId}/providers/Microsoft.Authorization/roleDefinitions/${role}`,
          principalId,
        },
      },
    });
    await stories.whereRuns('acr');
    expect(await stories.nodesOf('acr')).toHaveLength(1);
  });

  async function containerOf(name: string) {
    return (await aks.kube.get(Kinds.Pod, { namespace: 'default', name })).status?.containerStatuses?.[0];
  }
});
