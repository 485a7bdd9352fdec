/**
 * Covers the suite `scheduling` of Azure's own provider: labels, pools, init containers and prices determine the node.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Container, PodSpec } from 'kubernetes-types/core/v1.js';
import { Kinds } from '../../src/api/kinds.ts';
import { Labels } from '../../src/api/labels.ts';
import { clusterLabel } from '../../src/catalogue/nodeSettings.ts';
import { CORES, only, ProviderStories, STORY } from '../fixtures/engine/providerStory.ts';
import { VirtualAks } from '../fixtures/engine/virtualAks.ts';

const REGION = 'eastus';
const ON_DEMAND = only(Labels.capacityType, 'on-demand');
/** Little enough for many on one node. */
const SMALL = { requests: { cpu: '10m', memory: '10Mi' } };

let aks: VirtualAks;
let stories: ProviderStories;
beforeAll(async () => {
  aks = await VirtualAks.start({
    seed: 'scheduling',
    profile: 'calm',
    gates: { nodeOverlay: true },
    // FIPS images are in the shared galleries only.
    azure: async ({ world: { arm } }) => ({
      useSig: true,
      sigSubscriptionId: '11111111-1111-1111-1111-111111111111',
      sigAccessTokenServerUrl: `${arm.endpoint}/sig/token`,
    }),
  });
  stories = new ProviderStories(aks);
}, 300_000);
afterEach(() => stories.clear());
afterAll(() => aks.stop(), 300_000);

/** Asks for labels in every way that a pod has. */
function wanting(labels: Readonly<Record<string, string>>): Partial<PodSpec> {
  const terms = Object.entries(labels).map(([key, value]) => only(key, value));
  const term = { matchExpressions: terms.map(({ key, values }) => ({ key, operator: 'In', values: values ?? [] })) };
  return {
    nodeSelector: { ...labels },
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] },
        preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: term }],
      },
    },
  };
}

it('gives the annotations of a pool to its nodes', { timeout: 300_000 }, async () => {
  const annotations = { foo: 'bar', 'karpenter.sh/do-not-disrupt': 'true' };
  await stories.pool('annotated', [ON_DEMAND], { annotations });
  await stories.pod('annotated', 'annotated', CORES);
  expect((await stories.whereRuns('annotated')).node.metadata.annotations).toMatchObject(annotations);
});

