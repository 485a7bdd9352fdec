import type { ComputeManagementClient } from '@azure/arm-compute';
import { expect, it } from 'vitest';
import { VirtualClock } from '../clock/virtualClock.ts';
import type { Sku } from '../catalogue/resourceSku.ts';
import { Quota } from './quota.ts';

const D4 = { family: 'standardDSv5Family', cpus: 4 } as Sku;

/** A quota of ten vCPUs; `used` of them are in Azure's figures. */
async function quotaWith(used: () => number): Promise<{ readonly quota: Quota; readonly clock: VirtualClock }> {
  const clock = new VirtualClock(0);
  async function* list() {
    yield { name: { value: D4.family }, limit: 10, currentValue: used(), unit: 'Count' };
  }
  const compute = { usage: { list } } as unknown as ComputeManagementClient;
  const quota = new Quota({ compute, location: 'eastus', clock });
  await quota.refresh();
  return { quota, clock };
}

it('subtracts launches from the moment that they are decided on, and gives back those that fail', async () => {
  const { quota } = await quotaWith(() => 0);
  const first = quota.hold(D4);
  const second = quota.hold(D4);
  const generation = quota.generation;
  expect(quota.allows(D4)).toBe(false);
  first.release();
  first.release();
  expect(quota.allows(D4)).toBe(true);
  expect(quota.generation).toBeGreaterThan(generation);
  second.accepted();
  expect(quota.allows({ ...D4, cpus: 6 })).toBe(true);
  expect(quota.allows({ ...D4, cpus: 7 })).toBe(false);
});

it('counts an accepted launch until the figures contain it, and one in flight for longer', async () => {
  let used = 0;
  const { quota, clock } = await quotaWith(() => used);
  quota.hold(D4).accepted();
  quota.hold(D4);
  await clock.advance(60_000);
  used = 4;
  await quota.refresh();
  // Four are in the figures, four are on their way.
  expect(quota.allows({ ...D4, cpus: 2 })).toBe(true);
  expect(quota.allows({ ...D4, cpus: 3 })).toBe(false);
});
