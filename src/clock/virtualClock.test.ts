import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from './virtualClock.ts';

describe('VirtualClock', () => {
  it('starts where it is told and passes exactly the time asked for', async () => {
    const clock = new VirtualClock(new Date('2030-01-01T00:00:00Z'));
    await clock.advance(90_000);
    expect(new Date(clock.now()).toISOString()).toBe('2030-01-01T00:01:30.000Z');
  });

  it('fires timers by due time, then in the order they were set', async () => {
    const clock = new VirtualClock();
    const fired: string[] = [];
    clock.after(20, () => fired.push('late'));
    clock.after(10, () => fired.push('first of two'));
    clock.after(10, () => fired.push('second of two'));
    await clock.advance(15);
    expect(fired).toEqual(['first of two', 'second of two']);
    await clock.advance(5);
    expect(fired).toEqual(['first of two', 'second of two', 'late']);
  });

  it('property: any mix of timers and cancellations fires the rest, in order, at its due time', async () => {
    const delays = fc.array(fc.record({ delay: fc.nat(50), cancel: fc.boolean() }), { maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(delays, async (plan) => {
        const clock = new VirtualClock(1_000, { quietTurns: 1 });
        const fired: { index: number; at: number }[] = [];
        const cancels = plan.map(({ delay }, index) =>
          clock.after(delay, () => fired.push({ index, at: clock.now() })),
        );
        plan.forEach(({ cancel }, index) => cancel && cancels[index]?.());
        await clock.advance(50);
        const expected = plan
          .map(({ delay, cancel }, index) => ({ index, at: 1_000 + delay, cancel }))
          .filter(({ cancel }) => !cancel)
          .map(({ index, at }) => ({ index, at }))
          .sort((one, other) => one.at - other.at || one.index - other.index);
        expect(fired).toEqual(expected);
        expect(clock.pendingTimers).toBe(0);
      }),
      { numRuns: 60 },
    );
  });

  it('property: two runs of the same sleeping tasks see the same interleaving', async () => {
    const tasks = fc.array(fc.array(fc.nat(20), { maxLength: 8 }), { maxLength: 12 });
    const play = async (plan: readonly (readonly number[])[]): Promise<string[]> => {
      const clock = new VirtualClock(0, { quietTurns: 1 });
      const trace: string[] = [];
      const all = plan.map(async (naps, task) => {
        for (const nap of naps) {
          await clock.sleep(nap);
          trace.push(`${task}@${clock.now()}`);
        }
      });
      await clock.advance(200);
      await Promise.all(all);
      return trace;
    };
    await fc.assert(
      fc.asyncProperty(tasks, async (plan) => {
        expect(await play(plan)).toEqual(await play(plan));
      }),
      { numRuns: 30 },
    );
  });

  it('honours a cancellation made by an earlier timer of the same moment', async () => {
    const clock = new VirtualClock();
    const fired: string[] = [];
    const cancels: (() => void)[] = [];
    clock.after(10, () => cancels.forEach((cancel) => cancel()));
    cancels.push(clock.after(10, () => fired.push('cancelled')));
    await clock.advance(10);
    expect(fired).toEqual([]);
  });

  it('does not pass tracked work that runs in real time', async () => {
    const clock = new VirtualClock();
    let finished = -1;
    const real = clock.track(
      new Promise<void>((resolve) => {
        setTimeout(() => {
          finished = clock.now();
          resolve();
        }, 20);
      }),
    );
    await clock.advance(60_000);
    await real;
    expect(finished).toBe(0);
    expect(clock.pendingWork).toBe(0);
  });

  it('counts tracked work that fails as finished', async () => {
    const clock = new VirtualClock();
    const work = clock.track(Promise.reject(new Error('refused')));
    await expect(work).rejects.toThrow('refused');
    await clock.advance(10);
    expect(clock.now()).toBe(10);
  });

  it('rejects a sleep with the reason of the signal, before and while sleeping', async () => {
    const clock = new VirtualClock();
    await expect(clock.sleep(10, AbortSignal.abort(new Error('early')))).rejects.toThrow('early');
    const controller = new AbortController();
    const sleep = clock.sleep(1_000, controller.signal);
    clock.after(10, () => controller.abort(new Error('in between')));
    const outcome = sleep.then(
      () => 'slept',
      (reason: Error) => reason.message,
    );
    await clock.advance(10);
    expect(await outcome).toBe('in between');
    expect(clock.pendingTimers).toBe(0);
  });

  it('runs until a condition holds and stops at that moment', async () => {
    const clock = new VirtualClock();
    let beats = 0;
    const beat = (): void => {
      beats++;
      clock.after(1_000, beat);
    };
    clock.after(1_000, beat);
    await clock.runUntil(() => beats === 7);
    expect(clock.now()).toBe(7_000);
  });

  it('says so when the condition can no longer hold, the deadline passes or the steps run out', async () => {
    const clock = new VirtualClock();
    await expect(clock.runUntil(() => false)).rejects.toThrow('nothing is left to happen');
    const again = (): void => void clock.after(0, again);
    again();
    await expect(clock.runUntil(() => false, { maxSteps: 50 })).rejects.toThrow('after 50 steps');
    await expect(clock.advance(1, { maxSteps: 50 })).rejects.toThrow('after 50 steps');
    const later = new VirtualClock();
    later.after(100, () => {});
    await expect(later.runUntil(() => false, { deadline: 99 })).rejects.toThrow('at the deadline');
  });

  it('gives up on tracked work that waits for virtual time, and yieldTo lets it through', async () => {
    const stuck = new VirtualClock(0, { stallTimeout: 20 });
    void stuck.track(stuck.sleep(10));
    await expect(stuck.advance(100)).rejects.toThrow('1 tracked works have not settled');

    const clock = new VirtualClock();
    let answeredAt = -1;
    const request = clock.track(clock.yieldTo(clock.sleep(10)).then(() => (answeredAt = clock.now())));
    await clock.advance(100);
    await request;
    expect(answeredAt).toBe(10);
  });

  it('refuses a second driver', async () => {
    const clock = new VirtualClock();
    const first = clock.advance(10);
    await expect(clock.advance(10)).rejects.toThrow('another advance');
    await first;
  });

  it('carries a hundred thousand timers', async () => {
    const clock = new VirtualClock(0, { quietTurns: 1 });
    let fired = 0;
    for (let index = 0; index < 100_000; index++) clock.after((index * 7_919) % 1_000, () => fired++);
    await clock.advance(1_000);
    expect(fired).toBe(100_000);
  });
});
