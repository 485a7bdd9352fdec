import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../clock/seededRandom.ts';
import { VirtualClock } from '../../clock/virtualClock.ts';
import { WorkQueue, type WorkQueueObserver } from './workQueue.ts';

function setUp(options: { backoff?: { base: number; max: number }; observer?: WorkQueueObserver } = {}) {
  const clock = new VirtualClock(0, { quietTurns: 1 });
  const queue = new WorkQueue({ clock, random: new SeededRandom(1), ...options });
  const trace: string[] = [];
  const work = (duration: number, concurrency = 1): Promise<void> =>
    queue.process({
      concurrency,
      handle: async (key) => {
        trace.push(`${clock.now()} ${key}`);
        await clock.sleep(duration);
      },
    });
  return { clock, queue, trace, work };
}

describe('WorkQueue', () => {
  it('hands out keys in the order they came, each once however often it was added', async () => {
    const { clock, queue, trace, work } = setUp();
    for (const key of ['b', 'a', 'b', 'c', 'a']) queue.add(key);
    expect(queue.depth).toBe(3);
    void work(10);
    await clock.advance(100);
    expect(trace).toEqual(['0 b', '10 a', '20 c']);
  });

  it('brings a key again, once and behind the others, when it was added while a worker had it', async () => {
    const { clock, queue, trace, work } = setUp();
    queue.add('a');
    void work(10, 2);
    await clock.advance(5);
    queue.add('a');
    queue.add('a');
    queue.add('b');
    expect(queue.keysInProgress()).toEqual(['a', 'b']);
    await clock.advance(100);
    expect(trace).toEqual(['0 a', '5 b', '10 a']);
  });

  it('counts the earliest of several delays, and an immediate add does not cancel it', async () => {
    const { clock, queue, trace, work } = setUp();
    void work(1);
    queue.addAfter('a', 500);
    queue.addAfter('a', 200);
    queue.addAfter('a', 300);
    queue.add('a');
    await clock.advance(1_000);
    expect(trace).toEqual(['0 a', '200 a']);
  });

  it('doubles the backoff of a key up to its limit, and starts anew after forget', async () => {
    const { clock, queue, trace, work } = setUp({ backoff: { base: 100, max: 350 } });
    void work(0);
    const retry = async (): Promise<void> => {
      queue.addRateLimited('a');
      await clock.advance(1_000);
    };
    for (let times = 0; times < 4; times++) await retry();
    expect(queue.failures('a')).toBe(4);
    queue.forget('a');
    await retry();
    queue.addRateLimited('b', { atLeast: 777 });
    await clock.advance(1_000);
    expect(trace).toEqual(['100 a', '1200 a', '2350 a', '3350 a', '4100 a', '5777 b']);
  });

  it('drains on shutdown: takes nothing more, forgets delays, finishes what it has', async () => {
    const { clock, queue, trace, work } = setUp();
    const worked = work(10).then(() => trace.push(`${clock.now()} ended`));
    queue.add('a');
    queue.add('b');
    queue.addAfter('later', 5);
    await clock.advance(1);
    queue.shutDown('drain');
    queue.add('c');
    queue.addAfter('c', 5);
    await clock.advance(100);
    await worked;
    expect(trace).toEqual(['0 a', '10 b', '20 ended']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('drops what waits when told so, and still waits for what runs', async () => {
    const { clock, queue, trace, work } = setUp();
    const worked = work(10).then(() => trace.push(`${clock.now()} ended`));
    for (const key of ['a', 'b', 'c']) queue.add(key);
    await clock.advance(1);
    queue.add('a');
    queue.shutDown('drop');
    await clock.advance(100);
    await worked;
    expect(trace).toEqual(['0 a', '10 ended']);
  });

  it('tells its observer the depth, adds, retries, waits and durations', async () => {
    const seen: string[] = [];
    const { clock, queue, work } = setUp({
      backoff: { base: 100, max: 100 },
      observer: {
        added: () => seen.push('added'),
        depthChanged: (depth) => seen.push(`depth ${depth}`),
        retried: () => seen.push('retried'),
        started: (waited) => seen.push(`started after ${waited}`),
        finished: (worked) => seen.push(`finished after ${worked}`),
      },
    });
    queue.add('a');
    await clock.advance(30);
    void work(10);
    await clock.advance(20);
    queue.addRateLimited('a');
    expect(seen).toEqual(['added', 'depth 1', 'depth 0', 'started after 30', 'finished after 10', 'retried']);
  });

  it('property: never two workers on one key, never too many at once, and no key is lost', async () => {
    const adds = fc.array(
      fc.record({ at: fc.nat(200), key: fc.constantFrom('a', 'b', 'c', 'd', 'e'), delay: fc.nat(50) }),
      { maxLength: 60 },
    );
    await fc.assert(
      fc.asyncProperty(adds, fc.integer({ min: 1, max: 4 }), fc.nat(), async (plan, concurrency, seed) => {
        const clock = new VirtualClock(0, { quietTurns: 1 });
        const random = new SeededRandom(seed);
        const queue = new WorkQueue({ clock, random });
        const running = new Set<string>();
        const lastStart = new Map<string, number>();
        const lastAdd = new Map<string, number>();
        const violations: string[] = [];
        void queue.process({
          concurrency,
          handle: async (key) => {
            if (running.has(key)) violations.push(`two workers on ${key}`);
            running.add(key);
            if (running.size > concurrency) violations.push(`${running.size} workers`);
            lastStart.set(key, clock.now());
            await clock.sleep(random.next() * 30);
            running.delete(key);
          },
        });
        for (const { at, key, delay } of plan) {
          clock.after(at, () => {
            queue.addAfter(key, delay);
            lastAdd.set(key, at);
          });
        }
        await clock.advance(10_000);
        for (const [key, at] of lastAdd) if ((lastStart.get(key) ?? -1) < at) violations.push(`${key} was lost`);
        expect(violations).toEqual([]);
        expect([queue.depth, queue.inProgress]).toEqual([0, 0]);
      }),
      { numRuns: 60 },
    );
  });
});
