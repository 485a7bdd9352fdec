import { afterEach, beforeEach, expect, it } from 'vitest';
import { Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import { nodeClaimLifecycleController } from '../nodeclaim-lifecycle/controller.ts';
import { nodeClaimConsistencyController } from './controller.ts';

let bench: Workbench;
beforeEach(async () => {
  bench = await Workbench.start({
    controllers: ({ world }) => [nodeClaimConsistencyController(world), nodeClaimLifecycleController(world)],
  });
});
afterEach(() => bench.close());

const setCpu = (cpu: string) =>
  bench.kube.patch(
    Kinds.Node,
    { name: 'node-a' },
    { type: 'merge', body: { status: { capacity: { cpu } } } },
    { subresource: 'status' },
  );

it('accepts a node whose resources are close to what the claim expected', async () => {
  bench.cloud.bootChange = (instance) => ({ ...instance, capacity: { ...instance.capacity, cpu: '1800m' } });
  await bench.createClaim('a');
  await bench.advance(60_000);
  expect(await bench.condition('a', 'ConsistentStateFound')).toBe('True ConsistentStateFound');
});

it('reports the resource that falls short, every ten minutes', async () => {
  bench.cloud.bootChange = (instance) => ({ ...instance, capacity: { ...instance.capacity, cpu: '1700m' } });
  await bench.createClaim('a');
  await bench.advance(60_000);
  expect(await bench.condition('a', 'ConsistentStateFound')).toBe('False ConsistencyCheckFailed');
  const [event] = await bench.events('FailedConsistencyCheck');
  expect(event).toMatchObject({ type: 'Warning', message: expect.stringContaining('resource cpu') as string });
  await setCpu('2');
  await bench.advance(60_000);
  expect(await bench.condition('a', 'ConsistentStateFound')).toBe('False ConsistencyCheckFailed');
  await bench.advance(600_000);
  expect(await bench.condition('a', 'ConsistentStateFound')).toBe('True ConsistentStateFound');
});
