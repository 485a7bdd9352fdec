import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../clock/seededRandom.ts';
import { VirtualClock } from '../../clock/virtualClock.ts';
import { KubeError } from '../errors.ts';
import { LeadershipLostError } from '../leaderElection.ts';
import { silentLog } from '../log.ts';
import { MemoryLeases, type Transport } from '../../../test/fixtures/kube/memoryLeases.ts';
import type { Controller } from './controller.ts';
import { Manager, type ManagerOptions } from './manager.ts';
import { aborted } from './windDown.ts';

function setUp() {
  const clock = new VirtualClock(0, { quietTurns: 1 });
  const leases = new MemoryLeases();
  const trace: string[] = [];
  const note = (text: string): void => void trace.push(`${clock.now()} ${text}`);

  const replica = (identity: string, options: Partial<ManagerOptions> & { syncTime?: number } = {}) => {
    const stop = new AbortController();
    const { syncTime = 100, ...rest } = options;
    let started: Promise<void> | undefined;
    const informers = {
      run: async (signal: AbortSignal) => {
        note(`${identity}: informers start`);
        started = clock.sleep(syncTime, signal).catch(() => undefined);
        await aborted(signal);
        note(`${identity}: informers stop`);
      },
      synced: async (signal?: AbortSignal) => {
        await Promise.race([started, aborted(signal!)]);
        signal?.throwIfAborted();
      },
    };
    const manager = new Manager({
      kube: leases.client(),
      clock,
      random: new SeededRandom(identity),
      log: silentLog,
      informers,
      leaderElection: { namespace: 'kube-system', identity },
      ...rest,
    });
    const controller = (name: string, windDown = 0): Controller => ({
      name,
      run: async (signal) => {
        note(`${identity}: ${name} starts`);
        await aborted(signal);
        await clock.sleep(windDown);
        note(`${identity}: ${name} stops`);
      },
    });
    const outcome: { error?: unknown } = {};
    const run = (): Promise<void> =>
      manager.run(stop.signal).then(
        () => note(`${identity}: ended`),
        (error: unknown) => {
          outcome.error = error;
          note(`${identity}: failed`);
        },
      );
    return { manager, controller, stop, run, outcome };
  };
  return { clock, leases, trace, replica };
}

