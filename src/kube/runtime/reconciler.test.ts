import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../api/object.ts';
import { SeededRandom } from '../../clock/seededRandom.ts';
import { VirtualClock } from '../../clock/virtualClock.ts';
import { KubeError } from '../errors.ts';
import type { Informer, InformerEvent } from '../informer.ts';
import { LeadershipLostError } from '../leaderElection.ts';
import type { Log, LogFields } from '../log.ts';
import { noMetrics, type MetricsRegistry } from '../metrics.ts';
import { reconciler, type ReconcilerOptions } from './reconciler.ts';
import { singleton, type SingletonOptions } from './singleton.ts';
import { keyOf, refOf, watch } from './watch.ts';

/** Keeps entries as text, so that the order of fields is part of what is checked. */
function recordingLog(entries: string[], fields: LogFields = {}): Log {
  const write =
    (level: string) =>
    (message: string, more: LogFields = {}): void => {
      const { reconcileID: _id, ...shown } = { ...fields, ...more };
      const texts = Object.entries(shown).map(([key, value]) => `${key}=${String(value)}`);
      entries.push([level, message, ...texts].join(' '));
    };
  return {
    debug: write('debug'),
    info: write('info'),
    error: write('error'),
    with: (more) => recordingLog(entries, { ...fields, ...more }),
  };
}

/** A source of objects that the test puts there by hand; like an informer it begins with what it has. */
class HandFedSource implements Pick<Informer<KubeObject>, 'subscribe'> {
  private readonly events: InformerEvent<KubeObject>[] = [];
  private readonly heard = new Set<(event: InformerEvent<KubeObject>) => void>();

  subscribe(listener: (event: InformerEvent<KubeObject>) => void): () => void {
    for (const event of this.events) listener(event);
    this.heard.add(listener);
    return () => this.heard.delete(listener);
  }

  get listeners(): number {
    return this.heard.size;
  }

  put(name: string, namespace?: string): void {
    const event = {
      type: 'added',
      object: { metadata: namespace === undefined ? { name } : { name, namespace } },
    } as const;
    this.events.push(event);
    for (const listener of this.heard) listener(event);
  }
}

function setUp() {
  const clock = new VirtualClock(0, { quietTurns: 1 });
  const source = new HandFedSource();
  const entries: string[] = [];
  const trace: string[] = [];
  const stop = new AbortController();
  const common = { name: 'test.loop', clock, random: new SeededRandom(1), log: recordingLog(entries) };
  const start = (options: Partial<ReconcilerOptions<string>> & Pick<ReconcilerOptions<string>, 'reconcile'>) =>
    outcomeOf(reconciler({ ...common, watches: [watch(source)], ...options }).run(stop.signal));
  const startSingleton = (options: Partial<SingletonOptions> & Pick<SingletonOptions, 'reconcile'>) =>
    outcomeOf(singleton({ ...common, ...options }).run(stop.signal));
  /** `undefined` while running, then how it ended and when. */
  const outcomeOf = (run: Promise<void>): { ended?: string } => {
    const outcome: { ended?: string } = {};
    run.then(
      () => (outcome.ended = `${clock.now()} ended`),
      (error: unknown) => (outcome.ended = `${clock.now()} ${String(error)}`),
    );
    return outcome;
  };
  return { clock, source, entries, trace, stop, start, startSingleton };
}

