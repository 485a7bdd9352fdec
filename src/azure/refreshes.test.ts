import { expect, it } from 'vitest';
import { SeededRandom } from '../clock/seededRandom.ts';
import { VirtualClock } from '../clock/virtualClock.ts';
import { silentLog } from '../kube/log.ts';
import { Refreshes } from './refreshes.ts';

const MINUTE = 60_000;
const INTERVAL = 100 * MINUTE;
const RETRY = 10 * MINUTE;

/** When a source was refreshed; the first attempt fails. */
async function refreshed(seed: string, until: number): Promise<readonly number[]> {
  const clock = new VirtualClock(0);
  const at: number[] = [];
  const source = {
    name: 'prices',
    interval: INTERVAL,
    retry: RETRY,
    refresh: async () => {
      at.push(clock.now());
      if (at.length === 1) throw new Error('no answer');
    },
  };
  const stop = new AbortController();
  const running = new Refreshes({ sources: [source], clock, random: new SeededRandom(seed), log: silentLog }).run(
    stop.signal,
  );
  await clock.advance(until);
  stop.abort();
  await running;
  return at;
}

it('refreshes periodically, sooner after a failure, and at different times than other processes', async () => {
  const runs = await Promise.all(['one', 'two', 'three', 'four'].map((seed) => refreshed(seed, 10 * INTERVAL)));
  for (const at of runs) {
    const [first = -1, second = 0, ...others] = at;
    expect(first).toBe(0);
    expect(second).toBeGreaterThan(0.9 * RETRY);
    expect(second).toBeLessThanOrEqual(RETRY);
    expect(others.length).toBeGreaterThanOrEqual(9);
    others.forEach((moment, index) => {
      const waited = moment - (index === 0 ? second : (others[index - 1] ?? 0));
      expect(waited).toBeGreaterThan(0.9 * INTERVAL);
      expect(waited).toBeLessThanOrEqual(INTERVAL);
    });
  }
  expect(new Set(runs.map(([, second]) => second)).size).toBe(runs.length);
});
