import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../clock/seededRandom.ts';
import { VirtualClock } from '../../clock/virtualClock.ts';
import { silentLog } from '../../kube/log.ts';
import { parseFault } from '../../local/faults/faultKinds.ts';
import { Faults } from '../../local/faults/faults.ts';
import { keepAlive } from './keepAlive.ts';

/** Runs processes whose `run` does what `life` says, and notes when each was started. */
function live(life: (incarnation: number, signal: AbortSignal) => Promise<void>) {
  const clock = new VirtualClock(0);
  const faults = new Faults({ clock, random: new SeededRandom(1) });
  const starts: number[] = [];
  const dead: (() => boolean)[] = [];
  const stop = new AbortController();
  const running = keepAlive(
    {
      faults,
      log: silentLog,
      clock,
      start: (isDead) => {
        const incarnation = starts.push(clock.now());
        dead.push(isDead);
        return Promise.resolve({ run: (signal: AbortSignal) => life(incarnation, signal) });
      },
    },
    stop.signal,
  );
  return { clock, faults, starts, dead, stop: () => stop.abort(), running };
}

const untilStopped = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

describe('keepAlive', () => {
  it('starts nodewright again when it fails, each time after a longer wait', async () => {
    const { clock, starts, stop, running } = live((incarnation, signal) =>
      incarnation < 4 ? Promise.reject(new Error('no route to host')) : untilStopped(signal),
    );
    await clock.advance(60_000);
    expect(starts).toEqual([0, 1_000, 3_000, 7_000]);
    stop();
    await running;
  });

  it('starts it again at once when a fault kills it, and cuts the dead one off', async () => {
    const { clock, faults, starts, dead, stop, running } = live((_incarnation, signal) => untilStopped(signal));
    await clock.advance(5_000);
    faults.add(parseFault('process-death'));
    await clock.advance(1_000);
    expect(starts).toEqual([0, 5_000]);
    expect(dead.map((isDead) => isDead())).toEqual([true, false]);
    expect(faults.list()).toEqual([]);
    stop();
    await running;
  });
});
