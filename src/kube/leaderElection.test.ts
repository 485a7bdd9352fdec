import { describe, expect, it } from 'vitest';
import type { Clock } from '../clock/clock.ts';
import { SeededRandom } from '../clock/seededRandom.ts';
import { sleepBy } from '../clock/sleep.ts';
import { VirtualClock } from '../clock/virtualClock.ts';
import { KubeError } from './errors.ts';
import { LeaderElector, leaderIdentity, LeadershipLostError, type LeaderElectionOptions } from './leaderElection.ts';
import { silentLog } from './log.ts';
import { MemoryLeases, type Transport } from '../../test/fixtures/kube/memoryLeases.ts';
import { aborted } from './runtime/windDown.ts';

const NAME = 'karpenter-leader-election';
const START = Date.parse('2030-01-01T00:00:00Z');

function setUp() {
  const clock = new VirtualClock(START, { quietTurns: 1 });
  const leases = new MemoryLeases();
  const trace: string[] = [];
  const note = (text: string): void => void trace.push(`${(clock.now() - START) / 1_000} ${text}`);
  const start = (identity: string, options: Partial<LeaderElectionOptions> = {}, wind = 0) => {
    const stop = new AbortController();
    const elector = new LeaderElector({
      kube: leases.client(),
      clock,
      random: new SeededRandom(identity),
      log: silentLog,
      namespace: 'kube-system',
      identity,
      ...options,
    });
    const ended = elector
      .run(stop.signal, async (leading) => {
        note(`${identity} leads`);
        await aborted(leading);
        await clock.sleep(wind);
        note(`${identity} stops`);
      })
      .then(
        () => note(`${identity} ended`),
        (error: unknown) => note(`${identity} failed: ${String(error)}`),
      );
    return { stop, elector, ended };
  };
  return { clock, leases, trace, start, spec: () => leases.read('kube-system', NAME)?.spec };
}

