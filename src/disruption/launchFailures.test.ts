import { expect, it } from 'vitest';
import { LaunchFailures } from './launchFailures.ts';

const MINUTE = 60_000;
const spot = { instanceType: 'a', zone: 'z1', capacityType: 'spot', pricePerHour: 1 };

it('remembers what failed for a quarter of an hour, in that pool, zone and capacity type', () => {
  const failures = new LaunchFailures();
  failures.failed('one', spot, 0);
  expect(failures.failedUntil('one', spot, 1)).toBe(15 * MINUTE);
  expect(failures.failedUntil('two', spot, 1)).toBeUndefined();
  expect(failures.failedUntil('one', { ...spot, zone: 'z2' }, 1)).toBeUndefined();
  expect(failures.failedUntil('one', spot, 15 * MINUTE)).toBeUndefined();
});

it('lets a pool rest after two failures in a row, longer after each further one, until one comes up', () => {
  const failures = new LaunchFailures();
  failures.failed('one', undefined, 0);
  expect(failures.pausedUntil('one', 0)).toBeUndefined();
  failures.failed('one', undefined, 0);
  expect(failures.pausedUntil('one', 0)).toBe(MINUTE);
  failures.failed('one', undefined, 0);
  expect(failures.pausedUntil('one', 0)).toBe(2 * MINUTE);
  for (let at = 0; at < 20; at++) failures.failed('one', undefined, 0);
  expect(failures.pausedUntil('one', 0)).toBe(30 * MINUTE);
  failures.succeeded('one');
  expect(failures.pausedUntil('one', 0)).toBeUndefined();
});

it('remembers a bounded number of offerings, the latest', () => {
  const failures = new LaunchFailures();
  for (let at = 0; at < 5_000; at++) failures.failed('one', { ...spot, instanceType: `t${at}` }, 0);
  expect(failures.failedUntil('one', { ...spot, instanceType: 't0' }, 1)).toBeUndefined();
  expect(failures.failedUntil('one', { ...spot, instanceType: 't4999' }, 1)).toBeDefined();
});
