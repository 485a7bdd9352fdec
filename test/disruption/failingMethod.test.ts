import { afterEach, beforeEach, expect, it } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import { disruptionController } from '../../src/controllers/disruption/controller.ts';
import { DisruptionQueue } from '../../src/controllers/disruption-queue/controller.ts';
import { EvictionQueue } from '../../src/controllers/eviction-queue/controller.ts';
import { nodeTerminationController } from '../../src/controllers/node-termination/controller.ts';
import { nodeClaimDisruptionController } from '../../src/controllers/nodeclaim-disruption/controller.ts';
import { nodeClaimLifecycleController } from '../../src/controllers/nodeclaim-lifecycle/controller.ts';
import { Planner } from '../../src/controllers/planning/planner.ts';
import type { Method } from '../../src/disruption/method.ts';
import { METHODS } from '../../src/disruption/methods.ts';
import { Workbench } from '../fixtures/engine/workbench.ts';

const MINUTE = 60_000;

/** Fails once it has yielded, as a method does when a question to the model fails. */
const failing: Method = {
  name: 'drift',
  reason: 'Drifted',
  class: 'eventual',
  consolidationType: '',
  consider: () => undefined,
  *decide() {
    yield;
    throw new Error('no answer');
  },
};

let bench: Workbench;
beforeEach(async () => {
  bench = await Workbench.start({
    controllers: ({ world }) => {
      const queue = new DisruptionQueue(world);
      const evictions = new EvictionQueue(world);
      return [
        disruptionController(world, {
          planner: new Planner(world),
          queue,
          methods: [failing, ...METHODS],
          settings: { spotToSpot: false, minValuesPolicy: 'Strict' },
        }),
        queue.controller(),
        nodeClaimLifecycleController(world),
        nodeClaimDisruptionController(world),
        nodeTerminationController(world, evictions),
        evictions.controller(),
      ];
    },
    pace: { boot: 5_000, ready: 1_000 },
  });
  await bench.createPool();
});
afterEach(() => bench.close());

it('a method that fails keeps no other from deciding', async () => {
  await bench.createClaim('a');
  await bench.createClaim('b');
  await bench.createPod('stays', { nodeName: 'node-b' });
  await bench.advance(2 * MINUTE);
  expect((await bench.claims()).map(({ metadata }) => metadata.name)).toEqual(['b']);
  expect(await bench.find(Kinds.Node, 'node-a')).toBeUndefined();
});