describe('labels', () => {
  it.each<[string, () => Readonly<Record<string, string>>]>([
    [
      'of-sizes',
      () => ({
        [Labels.nodePool]: 'of-sizes',
        [Labels.instanceType]: 'Standard_D2s_v3',
        [Labels.skuName]: 'Standard_D2s_v3',
        [Labels.skuFamily]: 'D',
        'karpenter.azure.com/sku-series': 'Ds_v3',
        'karpenter.azure.com/sku-version': '3',
        [Labels.skuCpu]: '2',
        'karpenter.azure.com/sku-memory': '8192',
        'kubernetes.azure.com/sku-cpu': '2',
        'kubernetes.azure.com/sku-memory': '8192',
        'karpenter.azure.com/sku-networking-accelerated': 'true',
        'karpenter.azure.com/sku-storage-premium-capable': 'true',
        'karpenter.azure.com/sku-storage-ephemeralos-maxsize': '53',
        [Labels.skuUltraSsd]: 'false',
        [Labels.aksCluster]: clusterLabel(aks.world.arm.nodeResourceGroup),
        [Labels.aksMode]: 'system',
        [Labels.aksScaleSetPriority]: 'regular',
        [Labels.aksPriority]: 'regular',
        'kubernetes.azure.com/os-sku': 'Ubuntu',
      }),
    ],
    ['old-size', () => ({ 'beta.kubernetes.io/instance-type': 'Standard_D4s_v5' })],
    [
      'old-topology',
      () => ({
        'failure-domain.beta.kubernetes.io/region': REGION,
        'failure-domain.beta.kubernetes.io/zone': `${REGION}-1`,
        [Labels.diskZone]: `${REGION}-1`,
        'beta.kubernetes.io/arch': 'amd64',
        'beta.kubernetes.io/os': 'linux',
      }),
    ],
    [
      'topology',
      () => ({
        [Labels.nodePool]: 'topology',
        [Labels.region]: REGION,
        [Labels.zone]: `${REGION}-1`,
        [Labels.placementScope]: 'zonal',
        [Labels.os]: 'linux',
        [Labels.arch]: 'amd64',
        [Labels.capacityType]: 'on-demand',
      }),
    ],
    ['gpu', () => ({ [Labels.skuGpuManufacturer]: 'nvidia', 'karpenter.azure.com/sku-gpu-count': '1' })],
  ])('choose the node, and are on it: %s', { timeout: 300_000 }, async (story, labelsOf) => {
    await stories.pool(story, [{ key: Labels.skuFamily, operator: 'Exists' }, ON_DEMAND]);
    await stories.pod(story, story, SMALL, wanting(labelsOf()));
    expect((await stories.whereRuns(story)).labels).toMatchObject(labelsOf());
    expect(await stories.nodesOf(story)).toHaveLength(1);
  });

  it('tell of FIPS images', { timeout: 300_000 }, async () => {
    const labels = { [Labels.instanceType]: 'Standard_D2s_v3', 'kubernetes.azure.com/fips_enabled': 'true' };
    await stories.pool('fips', [ON_DEMAND], { class: { imageFamily: 'AzureLinux', fipsMode: 'FIPS' } });
    await stories.pod('fips', 'fips', SMALL, wanting(labels));
    const { vm, labels: found } = await stories.whereRuns('fips');
    expect(found).toMatchObject(labels);
    expect(vm.imageId).toContain('/V3gen2fips/');
  });

  it.each(['node-restriction.kubernetes.io', 'node.kubernetes.io'])(
    'of %s can be asked for, and are on the node',
    { timeout: 300_000 },
    async (domain) => {
      const labels = {
        [`${domain}/team`]: 'team-1',
        [`${domain}/custom-label`]: 'custom-value',
        [`subdomain.${domain}/custom-label`]: 'custom-value',
      };
      const story = domain.split('.')[0] ?? '';
      const allowed = Object.keys(labels).map((key) => ({ key, operator: 'Exists' as const }));
      await stories.pool(story, [ON_DEMAND, ...allowed]);
      await stories.pod(story, story, SMALL, wanting(labels));
      expect((await stories.whereRuns(story)).labels).toMatchObject(labels);
    },
  );
});

describe('pods', () => {
  async function deploy(story: string, replicas: number, spec: Partial<PodSpec>): Promise<void> {
    const matchLabels = { app: story };
    await aks.kube.create(Kinds.Deployment, {
      metadata: { namespace: 'default', name: story },
      spec: {
        replicas,
        selector: { matchLabels },
        template: {
          metadata: { labels: matchLabels },
          spec: {
            containers: [{ name: 'c', image: 'example.com/c', resources: SMALL }],
            nodeSelector: { [STORY]: story },
            ...spec,
          },
        },
      },
    });
    const ready = async (): Promise<number> => {
      const { status } = await aks.kube.get(Kinds.Deployment, { namespace: 'default', name: story });
      return status?.readyReplicas ?? 0;
    };
    await stories.until(async () => (await ready()) === replicas);
    expect(await ready()).toBe(replicas);
  }

  it('without an owner get a node', { timeout: 300_000 }, async () => {
    await stories.pool('naked', [ON_DEMAND]);
    await stories.pod('naked', 'naked', {});
    await stories.whereRuns('naked');
    expect(await stories.nodesOf('naked')).toHaveLength(1);
  });

  it('fifty of a deployment share a node', { timeout: 300_000 }, async () => {
    await stories.pool('fifty', [ON_DEMAND]);
    await deploy('fifty', 50, {});
    expect(await stories.nodesOf('fifty')).toHaveLength(1);
  });

  it('that want to be together get one node', { timeout: 300_000 }, async () => {
    await stories.pool('together', [ON_DEMAND]);
    const term = { labelSelector: { matchLabels: { app: 'together' } }, topologyKey: Labels.hostname };
    await deploy('together', 2, {
      affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
    });
    expect(await stories.nodesOf('together')).toHaveLength(1);
  });

  it('that spread over zones get a node in each', { timeout: 300_000 }, async () => {
    await stories.pool('spread', [ON_DEMAND, only(Labels.placementScope, 'zonal')]);
    await deploy('spread', 3, {
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: Labels.zone,
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: { app: 'spread' } },
          minDomains: 3,
          nodeTaintsPolicy: 'Honor',
        },
      ],
    });
    const zones = (await stories.nodesOf('spread')).map(({ metadata }) => metadata.labels?.[Labels.zone]);
    expect(zones).toHaveLength(3);
    expect(new Set(zones)).toEqual(new Set([`${REGION}-1`, `${REGION}-2`, `${REGION}-3`]));
  });

  it('go to the pool of the highest weight', { timeout: 300_000 }, async () => {
    await stories.pool('weights', [ON_DEMAND, only(Labels.instanceType, 'Standard_D2s_v5')], { spec: { weight: 10 } });
    const heavy = { spec: { weight: 100 } };
    await stories.pool('weights', [ON_DEMAND, only(Labels.instanceType, 'Standard_D4s_v5')], heavy, 'weights-heavy');
    await stories.pod('weights', 'weights', SMALL);
    const { vm, labels } = await stories.whereRuns('weights');
    expect([vm.size, labels[Labels.nodePool]]).toEqual(['Standard_D4s_v5', 'weights-heavy']);
  });
});

