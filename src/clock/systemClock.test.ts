import { describe, expect, it } from 'vitest';
import { SystemClock } from './systemClock.ts';

describe('SystemClock', () => {
  const clock = new SystemClock();

  it('sleeps at least as long as asked', async () => {
    const start = performance.now();
    await clock.sleep(20);
    // Timers may fire up to a millisecond early by the finer clock.
    expect(performance.now() - start).toBeGreaterThan(18);
  });

  it('measures durations by a clock that only goes forward', async () => {
    const start = clock.monotonic();
    await clock.sleep(20);
    expect(clock.monotonic() - start).toBeGreaterThan(18);
    expect(Math.abs(clock.now() - Date.now())).toBeLessThan(10_000);
  });

  it('wakes with the reason of an aborted signal', async () => {
    const controller = new AbortController();
    const sleep = clock.sleep(3_600_000, controller.signal);
    controller.abort(new Error('stop'));
    await expect(sleep).rejects.toThrow('stop');
    await expect(clock.sleep(10, controller.signal)).rejects.toThrow('stop');
  });

  it('cancels, and does not fire early when the delay is longer than one timer can hold', async () => {
    const fired: string[] = [];
    clock.after(5, () => fired.push('cancelled'))();
    const cancel = clock.after(2 ** 40, () => fired.push('far'));
    await clock.sleep(30);
    cancel();
    expect(fired).toEqual([]);
  });
});
