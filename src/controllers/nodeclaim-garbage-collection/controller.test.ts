import { afterEach, beforeEach, expect, it } from 'vitest';
import { Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import { instanceGarbageCollectionController } from '../instance-garbage-collection/controller.ts';
import { nodeClaimLifecycleController } from '../nodeclaim-lifecycle/controller.ts';
import { nodeClaimGarbageCollectionController } from './controller.ts';

let bench: Workbench;
beforeEach(async () => {
  bench = await Workbench.start({
    controllers: ({ world }) => [
      nodeClaimGarbageCollectionController(world),
      instanceGarbageCollectionController(world),
      nodeClaimLifecycleController(world),
    ],
  });
});
afterEach(() => bench.close());

const MINUTE = 60_000;

/** The instance is gone and its kubelet silent, which the node lifecycle controller notices. */
async function lose(name: string): Promise<void> {
  bench.cloud.lose(name);
  await bench.clock.idle();
  const body = { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } };
  await bench.kube.patch(Kinds.Node, { name: `node-${name}` }, { type: 'strategic', body }, { subresource: 'status' });
}

it('deletes a claim whose instance has vanished', async () => {
  await bench.createClaim('a');
  await bench.createClaim('b');
  await bench.advance(MINUTE);
  await lose('a');
  await bench.advance(2 * MINUTE);
  const leaving = (await bench.claims()).filter(({ metadata }) => metadata.deletionTimestamp);
  expect(leaving.map(({ metadata }) => metadata.name)).toEqual(['a']);
  expect(bench.metrics.value('karpenter_nodeclaims_disrupted_total', { reason: 'garbage_collected' })).toBe(1);
  expect(bench.decisions('removal')).toEqual(['node node-a (a) is removed: its instance is no longer in the cloud']);
});

it('keeps a claim whose kubelet reports, though the cloud list lags', async () => {
  await bench.createClaim('a');
  await bench.advance(MINUTE);
  bench.cloud.list = async () => [];
  await bench.advance(10 * MINUTE);
  expect((await bench.claim('a')).metadata.deletionTimestamp).toBeUndefined();
});

it('leaves unregistered claims to their registration timeout', async () => {
  bench.cloud.joins = false;
  await bench.createClaim('a');
  await bench.advance(MINUTE);
  bench.cloud.lose('a');
  await bench.advance(4 * MINUTE);
  expect((await bench.claim('a')).metadata.deletionTimestamp).toBeUndefined();
});

it('removes an instance without a claim, with its Node, once it is old enough', async () => {
  await bench.createClaim('a');
  await bench.advance(MINUTE);
  await bench.stopEngine();
  // The finalizers are removed by hand, so the claim is deleted.
  const body = { metadata: { finalizers: null } };
  await bench.kube.patch(Kinds.Node, { name: 'node-a' }, { type: 'merge', body });
  await bench.kube.patch(Kinds.NodeClaim, { name: 'a' }, { type: 'merge', body });
  await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
  bench.startEngine();
  await bench.advance(2 * MINUTE);
  expect(bench.cloud.instances).toHaveLength(1);
  await bench.advance(5 * MINUTE);
  expect(bench.cloud.instances).toEqual([]);
  expect(await bench.nodes()).toEqual([]);
});

it('retries when the cloud does not answer', async () => {
  const list = bench.cloud.list.bind(bench.cloud);
  bench.cloud.list = async () => Promise.reject(new Error('throttled'));
  await bench.createClaim('a');
  await bench.advance(MINUTE);
  bench.cloud.list = list;
  await lose('a');
  await bench.advance(3 * MINUTE);
  expect(bench.metrics.value('karpenter_nodeclaims_disrupted_total', { reason: 'garbage_collected' })).toBe(1);
});
