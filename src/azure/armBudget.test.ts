import { createHttpHeaders, createPipelineRequest, type PipelineResponse } from '@azure/core-rest-pipeline';
import { expect, it } from 'vitest';
import { SeededRandom } from '../clock/seededRandom.ts';
import { VirtualClock } from '../clock/virtualClock.ts';
import { noMetrics } from '../kube/metrics.ts';
import { ArmBudget } from './armBudget.ts';
import { armRequestOf } from './armRequest.ts';

const VM = '/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines';
const put = (name: string) => armRequestOf('PUT', `https://arm${VM}/${name}?api-version=1`);
const get = (name: string) => armRequestOf('GET', `https://arm${VM}/${name}?api-version=1`);
const nic = armRequestOf('PUT', 'https://arm/subscriptions/s/providers/Microsoft.Network/networkInterfaces/n');

function answer(status: number, headers: Readonly<Record<string, string>>, bodyAsText = ''): PipelineResponse {
  return { status, headers: createHttpHeaders(headers), request: createPipelineRequest({ url: 'x' }), bodyAsText };
}

/** Milliseconds until each request may be sent. */
async function waits(clock: VirtualClock, budget: ArmBudget, requests: readonly ReturnType<typeof put>[]) {
  const began = clock.now();
  const ends = requests.map(async (request) => {
    await budget.admit(request);
    return clock.now() - began;
  });
  await clock.advance(120_000);
  return Promise.all(ends);
}

function started(): { readonly clock: VirtualClock; readonly budget: ArmBudget } {
  const clock = new VirtualClock(0);
  return { clock, budget: new ArmBudget({ clock, random: new SeededRandom(1), metrics: noMetrics }) };
}

it('names operations by their kind of resource', () => {
  expect([put('x'), get('x'), nic].map(({ operation, kind }) => `${operation} ${kind}`)).toEqual([
    'Microsoft.Compute/virtualMachines PUT writes',
    'Microsoft.Compute/virtualMachines GET reads',
    'Microsoft.Network/networkInterfaces PUT writes',
  ]);
  const action = armRequestOf('POST', `https://arm/subscriptions/s/providers/A.B/clusters/c/pools/p/deleteMachines`);
  expect(action.operation).toBe('A.B/clusters/pools/deleteMachines POST');
});

it('delays only requests that share the bucket of a refusal', async () => {
  const { clock, budget } = started();
  const spent = { 'x-ms-ratelimit-remaining-resource': 'Microsoft.Compute/PutVMSubscriptionMaximum;0' };
  budget.note(put('a'), answer(429, spent), 17_000);
  const [a = 0, b = 0, read, other] = await waits(clock, budget, [put('a'), put('b'), get('a'), nic]);
  expect([a, b].every((wait) => wait >= 17_000 && wait < 18_000)).toBe(true);
  expect([read, other]).toEqual([0, 0]);
});

it('delays only one resource when only that is throttled', async () => {
  const { clock, budget } = started();
  budget.note(
    put('a'),
    answer(429, { 'x-ms-ratelimit-remaining-resource': 'Microsoft.Compute/PutVMResource;0' }),
    9_000,
  );
  expect(await waits(clock, budget, [put('a'), put('b')])).toEqual([9_000, 0]);
});

it('delays every write when the subscription is throttled, and resumes them one by one', async () => {
  const { clock, budget } = started();
  budget.note(nic, answer(429, {}, '{"error":{"code":"SubscriptionRequestsThrottled"}}'), 5_000);
  const requests = Array.from({ length: 100 }, (_, index) => put(`vm-${index}`));
  const ends = await waits(clock, budget, [...requests, get('x')]);
  expect(ends.pop()).toBe(0);
  expect(Math.min(...ends)).toBe(5_000);
  expect(new Set(ends).size).toBeGreaterThan(90);
  expect(Math.max(...ends)).toBeLessThan(12_000);
});

it('spends a low budget slowly, and uses a figure only for a while', async () => {
  const { clock, budget } = started();
  const low = { 'x-ms-ratelimit-remaining-subscription-writes': '2' };
  budget.note(nic, answer(200, low), undefined);
  const [wait = 0, read] = await waits(clock, budget, [nic, get('x')]);
  expect(wait).toBeGreaterThan(500);
  expect(wait).toBeLessThan(3_000);
  expect(read).toBe(0);
  expect(await waits(clock, budget, [nic])).toEqual([0]);
});
