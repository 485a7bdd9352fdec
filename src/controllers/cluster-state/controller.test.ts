import { afterEach, beforeEach, expect, it } from 'vitest';
import { Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { clusterStateController } from './controller.ts';

let bench: Workbench;
beforeEach(async () => {
  bench = await Workbench.start({ controllers: ({ world }) => [clusterStateController(world)] });
});
afterEach(() => bench.close());

const metric = (name: string): number | undefined => bench.metrics.value(`karpenter_cluster_state_${name}`, {});

it('shows how many nodes the cluster has, and that it is synced while the engine runs', async () => {
  await bench.createClaim('a');
  await bench.createClaim('b');
  await bench.clock.idle();
  expect([metric('node_count'), metric('synced'), metric('unsynced_time_seconds')]).toEqual([2, 1, 0]);
  await bench.stopEngine();
  expect(metric('synced')).toBe(0);
});
