import { expect, it } from 'vitest';
import { SeededRandom } from '../../clock/seededRandom.ts';
import { VirtualClock } from '../../clock/virtualClock.ts';
import { silentLog } from '../log.ts';
import { singleton } from './singleton.ts';

/** Runs a loop for a while, and returns when its rounds started. */
async function rounds(length: number, work: number, wakesAt: readonly number[]): Promise<readonly number[]> {
  const clock = new VirtualClock(0);
  const began: number[] = [];
  const loop = singleton({
    name: 'test',
    clock,
    random: new SeededRandom(1),
    log: silentLog,
    interval: 10_000,
    wakes: [
      {
        start: (wake) => {
          for (const at of wakesAt) clock.after(at, () => wake('any'));
          return () => undefined;
        },
      },
    ],
    reconcile: async () => {
      began.push(clock.now());
      await clock.sleep(work);
    },
  });
  const stop = new AbortController();
  const ended = loop.run(stop.signal);
  await clock.advance(length);
  stop.abort();
  await Promise.all([ended, clock.idle()]);
  return began;
}

it('runs at its interval, and at once when it is woken', async () => {
  expect(await rounds(25_000, 0, [])).toEqual([0, 10_000, 20_000]);
  expect(await rounds(25_000, 0, [4_000])).toEqual([0, 4_000, 14_000, 24_000]);
});

it('rests a second between rounds, and nine times as long as a round took, however often it is woken', async () => {
  const often = Array.from({ length: 30 }, (_, at) => at * 100);
  expect(await rounds(3_500, 0, often)).toEqual([0, 1_000, 2_000, 3_000]);
  expect(await rounds(9_000, 400, often)).toEqual([0, 4_000]);
});

it('is woken by what happens during a round', async () => {
  expect(await rounds(5_000, 200, [100])).toEqual([0, 2_000]);
});
