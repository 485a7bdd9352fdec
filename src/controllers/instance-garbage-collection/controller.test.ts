import { afterEach, beforeEach, expect, it } from 'vitest';
import { Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import { nodeClaimLifecycleController } from '../nodeclaim-lifecycle/controller.ts';
import { instanceGarbageCollectionController } from './controller.ts';

const MINUTE = 60_000;

let bench: Workbench;
beforeEach(async () => {
  bench = await Workbench.start({
    controllers: ({ world }) => [nodeClaimLifecycleController(world), instanceGarbageCollectionController(world)],
  });
});
afterEach(() => bench.close());

it('removes an instance without a claim, with its Node, and keeps those with one', async () => {
  await bench.createClaim('lost');
  await bench.createClaim('kept');
  await bench.advance(MINUTE);
  const release = { type: 'merge', body: { metadata: { finalizers: null } } } as const;
  await bench.stopEngine();
  await bench.kube.patch(Kinds.NodeClaim, { name: 'lost' }, release);
  await bench.kube.patch(Kinds.Node, { name: 'node-lost' }, release);
  await bench.kube.delete(Kinds.NodeClaim, { name: 'lost' });
  bench.startEngine();
  await bench.advance(3 * MINUTE);
  expect(bench.cloud.instances).toHaveLength(2);
  await bench.advance(5 * MINUTE);
  expect(bench.cloud.instances.map(({ claimName }) => claimName)).toEqual(['kept']);
  expect((await bench.nodes()).map(({ metadata }) => metadata.name)).toEqual(['node-kept']);
});
