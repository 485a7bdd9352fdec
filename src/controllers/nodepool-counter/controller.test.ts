import { afterEach, beforeEach, expect, it } from 'vitest';
import { Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import { nodeClaimLifecycleController } from '../nodeclaim-lifecycle/controller.ts';
import { nodePoolCounterController } from './controller.ts';

let bench: Workbench;
beforeEach(async () => {
  bench = await Workbench.start({
    controllers: ({ world }) => [nodePoolCounterController(world), nodeClaimLifecycleController(world)],
  });
});
afterEach(() => bench.close());

const status = async () => (await bench.kube.get(Kinds.NodePool, { name: 'default' })).status;

it('adds up the nodes and resources of a pool', async () => {
  await bench.createPool();
  await bench.clock.idle();
  expect(await status()).toMatchObject({
    nodes: 0,
    resources: { cpu: '0', memory: '0', pods: '0', 'ephemeral-storage': '0', nodes: '0' },
  });
  await bench.createClaim('a');
  await bench.createClaim('b');
  await bench.createClaim('elsewhere', {}, { labels: { 'karpenter.sh/nodepool': 'other' } });
  await bench.advance(40_000);
  expect(await status()).toMatchObject({ nodes: 2, resources: { cpu: '4', memory: '16Gi', pods: '220', nodes: '2' } });
  await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
  await bench.advance(5_000);
  expect(await status()).toMatchObject({ nodes: 1, resources: { cpu: '2' } });
});
