/**
 * What the suites of Azure's own provider prove on live clusters, as far as no other test tells it as a story: on a
 * whole local AKS, from a pod to a VM, a node and a running pod.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PodSpec } from 'kubernetes-types/core/v1.js';
import { Kinds } from '../../src/api/kinds.ts';
import type { AksNodeClassSpec } from '../../src/api/kinds/aksNodeClass.ts';
import type { NodePool } from '../../src/api/kinds/nodePool.ts';
import { Labels } from '../../src/api/labels.ts';
import type { LocalVirtualMachine } from '../../src/local/arm/virtualMachines.ts';
import { defaultPools } from '../../src/nap/defaultPools.ts';
import { VirtualAks } from '../fixtures/engine/virtualAks.ts';

type Requirement = NodePool['spec']['template']['spec']['requirements'][number];

const STEP = 10_000;
const PATIENCE = 10 * 60_000;
const STORY = 'example.com/story';

let aks: VirtualAks;
beforeAll(async () => {
  aks = await VirtualAks.start({ seed: 'stories', profile: 'calm' });
}, 300_000);
afterAll(() => aks.stop(), 300_000);

const only = (key: string, ...values: readonly string[]): Requirement => ({ key, operator: 'In', values: [...values] });

/** A pool and a class for one story. */
async function poolFor(
  story: string,
  requirements: readonly Requirement[],
  spec: Partial<AksNodeClassSpec> = {},
): Promise<void> {
  await aks.kube.create(Kinds.AKSNodeClass, {
    metadata: { name: story },
    spec: { imageFamily: 'Ubuntu', osDiskSizeGB: 128, ...spec },
  });
  const [first] = defaultPools;
  if (first === undefined) throw new Error('AKS makes no pools');
  const { template } = first.spec;
  await aks.kube.create(Kinds.NodePool, {
    metadata: { name: story },
    spec: {
      ...first.spec,
      template: {
        metadata: { labels: { [STORY]: story } },
        spec: {
          ...template.spec,
          nodeClassRef: { ...template.spec.nodeClassRef, name: story },
          requirements: [only(Labels.os, 'linux'), ...requirements],
        },
      },
    },
  });
}

async function podFor(story: string, name: string, resources: object, more: Partial<PodSpec> = {}): Promise<void> {
  await aks.kube.create(Kinds.Pod, {
    metadata: { namespace: 'default', name },
    spec: {
      nodeSelector: { [STORY]: story },
      containers: [{ name: 'c', image: 'example.com/c', resources }],
      ...more,
    },
  });
}

const CORES = { requests: { cpu: '1500m', memory: '1Gi' } };

async function phaseOf(name: string): Promise<{ readonly phase: string; readonly node: string }> {
  const { spec, status } = await aks.kube.get(Kinds.Pod, { namespace: 'default', name });
  return { phase: status?.phase ?? '', node: spec?.nodeName ?? '' };
}

/** Lets time pass until the pod runs; its node, and the VM under that. */
async function whereRuns(name: string) {
  for (let waited = 0; waited < PATIENCE && (await phaseOf(name)).phase !== 'Running'; waited += STEP) {
    await aks.advance(STEP);
  }
  const { phase, node: nodeName } = await phaseOf(name);
  expect(`${name} ${phase}`).toBe(`${name} Running`);
  const node = await aks.kube.get(Kinds.Node, { name: nodeName });
  const vm = machineNamed(nodeName);
  if (vm === undefined) throw new Error(`there is no VM ${nodeName}`);
  return { node, vm, labels: node.metadata.labels ?? {} };
}

function machineNamed(name: string): LocalVirtualMachine | undefined {
  return aks.world.arm.virtualMachines().find((vm) => vm.computerName.toLowerCase() === name);
}