describe('LeaderElector', () => {
  it('creates the lease, holds it, and renews it every two seconds', async () => {
    const { clock, trace, start, spec } = setUp();
    const { elector } = start('one');
    await clock.advance(1_000);
    expect(trace).toEqual(['0 one leads']);
    expect(elector.isLeader).toBe(true);
    expect(spec()).toEqual({
      holderIdentity: 'one',
      leaseDurationSeconds: 15,
      acquireTime: '2030-01-01T00:00:00.000000Z',
      renewTime: '2030-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    });
    await clock.advance(60_000);
    expect(spec()).toMatchObject({
      acquireTime: '2030-01-01T00:00:00.000000Z',
      renewTime: '2030-01-01T00:01:00.000000Z',
    });
  });

  it('hands over in less than five seconds on stop, after the work has ended', async () => {
    const { clock, trace, start, spec } = setUp();
    const one = start('one', {}, 500);
    await clock.advance(100);
    const two = start('two');
    await clock.advance(59_900);
    one.stop.abort();
    expect(one.elector.isLeader).toBe(true);
    await clock.advance(5_000);
    const took = Number(trace.find((line) => line.endsWith('two leads'))?.split(' ')[0]) - 60;
    expect(took).toBeGreaterThanOrEqual(0.5);
    expect(took).toBeLessThan(5);
    expect(trace.map((line) => line.split(' ').slice(1).join(' '))).toEqual([
      'one leads',
      'one stops',
      'one ended',
      'two leads',
    ]);
    expect(spec()).toMatchObject({ holderIdentity: 'two', leaseTransitions: 1 });
    expect([one.elector.isLeader, two.elector.isLeader]).toEqual([false, true]);
  });

  it('empties the lease on release', async () => {
    const { clock, start, spec } = setUp();
    const one = start('one');
    await clock.advance(7_000);
    one.stop.abort();
    await clock.advance(0);
    expect(spec()).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 0 });
  });

  it('takes over from a silent leader only after its lease, measured by its own clock from the last change seen', async () => {
    const { clock, leases, trace, start } = setUp();
    // A dead leader whose clock was an hour ahead: its timestamps must not matter.
    await leases.client().create(
      {} as never,
      {
        metadata: { name: NAME, namespace: 'kube-system' },
        spec: { holderIdentity: 'dead', leaseDurationSeconds: 15, renewTime: '2030-01-01T01:00:00.000000Z' },
      } as never,
    );
    start('one');
    await clock.advance(14_900);
    expect(trace).toEqual([]);
    await clock.advance(3_000);
    expect(trace).toHaveLength(1);
    expect(Number(trace[0]?.split(' ')[0])).toBeGreaterThanOrEqual(15);
  });

  it('gives up after the renew deadline when the server is away, before a standby may take over', async () => {
    const { clock, leases, trace, start } = setUp();
    let away = false;
    const transport: Transport = async (operation) => {
      if (away) throw new KubeError({ code: 503, reason: 'ServiceUnavailable' });
      return operation();
    };
    const one = start('one', { kube: leases.client(transport) });
    await clock.advance(1);
    start('two');
    await clock.advance(60_000);
    away = true;
    await clock.advance(30_000);
    expect(trace.slice(0, 3)).toEqual([
      '0 one leads',
      '70 one stops',
      '70 one failed: LeadershipLostError: leadership lost: not renewed within 10000 ms (lease kube-system/karpenter-leader-election)',
    ]);
    expect(trace[3]).toMatch(/^7\d(\.\d+)? two leads$/);
    expect(Number(trace[3]?.split(' ')[0])).toBeGreaterThanOrEqual(75);
    expect(one.elector.healthy).toBe(false);
  });

  it('survives failures that are shorter than the deadline, also requests that never return', async () => {
    const { clock, leases, trace, start } = setUp();
    let request = 0;
    const transport: Transport = (operation, signal) => {
      request++;
      if (request % 5 === 3) return Promise.reject(new KubeError({ code: 500, reason: 'InternalError' }));
      if (request % 5 === 4) {
        return new Promise((_resolve, reject) =>
          signal?.addEventListener('abort', () => reject(new Error('request aborted'))),
        );
      }
      return Promise.resolve().then(operation);
    };
    start('one', { kube: leases.client(transport) });
    await clock.advance(600_000);
    expect(trace).toEqual(['0 one leads']);
  });

  it('stops at once when it sees another holder', async () => {
    const { clock, leases, trace, start, spec } = setUp();
    start('one');
    await clock.advance(7_000);
    const stolen = leases.read('kube-system', NAME);
    await leases.client().replace({} as never, { ...stolen, spec: { ...spec(), holderIdentity: 'thief' } } as never);
    await clock.advance(1_000);
    expect(trace.slice(1)).toEqual([
      '8 one stops',
      '8 one failed: LeadershipLostError: leadership lost: thief holds it now (lease kube-system/karpenter-leader-election)',
    ]);
    expect(spec()).toMatchObject({ holderIdentity: 'thief' });
  });

  it('stays leader when others touch the lease, or an administrator deletes it', async () => {
    const { clock, leases, trace, start, spec } = setUp();
    start('one', { labels: { team: 'platform' } });
    await clock.advance(7_000);
    const touched = leases.read('kube-system', NAME);
    await leases.client().replace({} as never, structuredClone(touched) as never);
    await clock.advance(20_000);
    leases.remove('kube-system', NAME);
    await clock.advance(20_000);
    expect(trace).toEqual(['0 one leads']);
    expect(spec()).toMatchObject({ holderIdentity: 'one' });
    expect(leases.read('kube-system', NAME)?.metadata.labels).toEqual({ team: 'platform' });
  });

  it('keeps the lease when the work fails, for some of it may still run', async () => {
    const { clock, leases, spec } = setUp();
    const elector = new LeaderElector({
      kube: leases.client(),
      clock,
      random: new SeededRandom(1),
      log: silentLog,
      namespace: 'kube-system',
      identity: 'one',
    });
    await expect(
      elector.run(new AbortController().signal, () => Promise.reject(new Error('work is stuck'))),
    ).rejects.toThrow('work is stuck');
    expect(spec()).toMatchObject({ holderIdentity: 'one' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends quietly when stopped before it ever led', async () => {
    const { clock, trace, start } = setUp();
    start('one');
    await clock.advance(1);
    const two = start('two');
    await clock.advance(5_000);
    two.stop.abort();
    await clock.advance(0);
    expect(trace).toEqual(['0 one leads', '5.001 two ended']);
  });

  it('refuses times that cannot be safe', () => {
    const { start } = setUp();
    expect(() => start('one', { leaseDuration: 10_000 })).toThrow(RangeError);
  });

  it('distinguishes two processes of one pod', () => {
    const random = new SeededRandom(1);
    const first = leaderIdentity('karpenter-7d4b9c-x2x', random);
    expect(first).toMatch(/^karpenter-7d4b9c-x2x_[0-9a-f-]{36}$/);
    expect(leaderIdentity('karpenter-7d4b9c-x2x', random)).not.toBe(first);
  });
});

/** One machine: its clock is off and runs at its own rate, and it can stand still. */
class Machine implements Clock {
  private readonly world: VirtualClock;
  private readonly offset: number;
  private readonly rate: number;
  private readonly deferred: (() => void)[] = [];
  private pauses = 0;

  constructor(world: VirtualClock, random: SeededRandom) {
    this.world = world;
    this.offset = (random.next() - 0.5) * 86_400_000;
    // Any two machines stay within 15 s / 10 s of each other.
    this.rate = 0.85 + random.next() * 0.3;
  }

  get paused(): boolean {
    return this.pauses > 0;
  }

  /** A clock that is set all the time. */
  now(): number {
    return this.world.now() + this.offset * Math.sin(this.world.now());
  }

  monotonic(): number {
    return this.world.now() * this.rate + this.offset;
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return sleepBy((delay, action) => this.after(delay, action), milliseconds, signal);
  }

  after(milliseconds: number, action: () => void): () => void {
    let cancelled = false;
    const cancel = this.world.after(milliseconds / this.rate, () => this.deliver(() => cancelled || action()));
    return () => {
      cancelled = true;
      cancel();
    };
  }

  track<T>(work: Promise<T>): Promise<T> {
    return work;
  }

  /** An outside event reaches the process, when it runs. */
  deliver(action: () => void): void {
    if (this.paused) this.deferred.push(action);
    else action();
  }

  pause(milliseconds: number, onResume: () => void): void {
    this.pauses++;
    this.world.after(milliseconds, () => {
      this.pauses--;
      if (this.paused) return;
      for (const action of this.deferred.splice(0)) action();
      onResume();
    });
  }
}

/** Runs one random schedule; returns what went wrong. */
async function play(seed: number): Promise<string[]> {
  const world = new VirtualClock(0, { quietTurns: 1 });
  const leases = new MemoryLeases();
  const random = new SeededRandom(seed);
  const between = (low: number, high: number): number => low + random.next() * (high - low);
  const violations: string[] = [];
  const replicas: { machine: Machine; elector: LeaderElector; working: boolean; stop: AbortController }[] = [];
  let calm = false;

  const active = (): number =>
    replicas.filter(({ machine, elector, working }) => !machine.paused && working && elector.isLeader).length;
  const check = (): void => {
    if (active() > 1) violations.push(`seed ${seed}: ${active()} leaders at ${world.now()}`);
  };

  const boot = (index: number): void => {
    const machine = new Machine(world, random);
    let cutOffUntil = 0;
    const transport: Transport = (operation, signal) =>
      new Promise((resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
        const luck = calm ? 1 : random.next();
        const lost = !calm && world.now() < cutOffUntil;
        // A request that is lost for its sender may still arrive, late.
        world.after(lost ? between(1_000, 20_000) : luck < 0.1 ? between(0, 8_000) : between(0, 200), () => {
          if (lost && random.next() < 0.5) return;
          let answer: () => void;
          try {
            const result = luck > 0.1 && luck < 0.15 ? refuse() : operation();
            answer = luck > 0.15 && luck < 0.2 ? () => reject(new KubeError({ code: 502 })) : () => resolve(result);
          } catch (error) {
            answer = () => reject(error as Error);
          }
          if (!lost) world.after(calm ? 1 : between(0, 200), () => machine.deliver(answer));
        });
      });
    const elector = new LeaderElector({
      kube: leases.client(transport),
      clock: machine,
      random,
      log: silentLog,
      namespace: 'kube-system',
      identity: leaderIdentity(`pod-${index}`, random),
    });
    const replica = { machine, elector, working: false, stop: new AbortController() };
    replicas[index] = replica;
    const again = (): void => void world.after(1_000, () => boot(index));
    elector
      .run(replica.stop.signal, async (leading) => {
        replica.working = true;
        check();
        await aborted(leading);
        await machine.sleep(between(0, 1_000));
        replica.working = false;
      })
      .then(again, (error: unknown) => {
        if (!(error instanceof LeadershipLostError)) violations.push(`seed ${seed}: ${String(error)}`);
        again();
      });
    const trouble = (): void => {
      if (calm || replicas[index] !== replica) return;
      const kind = random.next();
      if (kind < 0.35) machine.pause(between(100, 30_000), check);
      else if (kind < 0.75) cutOffUntil = world.now() + between(100, 30_000);
      else machine.deliver(() => replica.stop.abort());
      world.after(between(1_000, 30_000), trouble);
    };
    world.after(between(1_000, 30_000), trouble);
  };

  for (let index = 0; index < 3; index++) boot(index);
  await world.advance(60_000);
  calm = true;
  await world.advance(60_000);
  if (active() !== 1) violations.push(`seed ${seed}: ${active()} leaders after calm returned`);
  return violations;
}

function refuse(): never {
  throw new KubeError({ code: 500, reason: 'InternalError' });
}

describe('LeaderElector under pauses, partitions, late writes and skewed clocks', () => {
  it('property: never has two leaders at once, and finds one when calm returns', { timeout: 120_000 }, async () => {
    const violations: string[] = [];
    for (let seed = 0; seed < 1_000; seed++) violations.push(...(await play(seed)));
    expect(violations).toEqual([]);
  });
});