describe('Manager', () => {
  it('closes its events when its controllers have ended, and before its informers do', async () => {
    const { clock, trace, replica } = setUp();
    const events = { close: () => Promise.resolve(void trace.push(`${clock.now()} one: events close`)) };
    const { manager, controller, stop, run } = replica('one', { events });
    manager.add(controller('a', 50));
    void run();
    await clock.advance(1_000);
    stop.abort();
    await clock.advance(1_000);
    expect(trace.slice(-4)).toEqual([
      '1050 one: a stops',
      '1050 one: events close',
      '1050 one: informers stop',
      '1050 one: ended',
    ]);
  });

  it('starts informers, syncs, leads, runs controllers, and stops in the reverse order', async () => {
    const { clock, leases, trace, replica } = setUp();
    const { manager, controller, stop, run } = replica('one');
    manager.add(controller('a')).add(controller('b', 50));
    expect([manager.ready(), manager.healthy(), manager.isLeader()]).toEqual([false, true, false]);
    void run();
    await clock.advance(99);
    expect(manager.ready()).toBe(false);
    await clock.advance(1);
    expect([manager.ready(), manager.isLeader()]).toEqual([true, true]);
    await clock.advance(900);
    stop.abort();
    await clock.advance(1_000);
    expect(trace).toEqual([
      '0 one: informers start',
      '100 one: a starts',
      '100 one: b starts',
      '1000 one: a stops',
      '1050 one: b stops',
      '1050 one: informers stop',
      '1050 one: ended',
    ]);
    expect(leases.read('kube-system', 'karpenter-leader-election')?.spec?.holderIdentity).toBe('');
    expect(clock.pendingTimers).toBe(0);
  });

  it('keeps a standby warm, so that it works as soon as it leads', async () => {
    const { clock, trace, replica } = setUp();
    const one = replica('one');
    const two = replica('two', { syncTime: 8_000 });
    one.manager.add(one.controller('a'));
    two.manager.add(two.controller('a'));
    void one.run();
    await clock.advance(1_000);
    void two.run();
    await clock.advance(19_000);
    expect([two.manager.ready(), two.manager.isLeader()]).toEqual([true, false]);
    one.stop.abort();
    await clock.advance(5_000);
    expect(trace.at(-1)).toMatch(/two: a starts$/);
  });

  it('without warm-up starts informers only as leader, and counts as ready while it waits', async () => {
    const { clock, trace, replica } = setUp();
    const one = replica('one', { warmUp: false });
    const two = replica('two', { warmUp: false });
    one.manager.add(one.controller('a'));
    two.manager.add(two.controller('a'));
    void one.run();
    await clock.advance(1);
    void two.run();
    await clock.advance(10_000);
    expect(trace).toEqual(['0 one: informers start', '100 one: a starts']);
    expect(two.manager.ready()).toBe(true);
  });

  it('needs no lease when there is only one replica', async () => {
    const { clock, leases, trace, replica } = setUp();
    const { manager, controller, run } = replica('one', { leaderElection: undefined } as object);
    manager.add(controller('a'));
    void run();
    await clock.advance(1_000);
    expect(trace).toEqual(['0 one: informers start', '100 one: a starts']);
    expect(manager.isLeader()).toBe(true);
    expect(leases.read('kube-system', 'karpenter-leader-election')).toBeUndefined();
  });

  it('stops its controllers and fails when it loses the lease', async () => {
    const { clock, leases, trace, replica } = setUp();
    let away = false;
    const transport: Transport = async (operation) => {
      if (away) throw new KubeError({ code: 503, reason: 'ServiceUnavailable' });
      return operation();
    };
    const { manager, controller, run, outcome } = replica('one', { kube: leases.client(transport) });
    manager.add(controller('a'));
    void run();
    await clock.advance(1_000);
    away = true;
    await clock.advance(60_000);
    expect(trace.slice(2)).toEqual(['10100 one: a stops', '10100 one: informers stop', '10100 one: failed']);
    expect(outcome.error).toBeInstanceOf(LeadershipLostError);
    expect([manager.healthy(), manager.ready()]).toEqual([false, false]);
  });

  it('stops everything when one controller fails, and gives the lease back', async () => {
    const { clock, leases, trace, replica } = setUp();
    const { manager, controller, run, outcome } = replica('one');
    const failing: Controller = {
      name: 'failing',
      run: async (signal) => {
        await clock.sleep(1_000, signal);
        throw new Error('cannot go on');
      },
    };
    manager.add(controller('a')).add(failing);
    void run();
    await clock.advance(10_000);
    expect(trace.slice(2)).toEqual(['1100 one: a stops', '1100 one: informers stop', '1100 one: failed']);
    expect(String(outcome.error)).toBe('Error: cannot go on');
    expect(leases.read('kube-system', 'karpenter-leader-election')?.spec?.holderIdentity).toBe('');
  });

  it('does not wait for ever for a controller that ignores the stop, and keeps the lease then', async () => {
    const { clock, leases, trace, replica } = setUp();
    const { manager, controller, stop, run, outcome } = replica('one');
    manager.add(controller('deaf', 3_600_000)).add(controller('good'));
    void run();
    await clock.advance(1_000);
    stop.abort();
    await clock.advance(60_000);
    expect(trace.at(-1)).toBe('11000 one: failed');
    expect(String(outcome.error)).toContain('controllers did not stop within 10000 ms: deaf');
    expect(leases.read('kube-system', 'karpenter-leader-election')?.spec?.holderIdentity).toBe('one');
  });

  it('fails when its informers fail or a controller ends by itself', async () => {
    const broken = {
      run: () => Promise.reject(new Error('no such kind')),
      synced: (signal?: AbortSignal) => aborted(signal!),
    };
    const { clock, replica } = setUp();
    const one = replica('one', { informers: broken });
    void one.run();
    await clock.advance(1_000);
    expect(String(one.outcome.error)).toBe('Error: no such kind');
    const two = replica('two');
    two.manager.add({ name: 'short', run: () => Promise.resolve() });
    void two.run();
    await clock.advance(10_000);
    expect(String(two.outcome.error)).toBe('InvariantError: short: ended without being stopped');
  });

  it('ends at once when stopped before it began, and while it waits', async () => {
    const { clock, trace, replica } = setUp();
    const one = replica('one');
    one.stop.abort();
    void one.run();
    await clock.advance(0);
    const two = replica('two', { syncTime: 1_000_000 });
    void two.run();
    await clock.advance(10);
    two.stop.abort();
    await clock.advance(10);
    expect(trace).toEqual(['0 one: ended', '0 two: informers start', '10 two: informers stop', '10 two: ended']);
  });

  it('runs once, and takes each controller once', async () => {
    const { clock, replica } = setUp();
    const { manager, controller, run } = replica('one');
    manager.add(controller('a'));
    expect(() => manager.add(controller('a'))).toThrow('of this name');
    void run();
    expect(() => manager.add(controller('b'))).toThrow('before the manager runs');
    await expect(manager.run(new AbortController().signal)).rejects.toThrow('runs once');
    await clock.advance(0);
  });
});