describe('reconciler', () => {
  it('works on objects that were there before and on those that come', async () => {
    const { clock, source, trace, stop, start } = setUp();
    source.put('before');
    const run = start({ reconcile: async (key) => void trace.push(key) });
    await clock.advance(1);
    source.put('after', 'default');
    await clock.advance(1);
    stop.abort();
    await clock.advance(0);
    expect(trace).toEqual(['before', 'default/after']);
    expect(run.ended).toBe('2 ended');
    expect(source.listeners).toBe(0);
  });

  it('asks the mapping which keys an event concerns', async () => {
    const { clock, source, trace, start } = setUp();
    start({
      watches: [watch(source, (event) => [`${event.type}-1`, `${event.type}-2`])],
      reconcile: async (key) => void trace.push(key),
    });
    source.put('any');
    await clock.advance(1);
    expect(trace).toEqual(['added-1', 'added-2']);
  });

  it('reconciles again after requeueAfter', async () => {
    const { clock, source, trace, start } = setUp();
    start({
      reconcile: async () => {
        trace.push(String(clock.now()));
        return trace.length < 3 ? { requeueAfter: 5_000 } : undefined;
      },
    });
    source.put('a');
    await clock.advance(60_000);
    expect(trace).toEqual(['0', '5000', '10000']);
  });

  it('retries errors with growing waits and logs each with its key', async () => {
    const { clock, source, entries, trace, start } = setUp();
    start({
      backoff: { base: 1_000, max: 3_000 },
      reconcile: async (_key, { failures }) => {
        trace.push(`${clock.now()} after ${failures}`);
        if (failures < 3) throw new Error('no luck');
      },
    });
    source.put('a');
    await clock.advance(60_000);
    expect(trace).toEqual(['0 after 0', '1000 after 1', '3000 after 2', '6000 after 3']);
    expect(entries[0]).toBe('error reconcile failed object=a controller=test.loop error=Error: no luck failures=1');
    expect(entries).toHaveLength(3);
  });

  it('retries conflicts quietly and waits as long as a busy server asks', async () => {
    const { clock, source, entries, trace, start } = setUp();
    const failures = [
      new KubeError({ code: 409, reason: 'Conflict', message: 'changed' }),
      new KubeError({ code: 429, reason: 'TooManyRequests', message: 'busy', details: { retryAfterSeconds: 30 } }),
    ];
    start({
      backoff: { base: 1_000, max: 1_000 },
      reconcile: async () => {
        trace.push(String(clock.now()));
        const failure = failures.shift();
        if (failure !== undefined) throw failure;
      },
    });
    source.put('a');
    await clock.advance(60_000);
    expect(trace).toEqual(['0', '50', '30050']);
    expect(entries.map((entry) => entry.split(' ')[0])).toEqual(['debug', 'error']);
  });

  it('on stop starts nothing more and lets what runs finish undisturbed', async () => {
    const { clock, source, trace, stop, start } = setUp();
    const run = start({
      grace: 1_000,
      reconcile: async (key, { signal }) => {
        await clock.sleep(500, signal);
        trace.push(key);
      },
    });
    source.put('running');
    source.put('waiting');
    await clock.advance(100);
    stop.abort();
    await clock.advance(10_000);
    expect(trace).toEqual(['running']);
    expect(run.ended).toBe('500 ended');
  });

  it('aborts what runs longer than the grace, and at once when leadership is lost', async () => {
    for (const [reason, end] of [
      [undefined, '1100 ended'],
      [new LeadershipLostError('kube-system/lease', 'test'), '100 ended'],
    ] as const) {
      const { clock, source, stop, start } = setUp();
      const run = start({ grace: 1_000, reconcile: async (_key, { signal }) => clock.sleep(60_000, signal) });
      source.put('a');
      await clock.advance(100);
      stop.abort(reason);
      await clock.advance(10_000);
      expect(run.ended).toBe(end);
    }
  });

  it('names the keys of work that does not stop', async () => {
    const { clock, source, stop, start } = setUp();
    const run = start({ grace: 1_000, reconcile: () => clock.sleep(3_600_000) });
    source.put('deaf');
    await clock.advance(0);
    stop.abort();
    await clock.advance(10_000);
    expect(run.ended).toBe('2000 StillRunningError: test.loop: still working on deaf after being stopped');
  });

  it('reports its numbers under the usual names', async () => {
    const { clock, source, start } = setUp();
    const numbers: string[] = [];
    const note = (name: string, labels: object | undefined, value: number): void =>
      void numbers.push(`${name}${JSON.stringify(labels)} ${value}`);
    const metrics: MetricsRegistry = {
      ...noMetrics,
      counter: ({ name }) => ({ inc: (labels, value = 1) => note(name, labels, value) }),
    };
    start({
      metrics,
      reconcile: async (_key, { failures }) => {
        if (failures === 0) throw new Error('first time');
      },
    });
    source.put('a');
    await clock.advance(1_000);
    expect(numbers).toMatchInlineSnapshot(`
      [
        "workqueue_adds_total{"name":"test.loop","controller":"test.loop"} 1",
        "workqueue_retries_total{"name":"test.loop","controller":"test.loop"} 1",
        "controller_runtime_reconcile_total{"controller":"test.loop","result":"error"} 1",
        "controller_runtime_reconcile_errors_total{"controller":"test.loop"} 1",
        "workqueue_adds_total{"name":"test.loop","controller":"test.loop"} 1",
        "controller_runtime_reconcile_total{"controller":"test.loop","result":"success"} 1",
      ]
    `);
  });
});

