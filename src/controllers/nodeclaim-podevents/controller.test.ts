import { afterEach, beforeEach, expect, it } from 'vitest';
import { Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import { nodeClaimLifecycleController } from '../nodeclaim-lifecycle/controller.ts';
import { nodeClaimPodEventsController } from './controller.ts';

let bench: Workbench;
beforeEach(async () => {
  bench = await Workbench.start({
    controllers: ({ world }) => [nodeClaimPodEventsController(world), nodeClaimLifecycleController(world)],
  });
  await bench.createClaim('a');
  await bench.advance(60_000);
});
afterEach(() => bench.close());

const stamp = async (): Promise<string | undefined> => (await bench.claim('a')).status?.lastPodEventTime;
const on = { nodeName: 'node-a' };

it('stamps the claim when a pod is bound, ends or leaves, at least ten seconds apart', async () => {
  expect(await stamp()).toBeUndefined();
  await bench.createPod('p', on);
  await bench.clock.idle();
  expect(await stamp()).toBe('2026-01-01T00:01:00Z');
  await bench.advance(5_000);
  await bench.createPod('q', on);
  await bench.clock.idle();
  expect(await stamp()).toBe('2026-01-01T00:01:00Z');
  await bench.advance(20_000);
  await bench.kube.delete(Kinds.Pod, { name: 'p', namespace: 'default' });
  await bench.clock.idle();
  expect(await stamp()).toBe('2026-01-01T00:01:25Z');
});

it('ignores pods of DaemonSets', async () => {
  const owner = await bench.kube.create(Kinds.DaemonSet, {
    metadata: { name: 'd', namespace: 'default' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  });
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: owner.metadata.uid ?? '' }];
  await bench.createPod('daemon', on, { ownerReferences });
  await bench.advance(20_000);
  expect(await stamp()).toBeUndefined();
});

it('does not count its own restart as an event', async () => {
  await bench.createPod('p', on);
  await bench.advance(30_000);
  const before = await stamp();
  await bench.stopEngine();
  await bench.advance(30_000);
  bench.startEngine();
  await bench.advance(30_000);
  expect(await stamp()).toBe(before);
});
