/** A cluster at rest with every feature on, and an open dashboard: no requests except watches. */
import { afterEach, expect, it } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import { Labels } from '../../src/api/labels.ts';
import { LearnedAllocatable } from '../../src/catalogue/learnedAllocatable.ts';
import { createEngine } from '../../src/cli/compose/engine.ts';
import type { World } from '../../src/controllers/world/world.ts';
import { DashboardFeed } from '../../src/dashboard/feed.ts';
import { LiveSource } from '../../src/dashboard/liveSource.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { defaultNodeClass } from '../../src/nap/defaultPools.ts';
import { countingKube, type RequestCounts } from '../fixtures/kube/countingKube.ts';
import { VirtualAks } from '../fixtures/engine/virtualAks.ts';
import { poolSpec, Workbench } from '../fixtures/engine/workbench.ts';

const GATES = {
  nodeRepair: true,
  reservedCapacity: true,
  spotToSpotConsolidation: true,
  nodeOverlay: true,
  staticCapacity: true,
  capacityBuffer: true,
};
const containers = [{ name: 'main', image: 'app', resources: { requests: { cpu: '500m' } } }];

const MINUTE = 60_000;

let bench: Workbench | undefined;
let aks: VirtualAks | undefined;
afterEach(async () => {
  await bench?.close();
  await aks?.stop();
  bench = aks = undefined;
});

it('sends nothing while nothing happens, whatever is turned on', async () => {
  const { decorate, during } = countingKube();
  const ledger = new Ledger({ now: () => bench?.clock.now() ?? 0 });
  let feed: DashboardFeed | undefined;
  bench = await Workbench.start({
    decorate,
    pace: { boot: 5_000, ready: 1_000, podStart: 1_000 },
    engine: (ports) => {
      let world: World | undefined;
      const engine = createEngine({
        ...ports,
        batchIdle: 1_000,
        batchMax: 10_000,
        placementHints: { schedulers: ['default-scheduler'] },
        learned: new LearnedAllocatable(),
        gates: GATES,
        ledger,
        onWorld: (created) => (world = created),
      });
      const source = new LiveSource({ title: 'test', version: '0', ledger, metrics: { parts: async function* () {} } });
      if (world !== undefined) source.attach({ world, manager: engine });
      feed = new DashboardFeed(source);
      return engine;
    },
  });
  const { kube } = bench;
  await bench.createPool('default');
  await bench.createPool('fixed', { ...poolSpec(), replicas: 1 });
  await kube.create(Kinds.NodeOverlay, { metadata: { name: 'cheap' }, spec: { requirements: [], price: '0.05' } });
  await kube.create(Kinds.PodTemplate, {
    metadata: { name: 'spare', namespace: 'default' },
    template: { spec: { containers } },
  });
  await kube.create(Kinds.CapacityBuffer, {
    metadata: { name: 'spare', namespace: 'default' },
    spec: {
      provisioningStrategy: 'buffer.x-k8s.io/active-capacity',
      podTemplateRef: { name: 'spare' },
      replicas: 2,
    },
  });
  await kube.create(Kinds.Deployment, {
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers, nodeSelector: { [Labels.nodePool]: 'default' } },
      },
    },
  });
  await bench.advance(60 * 60_000);
  const running = (await bench.pods()).filter(({ status }) => status?.phase === 'Running');
  expect(running).toHaveLength(3);
  expect((await bench.claims()).length).toBeGreaterThan(1);
  const looked = bench;
  const counts: RequestCounts = await during(async () => {
    for (let minute = 0; minute < 30; minute++) {
      await looked.advance(60_000);
      expect((await feed?.frame())?.rows.length).toBeGreaterThan(1);
    }
  });
  expect(counts).toEqual({});
});

it('asks the API server for nothing on Azure either, and notices another version of it', async () => {
  const { decorate, during } = countingKube();
  const resting = await VirtualAks.start({
    seed: 'rest',
    profile: 'calm',
    process: () => ({ kube: decorate, httpClient: (client) => client }),
  });
  aks = resting;
  const { kube } = resting;
  const now = resting.clock.now();
  await kube.create(Kinds.ConfigMap, {
    metadata: { namespace: 'kube-system', name: 'upcoming-maintenance-window' },
    data: {
      'aksManagedNodeOSUpgradeSchedule-start': new Date(now + 24 * 60 * MINUTE).toISOString(),
      'aksManagedNodeOSUpgradeSchedule-end': new Date(now + 28 * 60 * MINUTE).toISOString(),
    },
  });
  await kube.create(Kinds.Pod, { metadata: { name: 'web', namespace: 'default' }, spec: { containers } });
  await resting.advance(60 * MINUTE);
  expect((await kube.get(Kinds.Pod, { namespace: 'default', name: 'web' })).status?.phase).toBe('Running');
  expect(await during(() => resting.advance(120 * MINUTE))).toEqual({});
  // The control plane is replaced, here by an older one: a new class gets its version.
  resting.world.arm.upgradeCluster(resting.world.arm.cluster, '1.36.1');
  await kube.create(Kinds.AKSNodeClass, { ...defaultNodeClass, metadata: { name: 'later' } });
  await resting.advance(MINUTE);
  const version = async (name: string) => (await kube.get(Kinds.AKSNodeClass, { name })).status?.kubernetesVersion;
  expect(await version('later')).toMatch(/^1\.36\.1/);
  expect(await version('default')).toMatch(/^1\.36\.3/);
}, 300_000);
