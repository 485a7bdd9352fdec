import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LocalCluster } from '../../test/fixtures/engine/localCluster.ts';
import { Kinds } from '../api/kinds.ts';
import type { KwokNodeClass } from '../api/kinds/kwokNodeClass.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import { Labels, Taints } from '../api/labels.ts';
import { SeededRandom } from '../clock/seededRandom.ts';
import { VirtualClock } from '../clock/virtualClock.ts';
import type { Instance, TypeView } from '../cloud/cloudProvider.ts';
import { InstanceNotFoundError, InsufficientCapacityError, NodeClassNotReadyError } from '../cloud/errors.ts';
import { KubeError } from '../kube/errors.ts';
import { silentLog } from '../kube/log.ts';
import { parseResources } from '../units/resources.ts';
import { KwokCloudProvider } from './cloudProvider.ts';
import { defaultCatalogue } from './defaultCatalogue.ts';
import { parseInstanceTypes } from './instanceTypeFile.ts';

const CLASS_REF = { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' };

let clock: VirtualClock;
let local: LocalCluster;
let cloud: KwokCloudProvider;
let nodeClass: KwokNodeClass;

beforeEach(async () => {
  clock = new VirtualClock(Date.UTC(2026, 0, 1));
  local = new LocalCluster({ clock, random: new SeededRandom(3), log: silentLog });
  await local.installCrds();
  nodeClass = { metadata: { name: 'default' } };
  cloud = new KwokCloudProvider({ kube: local.kube, clock, log: silentLog, instanceTypes: defaultCatalogue() });
});
afterEach(() => local.close());

function claim(types: readonly string[], more: NodeClaim['spec']['requirements'] = []): NodeClaim {
  return {
    metadata: { name: 'a', uid: 'uid-a', labels: { team: 'blue', [Labels.nodePool]: 'default' } },
    spec: {
      nodeClassRef: CLASS_REF,
      requirements: [{ key: Labels.instanceType, operator: 'In', values: [...types] }, ...more],
      resources: { requests: { cpu: '1500m' } },
      expireAfter: 'Never',
    },
  };
}
const POOL: NodePool = {
  metadata: { name: 'default' },
  spec: { template: { spec: { nodeClassRef: CLASS_REF, requirements: [], expireAfter: 'Never' } } } as never,
};
const launch = (wanted: NodeClaim, view?: TypeView): Promise<Instance> =>
  cloud.create({ claim: wanted, nodeClass, ...(view && { view }) });
const nodes = async () => (await local.kube.list(Kinds.Node)).items;

describe('create', () => {
  it('creates a Node of the cheapest allowed instance that is large enough', async () => {
    const instance = await launch(claim(['c-1x-amd64-linux', 'c-4x-amd64-linux', 'c-2x-amd64-linux']));
    const [node] = await nodes();
    expect(node?.spec).toMatchObject({ providerID: instance.providerID, taints: [Taints.unregistered] });
    expect(node?.metadata.name).toMatch(/^kwok-a-[0-9a-f]{8}$/);
    expect(node?.metadata.labels).toMatchObject({
      team: 'blue',
      [Labels.hostname]: 'a',
      [Labels.instanceType]: 'c-2x-amd64-linux',
      [Labels.capacityType]: 'spot',
      'kwok.x-k8s.io/node': 'fake',
      'kwok-partition': 'a',
      'karpenter.kwok.sh/instance-family': 'c',
      'karpenter.kwok.sh/instance-cpu': '2',
    });
    expect(node?.status).toMatchObject({
      capacity: { cpu: '2', memory: '4Gi' },
      allocatable: { cpu: '1900m' },
      phase: 'Pending',
    });
  });

  it('uses the requested zone and capacity type', async () => {
    const instance = await launch(
      claim(
        ['c-2x-amd64-linux'],
        [
          { key: Labels.zone, operator: 'In', values: ['test-zone-c'] },
          { key: Labels.capacityType, operator: 'In', values: ['on-demand'] },
        ],
      ),
    );
    expect(instance.labels).toMatchObject({ [Labels.zone]: 'test-zone-c', [Labels.capacityType]: 'on-demand' });
  });

  it('sells no more of a reservation than is left', async () => {
    const offering = {
      Price: 0,
      ReservationCapacity: 2,
      Requirements: [
        { key: Labels.capacityType, operator: 'In', values: ['reserved'] },
        { key: Labels.zone, operator: 'In', values: ['test-zone-a'] },
      ],
    };
    const type = {
      name: 'prepaid',
      architecture: 'amd64',
      operatingSystems: ['linux'],
      resources: { cpu: '4', memory: '8Gi', pods: '10' },
      offerings: [offering],
    };
    const instanceTypes = parseInstanceTypes(JSON.stringify([type]));
    cloud = new KwokCloudProvider({ kube: local.kube, clock, log: silentLog, instanceTypes });
    const buy = (name: string): Promise<Instance> => {
      const { metadata, spec } = claim(['prepaid']);
      return launch({ metadata: { ...metadata, name, uid: `uid-${name}` }, spec });
    };
    const left = async (): Promise<unknown> => (await cloud.instanceTypes(POOL, nodeClass))[0]?.offerings[0];
    expect(await left()).toMatchObject({ reservationCapacity: 2, available: true });
    const outcomes = await Promise.allSettled([buy('a'), buy('b'), buy('c')]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(await left()).toMatchObject({ reservationCapacity: 0, available: false });
    const [node] = await nodes();
    await local.kube.delete(Kinds.Node, { name: node?.metadata.name ?? '' });
    expect(await left()).toMatchObject({ reservationCapacity: 1, available: true });
  });

  it('chooses among the types as changed by overlays, and creates the original instance', async () => {
    const wanted = claim(['c-1x-amd64-linux', 'c-2x-amd64-linux']);
    wanted.spec.resources = { requests: { cpu: '500m', 'example.com/widget': '1' } };
    await expect(launch(wanted)).rejects.toThrow(/resources excluded 16$/);
    const widget = parseResources({ 'example.com/widget': 1 });
    const view: TypeView = (types) =>
      types.map((type) =>
        type.name === 'c-2x-amd64-linux' ? { ...type, allocatable: { ...type.allocatable, ...widget } } : type,
      );
    const instance = await launch(wanted, view);
    expect(instance.labels[Labels.instanceType]).toBe('c-2x-amd64-linux');
    expect(instance.allocatable).not.toHaveProperty('example.com/widget');
  });

  it('finds what an earlier attempt has made', async () => {
    const first = await launch(claim(['c-2x-amd64-linux']));
    const second = await launch(claim(['c-2x-amd64-linux']));
    expect(second.providerID).toBe(first.providerID);
    expect(await nodes()).toHaveLength(1);
  });

  it('delays the Node when its class says so, unless it is given up before', async () => {
    nodeClass = { ...nodeClass, spec: { nodeRegistrationDelay: '1m' } };
    await launch(claim(['c-2x-amd64-linux']));
    await clock.advance(59_000);
    expect(await nodes()).toEqual([]);
    await clock.advance(1_000);
    expect(await nodes()).toHaveLength(1);
    const other = { ...claim(['c-2x-amd64-linux']), metadata: { name: 'b', uid: 'uid-b' } };
    await launch(other);
    await expect(cloud.delete(other)).rejects.toThrow(InstanceNotFoundError);
    await clock.advance(120_000);
    expect(await nodes()).toHaveLength(1);
  });

  it('launches an instance whose Node is refused: it cannot join until the Node is accepted', async () => {
    const refused = claim(['c-2x-amd64-linux']);
    let welcome = false;
    const kube = new Proxy(local.kube, {
      get: (target, name) =>
        name === 'create' && !welcome
          ? () => Promise.reject(new KubeError({ code: 403, reason: 'Forbidden', message: 'denied by a policy' }))
          : (Reflect.get(target, name) as unknown),
    });
    cloud = new KwokCloudProvider({ kube, clock, log: silentLog, instanceTypes: defaultCatalogue() });
    const { providerID } = await launch(refused);
    expect(providerID).toMatch(/^kwok:/);
    await clock.advance(1_000);
    expect(await nodes()).toEqual([]);
    welcome = true;
    await clock.advance(10_000);
    expect((await nodes()).map(({ spec }) => spec?.providerID)).toEqual([providerID]);
  });

  it('says what is wrong', async () => {
    await expect(launch(claim([]))).rejects.toThrow(InsufficientCapacityError);
    await expect(launch(claim(['no-such-type']))).rejects.toThrow(InsufficientCapacityError);
    const condition = {
      type: 'Ready',
      status: 'False' as const,
      reason: 'No',
      message: 'not today',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    nodeClass = { ...nodeClass, status: { conditions: [condition] } };
    await expect(launch(claim(['c-2x-amd64-linux']))).rejects.toThrow(NodeClassNotReadyError);
  });
});

it('gets, lists and deletes until nothing is left', async () => {
  await local.kube.create(Kinds.Node, { metadata: { name: 'foreign' }, spec: { providerID: 'azure://x' } });
  const { providerID } = await launch(claim(['c-2x-amd64-linux']));
  expect((await cloud.get(providerID)).claimName).toBe('a');
  expect((await cloud.list()).map((instance) => instance.providerID)).toEqual([providerID]);
  await cloud.delete(claim(['c-2x-amd64-linux']));
  await expect(cloud.delete(claim(['c-2x-amd64-linux']))).rejects.toThrow(InstanceNotFoundError);
  await expect(cloud.get(providerID)).rejects.toThrow(InstanceNotFoundError);
  expect(await cloud.list()).toEqual([]);
});

describe('the catalogue', () => {
  it('is the one that users of the kwok provider know', () => {
    const catalogue = defaultCatalogue();
    expect(catalogue).toHaveLength(144);
    const type = catalogue.find(({ name }) => name === 's-4x-arm64-windows');
    expect(type?.offerings).toHaveLength(8);
    const price = 0.025 * 4 + (0.001 * 16 * 2 ** 30) / 1e9;
    expect(type?.offerings.map((offering) => offering.price)).toContain(price);
    expect(type?.offerings.map((offering) => offering.price)).toContain(price * 0.7);
    expect(String(type?.capacity['pods'])).toBe('64');
  });

  it('can come from a file', () => {
    const text = JSON.stringify([
      {
        name: 'm5.large',
        architecture: 'amd64',
        operatingSystems: ['linux'],
        resources: { cpu: '2', memory: '8Gi', 'nvidia.com/gpu': '1' },
        offerings: [
          {
            Price: 0.1,
            Available: false,
            Requirements: [
              { key: Labels.capacityType, operator: 'In', values: ['spot'] },
              { key: Labels.zone, operator: 'In', values: ['z'] },
            ],
          },
        ],
      },
    ]);
    const [type] = parseInstanceTypes(text);
    expect(type?.offerings).toMatchObject([{ zone: 'z', capacityType: 'spot', price: 0.1, available: true }]);
    expect(type?.requirements.get('karpenter.kwok.sh/instance-size').has('large')).toBe(true);
    expect(type?.requirements.get('karpenter.kwok.sh/instance-family').has('m5')).toBe(true);
    expect(String(type?.capacity['pods'])).toBe('110');
    expect(String(type?.allocatable['cpu'])).toBe('1900m');
  });

  it.each([
    ['{}', /JSON array/],
    ['[{"name":"x"}]', /entry 0/],
    ['nonsense', /JSON/],
  ])('refuses a file with %s', (text, complaint) => {
    expect(() => parseInstanceTypes(text)).toThrow(complaint);
  });
});
