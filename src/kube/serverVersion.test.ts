import { beforeEach, expect, it } from 'vitest';
import { VirtualClock } from '../clock/virtualClock.ts';
import { ServerVersion } from './serverVersion.ts';

const MINUTE = 60_000;

let clock: VirtualClock;
let served: string | undefined;
let reads: number;
let version: ServerVersion;

beforeEach(() => {
  clock = new VirtualClock();
  served = 'v1.36.3';
  reads = 0;
  const kube = {
    raw: async () => {
      reads += 1;
      return { gitVersion: served };
    },
  };
  version = new ServerVersion({ kube, clock });
});

/** Asks every three minutes, as the status of node classes does. */
async function readsIn(minutes: number): Promise<number> {
  const before = reads;
  for (let passed = 0; passed < minutes; passed += 3) {
    await version.current();
    await clock.advance(3 * MINUTE);
  }
  return reads - before;
}

it('is read until the servers have settled, and then no more', async () => {
  expect(await version.current()).toBe('1.36.3');
  expect(await version.current()).toBe('1.36.3');
  expect(reads).toBe(1);
  expect(await readsIn(30)).toBeLessThan(8);
  expect(await readsIn(600)).toBe(0);
});

it('is read again at once when it is in doubt, and until a server that was replaced last has answered', async () => {
  await readsIn(60);
  served = 'v1.37.0';
  expect(await version.current()).toBe('1.36.3');
  version.doubt();
  expect(await version.current()).toBe('1.37.0');
  // One of several answered that was itself replaced later, while no watch was on it.
  version.doubt();
  served = 'v1.36.3';
  expect(await version.current()).toBe('1.36.3');
  served = 'v1.37.0';
  await clock.advance(15 * MINUTE);
  expect(await version.current()).toBe('1.37.0');
  expect(await readsIn(600)).toBe(0);
});

it('stays in doubt when a watch breaks during the request', async () => {
  const asked = version.current();
  served = 'v1.37.0';
  version.doubt();
  await asked;
  expect(await version.current()).toBe('1.37.0');
  expect(reads).toBe(2);
});

it('throws when the server does not report it', async () => {
  served = '';
  await expect(version.current()).rejects.toMatchObject({ code: 'ServerVersionUnknown' });
});