describe('utilization: one pod on each node', () => {
  it.each([
    ['ubuntu2204', 'Ubuntu2204', 'amd64', 'Ubuntu 22.04'],
    ['ubuntu2404', 'Ubuntu2404', 'amd64', 'Ubuntu 24.04'],
    ['azurelinux', 'AzureLinux', 'amd64', 'Azure Linux 3'],
    ['ubuntu2404-arm', 'Ubuntu2404', 'arm64', 'Ubuntu 24.04'],
    ['azurelinux-arm', 'AzureLinux', 'arm64', 'Azure Linux 3'],
  ] as const)('%s', { timeout: 300_000 }, async (story, imageFamily, architecture, image) => {
    await poolFor(
      story,
      [only(Labels.arch, architecture), only(Labels.skuCpu, '2'), only(Labels.capacityType, 'on-demand')],
      { imageFamily },
    );
    await podFor(story, `${story}-1`, CORES);
    await podFor(story, `${story}-2`, CORES);
    const [one, other] = [await whereRuns(`${story}-1`), await whereRuns(`${story}-2`)];
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
    await poolFor(story, [only(Labels.skuGpuManufacturer, 'nvidia'), only(Labels.capacityType, 'on-demand')], spec);
    await podFor(story, story, { limits: { 'nvidia.com/gpu': '1' }, requests: { cpu: '1' } });
    const { node, vm } = await whereRuns(story);
    expect(Number(node.status?.allocatable?.['nvidia.com/gpu'])).toBe(vm.gpus);
    const script = Buffer.from(vm.customData ?? '', 'base64').toString('utf8');
    expect(script).toContain(`GPU_NODE='${String(spec.gpu?.mode !== 'None')}'`);
  });
});

describe('spot: bought by another of its labels', () => {
  it.each([Labels.aksScaleSetPriority, Labels.aksPriority])('%s', { timeout: 300_000 }, async (label) => {
    const story = `spot-${label.split('/')[1] ?? ''}`;
    await poolFor(story, [only(label, 'spot')]);
    await podFor(story, story, CORES, { nodeSelector: { [STORY]: story, [label]: 'spot' } });
    const { vm, labels } = await whereRuns(story);
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
    await poolFor(scope, [only(Labels.placementScope, scope), only(Labels.capacityType, 'on-demand')]);
    await podFor(scope, scope, CORES);
    const { vm, labels } = await whereRuns(scope);
    expect(zones).toContain(vm.zone);
    expect(labels[Labels.zone]).toBe(vm.zone === undefined ? '0' : `${vm.location}-${vm.zone}`);
    expect(labels[Labels.placementScope]).toBe(scope);
  });
});

describe('subnet: of a class', () => {
  it('keeps pods waiting while it is in another network, and lets them run once it is corrected', async () => {
    const { subnetId } = aks.world.arm.network;
    const foreign = subnetId.replace(/virtualNetworks\/[^/]+/, 'virtualNetworks/other');
    await poolFor('subnet', [only(Labels.capacityType, 'on-demand')], { vnetSubnetID: foreign });
    await podFor('subnet', 'subnet', CORES);
    await aks.advance(2 * 60_000);
    expect((await phaseOf('subnet')).phase).toBe('Pending');
    const { status } = await aks.kube.get(Kinds.AKSNodeClass, { name: 'subnet' });
    expect(status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'SubnetsReady', status: 'False', reason: 'SubnetIDInvalid' }),
    );
    const body = { spec: { vnetSubnetID: subnetId } };
    await aks.kube.patch(Kinds.AKSNodeClass, { name: 'subnet' }, { type: 'merge', body });
    await whereRuns('subnet');
  }, 300_000);
});

describe('storage: a disk', () => {
  it('is made where its pod runs, and brings the next pod to the same zone', async () => {
    await poolFor('storage', [only(Labels.placementScope, 'zonal'), only(Labels.capacityType, 'on-demand')]);
    await aks.kube.create(Kinds.PersistentVolumeClaim, {
      metadata: { namespace: 'default', name: 'disk' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'managed-csi',
        resources: { requests: { storage: '10Gi' } },
      },
    });
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'disk' } }];
    await podFor('storage', 'first', CORES, { volumes });
    const first = await whereRuns('first');
    await aks.kube.delete(Kinds.Pod, { namespace: 'default', name: 'first' });
    const claims = (await aks.kube.list(Kinds.NodeClaim)).items;
    const claim = claims.find(({ status }) => status?.nodeName === first.node.metadata.name);
    await aks.kube.delete(Kinds.NodeClaim, { name: claim?.metadata.name ?? '' });
    await podFor('storage', 'second', CORES, { volumes });
    const second = await whereRuns('second');
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
    for (let waited = 0; waited < PATIENCE && !(await isReady()); waited += STEP) await aks.advance(STEP);
    const { status } = await stored();
    expect(machineNamed(status?.nodeName ?? '')).toMatchObject({ size: 'Standard_D2s_v5' });
    await aks.kube.delete(Kinds.NodeClaim, { name: 'alone' });
    await aks.advance(5 * 60_000);
    expect((await aks.kube.list(Kinds.NodeClaim)).items.map(({ metadata }) => metadata.name)).not.toContain('alone');
    expect(machineNamed(status?.nodeName ?? '')).toBeUndefined();
  }, 300_000);
});
