import { beforeEach, expect, it } from 'vitest';
import { VirtualClock } from '../../clock/virtualClock.ts';
import { Batcher } from './batcher.ts';

let clock: VirtualClock;
let batcher: Batcher;
/** When windows closed, in virtual milliseconds. */
let closed: number[];

beforeEach(() => {
  clock = new VirtualClock(0);
  batcher = new Batcher({ clock, idle: 1_000, max: 10_000 });
  closed = [];
});

function waitOnce(signal = new AbortController().signal): void {
  void batcher.wait(signal).then(
    () => closed.push(clock.now()),
    () => closed.push(-1),
  );
}

it('stays closed without a trigger', async () => {
  waitOnce();
  await clock.advance(60_000);
  expect(closed).toEqual([]);
});

it('closes a while after the last new trigger', async () => {
  waitOnce();
  await clock.advance(5_000);
  batcher.trigger('a');
  await clock.advance(600);
  batcher.trigger('b');
  await clock.advance(5_000);
  expect(closed).toEqual([6_600]);
});

it('is not extended by a repeated trigger', async () => {
  waitOnce();
  batcher.trigger('a');
  for (let at = 0; at < 10; at++) {
    await clock.advance(300);
    batcher.trigger('a');
  }
  expect(closed).toEqual([1_000]);
});

it('closes at the latest after the maximum duration', async () => {
  waitOnce();
  for (let at = 0; at < 40; at++) {
    batcher.trigger(`pod-${at}`);
    await clock.advance(500);
  }
  expect(closed).toEqual([10_000]);
});

it('counts triggers from before the wait, once', async () => {
  batcher.trigger('a');
  await clock.advance(5_000);
  waitOnce();
  await clock.advance(5_000);
  expect(closed).toEqual([6_000]);
  waitOnce();
  await clock.advance(5_000);
  expect(closed).toEqual([6_000]);
  batcher.trigger('a');
  await clock.advance(5_000);
  expect(closed).toEqual([6_000, 12_000 - 1_000 + 5_000]);
});

it.each(['before the first trigger', 'within the window'])('ends when stopped %s', async (when) => {
  const stop = new AbortController();
  waitOnce(stop.signal);
  if (when === 'within the window') batcher.trigger('a');
  await clock.advance(500);
  stop.abort();
  await clock.idle();
  expect(closed).toEqual([-1]);
  expect(clock.pendingTimers).toBe(0);
});

it('opens for a reminder, but is not extended by reminders of pods from earlier windows', async () => {
  waitOnce();
  for (let at = 0; at < 10; at++) {
    batcher.remind(`old-${at}`);
    await clock.advance(300);
  }
  expect(closed).toEqual([1_000]);
});
