/** How many requests the engine sends to the API server: none at rest, and few per change. Reads are watches. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import { createEngine } from '../../src/cli/compose/engine.ts';
import { countingKube, type RequestCounts } from '../fixtures/kube/countingKube.ts';
import { Workbench } from '../fixtures/engine/workbench.ts';

const CLAIMS = 20;

let bench: Workbench;
const { decorate, during } = countingKube();
const placementHints = { schedulers: ['default-scheduler'] };

beforeEach(async () => {
  bench = await Workbench.start({
    decorate,
    engine: (ports) => createEngine({ ...ports, batchIdle: 1_000, batchMax: 10_000, placementHints }),
    pace: { boot: 5_000, ready: 1_000, podStart: 1_000 },
  });
  await bench.createPool('default', {
    disruption: { consolidateAfter: 'Never', consolidationPolicy: 'WhenEmpty', budgets: [{ nodes: '0' }] },
  });
  await bench.advance(30_000);
});
afterEach(() => bench.close());

const reads = (counts: RequestCounts): RequestCounts =>
  Object.fromEntries(Object.entries(counts).filter(([name]) => /^(get|list|raw)/.test(name)));

async function settled(count: number): Promise<void> {
  for (let at = 0; at < count; at++) await bench.createClaim(`c${at}`);
  await bench.advance(10 * 60_000);
}

it('sends nothing while nothing happens', async () => {
  await settled(3);
  expect(await during(() => bench.advance(30 * 60_000))).toEqual({});
});

it('reads at most a Node that its kubelet has just written to launch one for a pod, and writes each object a few times', async () => {
  const counts = await during(async () => {
    await bench.createPod('p');
    await bench.advance(60_000);
  });
  expect((await bench.pods())[0]?.spec?.nodeName).toBeDefined();
  const { 'get Node': conflicts = 0, ...others } = reads(counts);
  expect(others).toEqual({});
  expect(conflicts).toBeLessThanOrEqual(1);
  expect(counts['create NodeClaim']).toBe(1);
  expect(counts['patch NodeClaim']).toBeLessThanOrEqual(8);
  // Class label, registration, registration again after a conflict, initialization.
  expect(counts['patch Node']).toBeLessThanOrEqual(4);
  expect(counts['patch NodePool'] ?? 0).toBeLessThanOrEqual(4);
});

it('reads nothing to judge the drift of every claim', async () => {
  await settled(CLAIMS);
  bench.cloud.drift = 'Changed';
  const counts = await during(() => bench.advance(6 * 60_000));
  expect(reads(counts)).toEqual({});
  expect(counts['patch NodeClaim']).toBe(CLAIMS);
});

it('reads nothing to drain a node, and asks for each of its pods once', async () => {
  await settled(1);
  for (const name of ['a', 'b', 'c']) await bench.createPod(name, { nodeName: 'node-c0' });
  await bench.advance(30_000);
  const counts = await during(async () => {
    await bench.kube.delete(Kinds.NodeClaim, { name: 'c0' });
    await bench.advance(60_000);
  });
  expect(await bench.find(Kinds.NodeClaim, 'c0')).toBeUndefined();
  expect(reads(counts)).toEqual({});
  expect(counts['evict']).toBe(3);
  expect(counts['delete Node']).toBe(1);
  expect(counts['patch NodeClaim']).toBeLessThanOrEqual(6);
  expect(counts['patch Node']).toBeLessThanOrEqual(3);
});

it('reads nothing while a node waits for its volumes to be detached', async () => {
  await settled(1);
  await bench.kube.create(Kinds.PersistentVolumeClaim, {
    metadata: { name: 'data', namespace: 'default' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, volumeName: 'pv-1' },
  });
  const daemons = await bench.kube.create(Kinds.DaemonSet, {
    metadata: { name: 'd', namespace: 'default' },
    spec: {
      selector: { matchLabels: { app: 'd' } },
      template: { metadata: { labels: { app: 'd' } }, spec: { containers: [{ name: 'main', image: 'agent' }] } },
    },
  });
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: daemons.metadata.uid ?? '' };
  await bench.createPod(
    'stays',
    {
      nodeName: 'node-c0',
      tolerations: [{ operator: 'Exists' }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
    },
    { ownerReferences: [{ ...owner, controller: true }] },
  );
  for (const volume of ['pv-1', 'pv-2']) {
    await bench.kube.create(Kinds.VolumeAttachment, {
      metadata: { name: `attached-${volume}` },
      spec: { attacher: 'disk.csi.azure.com', nodeName: 'node-c0', source: { persistentVolumeName: volume } },
    });
  }
  await bench.advance(30_000);
  const counts = await during(async () => {
    await bench.kube.delete(Kinds.NodeClaim, { name: 'c0' });
    await bench.advance(5 * 60_000);
  });
  expect((await bench.pods()).map(({ metadata }) => metadata.name)).toEqual(['stays']);
  expect(await bench.condition('c0', 'VolumesDetached')).toBe('Unknown AwaitingVolumeDetachment');
  expect(reads(counts)).toEqual({});
  expect(counts['patch NodeClaim']).toBeLessThanOrEqual(6);
  expect(counts['patch Node']).toBeLessThanOrEqual(3);
});
