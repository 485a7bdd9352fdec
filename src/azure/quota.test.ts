import type { ComputeManagementClient } from '@azure/arm-compute';
import { expect, it } from 'vitest';
import { VirtualClock } from '../clock/virtualClock.ts';
import type { Sku } from '../catalogue/resourceSku.ts';
import { Quota } from './quota.ts';

const D4 = { family: 'standardDSv5Family', cpus: 4 } as Sku;
const NEED = { names: [D4.family, 'cores'], amount: D4.cpus };

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

it('subtracts launches as soon as they are decided, and adds failed ones back', async () => {
  const { quota } = await quotaWith(() => 0);
  const first = quota.hold(NEED, 'one');
  const second = quota.hold(NEED, 'one');
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
  quota.hold(NEED, 'one').accepted();
  quota.hold(NEED, 'one');
  await clock.advance(60_000);
  used = 4;
  await quota.refresh();
  // Four are in the figures, four are being launched.
  expect(quota.allows({ ...D4, cpus: 2 })).toBe(true);
  expect(quota.allows({ ...D4, cpus: 3 })).toBe(false);
});

it('reports the usage of every quota, with launching and unlaunched claims counted once', async () => {
  const { quota } = await quotaWith(() => 2);
  quota.hold(NEED, 'launching');
  const planned = new Map([
    ['launching', NEED],
    ['waiting', { ...NEED, amount: 1 }],
  ]);
  expect(quota.figures(planned)).toEqual(new Map([[D4.family, { limit: 10, used: 7 }]]));
  expect(quota.figures(new Map())).toEqual(new Map([[D4.family, { limit: 10, used: 6 }]]));
});
