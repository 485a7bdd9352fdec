import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../clock/virtualClock.ts';
import { RateLimit } from './rateLimit.ts';

describe('RateLimit', () => {
  it('never lets more than burst + qps × time pass, and lets that much pass', async () => {
    const property = fc.asyncProperty(
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 20 }),
      fc.array(fc.integer({ min: 0, max: 2_000 }), { minLength: 1, maxLength: 60 }),
      async (qps, burst, gaps) => {
        const clock = new VirtualClock(0, { quietTurns: 1 });
        const limit = new RateLimit({ qps, burst, clock });
        const passed: number[] = [];
        let asked = 0;
        for (const gap of gaps)
          clock.after((asked += gap), () => void limit.take().then(() => passed.push(clock.now())));
        await clock.runUntil(() => passed.length === gaps.length);
        for (const [first, start] of passed.entries()) {
          for (let last = first; last < passed.length; last++) {
            const allowance = burst + (((passed[last] ?? 0) - start) * qps) / 1000;
            expect(last - first + 1).toBeLessThanOrEqual(allowance + 1e-6);
          }
        }
        expect(clock.now()).toBeLessThanOrEqual(asked + (gaps.length * 1000) / qps);
      },
    );
    await fc.assert(property, { numRuns: 40 });
  });

  it('gives the token back when the wait is aborted', async () => {
    const clock = new VirtualClock();
    const limit = new RateLimit({ qps: 1, burst: 1, clock });
    await limit.take();
    const stop = new AbortController();
    const aborted = limit.take(stop.signal);
    stop.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
    let passed = false;
    void limit.take().then(() => (passed = true));
    await clock.advance(1_000);
    expect(passed).toBe(true);
  });

  it('refuses limits that let nothing through', () => {
    const clock = new VirtualClock();
    expect(() => new RateLimit({ qps: 0, burst: 1, clock })).toThrow(RangeError);
    expect(() => new RateLimit({ qps: 1, burst: 0, clock })).toThrow(RangeError);
  });
});
