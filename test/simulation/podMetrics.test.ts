import { afterEach, beforeEach, expect, it } from 'vitest';
import { Workbench } from '../fixtures/engine/workbench.ts';
import { Kinds } from '../../src/api/kinds.ts';
import { createEngine } from '../../src/cli/compose/engine.ts';

let bench: Workbench;
beforeEach(async () => {
  bench = await Workbench.start({
    engine: (ports) => createEngine({ ...ports, batchIdle: 1_000, batchMax: 10_000 }),
    pace: { boot: 5_000, ready: 1_000, podStart: 1_000 },
  });
});
afterEach(() => bench.close());

const metric = (name: string) => bench.metrics.value(`karpenter_pods_${name}`, { name: 'p', namespace: 'default' });
const observed = (name: string) => bench.metrics.observed(`karpenter_pods_${name}`);

it('shows how long a pod waits while it waits, and how long it has waited after', async () => {
  await bench.createPod('p');
  await bench.advance(20_000);
  expect([metric('unbound_time_seconds'), metric('unstarted_time_seconds')]).toEqual([20, 20]);
  expect(metric('provisioning_unbound_time_seconds')).toBeUndefined();
  expect(metric('state')).toBe(1);

  await bench.createPool();
  await bench.advance(4_000);
  expect(metric('provisioning_unbound_time_seconds')).toBeGreaterThan(0);
  await bench.advance(30_000);
  for (const gone of ['unbound', 'unstarted', 'provisioning_unbound', 'provisioning_unstarted']) {
    expect(metric(`${gone}_time_seconds`)).toBeUndefined();
  }
  const [bound = 0] = observed('bound_duration_seconds');
  const [started = 0] = observed('startup_duration_seconds');
  expect(bound).toBeGreaterThan(20);
  expect(started).toBeGreaterThan(bound);
  expect(observed('provisioning_bound_duration_seconds')[0]).toBeLessThan(bound - 19);
  expect(observed('provisioning_startup_duration_seconds')).toHaveLength(1);
  expect(bench.metrics.value('karpenter_pods_state', { name: 'p', scheduled: 'true', nodepool: 'default' })).toBe(1);
  expect(bench.metrics.value('karpenter_pods_state', { name: 'p', scheduled: 'false' })).toBeUndefined();
});

it('shows nothing any more of a pod that is gone', async () => {
  await bench.createPod('p');
  await bench.advance(5_000);
  expect(metric('unbound_time_seconds')).toBe(5);
  await bench.kube.delete(Kinds.Pod, { name: 'p', namespace: 'default' }, { gracePeriodSeconds: 0 });
  await bench.advance(1_000);
  expect(metric('unbound_time_seconds')).toBeUndefined();
  expect(metric('state')).toBeUndefined();
});

it('says how long nothing has been decided', async () => {
  await bench.createPod('p', {}, { name: 'p' });
  await bench.advance(500);
  expect(metric('provisioning_scheduling_undecided_time_seconds')).toBeCloseTo(0.5, 0);
  await bench.advance(10_000);
  expect(metric('provisioning_scheduling_undecided_time_seconds')).toBeUndefined();
});