describe('init containers and sidecars', () => {
  const init = (name: string, cpu: string, memory = '10Mi'): Container => ({
    name,
    image: 'example.com/init',
    resources: { requests: { cpu, memory } },
  });
  const sidecar = (name: string, cpu: string, memory?: string): Container =>
    ({ ...init(name, cpu, memory), restartPolicy: 'Always' }) as Container;

  it.each<[string, string, readonly Container[]]>([
    ['later-init-exceeds', '8', [init('init-a', '300m'), sidecar('sidecar-b', '350m'), init('init-c', '1')]],
    ['later-init-fits', '4', [init('init-a', '300m'), sidecar('sidecar-b', '350m'), init('init-c', '300m')]],
    ['init-exceeds-all', '8', [sidecar('sidecar-a', '100m'), init('init-b', '1500m'), sidecar('sidecar-c', '100m')]],
  ])('need a node of the right size: %s', { timeout: 300_000 }, async (story, cpus, initContainers) => {
    await stories.pool(story, [
      ON_DEMAND,
      only(Labels.skuCpu, '4', '8'),
      { key: Labels.skuFamily, operator: 'NotIn', values: ['B'] },
    ]);
    // Both must be on one node, of which the first takes three cores.
    const term = { labelSelector: { matchLabels: { story } }, topologyKey: Labels.hostname };
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    await stories.pod(story, `${story}-buffer`, { requests: { cpu: '3' } }, { affinity }, { story });
    const more = { affinity, initContainers: [...initContainers] };
    await stories.pod(story, story, { requests: { cpu: '400m' } }, more, { story });
    const { node, labels } = await stories.whereRuns(story);
    expect((await stories.whereRuns(`${story}-buffer`)).node.metadata.name).toBe(node.metadata.name);
    expect(labels[Labels.skuCpu]).toBe(cpus);
  });

  it('need a node for what each asks for most', { timeout: 300_000 }, async () => {
    await stories.pool('mixed', [ON_DEMAND]);
    const initContainers = [sidecar('sidecar-a', '100m', '128Mi'), init('init-b', '50m', '4Gi')];
    await stories.pod('mixed', 'mixed', { requests: { cpu: '100m', memory: '128Mi' } }, { initContainers });
    expect((await stories.whereRuns('mixed')).vm.memoryGiB).toBeGreaterThan(4);
  });
});

describe('overlays of prices', () => {
  it.each([
    ['adjusted', 'Standard_D8s_v5', { priceAdjustment: '-99.99999999999%' }],
    ['overridden', 'Standard_E8s_v5', { price: '0.0000000232' }],
  ])('make the dear size the cheapest: %s', { timeout: 300_000 }, async (story, size, price) => {
    await stories.pool(story, [ON_DEMAND, only(Labels.instanceType, 'Standard_D2s_v5', size)]);
    await aks.kube.create(Kinds.NodeOverlay, {
      metadata: { name: story },
      spec: {
        ...price,
        requirements: [
          { key: Labels.nodePool, operator: 'In', values: [story] },
          { key: Labels.instanceType, operator: 'In', values: [size] },
        ],
      },
    });
    await aks.advance(60_000);
    await stories.pod(story, story, SMALL);
    expect((await stories.whereRuns(story)).vm.size).toBe(size);
  });
});