describe('keys', () => {
  it('name an object and lead back to it', () => {
    for (const metadata of [{ name: 'a' }, { name: 'a', namespace: 'b' }]) {
      expect(refOf(keyOf({ metadata }))).toEqual(metadata);
    }
  });
});

describe('singleton', () => {
  it('runs at its interval, or when the last run asked for', async () => {
    const { clock, trace, stop, startSingleton } = setUp();
    const run = startSingleton({
      interval: 1_000,
      reconcile: async () => {
        trace.push(String(clock.now()));
        return trace.length === 2 ? { requeueAfter: 5_000 } : undefined;
      },
    });
    await clock.advance(7_500);
    stop.abort();
    await clock.advance(0);
    expect(trace).toEqual(['0', '1000', '6000', '7000']);
    expect(run.ended).toBe('7500 ended');
  });

  it('waits longer after each error in a row', async () => {
    const { clock, entries, trace, startSingleton } = setUp();
    startSingleton({
      interval: 60_000,
      backoff: { base: 1_000, max: 4_000 },
      reconcile: async () => {
        trace.push(String(clock.now()));
        if (trace.length !== 5) throw new Error('no luck');
      },
    });
    await clock.advance(75_000);
    expect(trace).toEqual(['0', '1000', '3000', '7000', '11000', '71000', '72000', '74000']);
    expect(entries[0]).toBe(
      'error round failed controller=test.loop error=Error: no luck failures=1 retryInMilliseconds=1000',
    );
  });

  it('finishes the running round on stop', async () => {
    const { clock, trace, stop, startSingleton } = setUp();
    const run = startSingleton({
      reconcile: async (signal) => {
        await clock.sleep(500, signal);
        trace.push('done');
      },
    });
    await clock.advance(100);
    stop.abort();
    await clock.advance(5_000);
    expect(trace).toEqual(['done']);
    expect(run.ended).toBe('500 ended');
  });
});

describe('a metric that fails', () => {
  const broken: MetricsRegistry = {
    ...noMetrics,
    histogram: ({ name }) => ({
      observe: () => {
        if (name.includes('reconcile_time')) throw new Error('no such label');
      },
    }),
  };

  it('does not end a reconciler: the key is worked on again, and the log tells', async () => {
    const { clock, source, trace, entries, stop, start } = setUp();
    source.put('a');
    const run = start({ metrics: broken, reconcile: async (key) => void trace.push(key) });
    await clock.advance(1_000);
    expect(run.ended).toBeUndefined();
    expect(trace.length).toBeGreaterThan(1);
    expect(entries[0]).toBe(
      'error reconcile could not be recorded controller=test.loop object=a error=Error: no such label',
    );
    stop.abort();
    await clock.advance(0);
    expect(run.ended).toBe('1000 ended');
  });

  it('does not end a singleton, whether its rounds succeed or fail', async () => {
    const { clock, trace, entries, stop, startSingleton } = setUp();
    const run = startSingleton({
      metrics: broken,
      interval: 1_000,
      reconcile: async () => {
        trace.push(String(clock.now()));
        if (trace.length === 2) throw new Error('no luck');
      },
    });
    await clock.advance(2_500);
    expect(trace).toEqual(['0', '1000', '2000']);
    expect(entries[0]).toBe('error round could not be recorded controller=test.loop error=Error: no such label');
    stop.abort();
    await clock.advance(0);
    expect(run.ended).toBe('2500 ended');
  });
});
