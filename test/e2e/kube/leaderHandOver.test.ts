import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Kinds } from '../../../src/api/kinds.ts';
import { isNotFound } from '../../../src/kube/errors.ts';
import type { Kube } from '../../../src/kube/kube.ts';
import { startControlPlane } from '../../controlplane/controlPlane.ts';
import type { ControlPlane } from '../../controlplane/controlPlane.ts';
import { eventually } from '../../controlplane/eventually.ts';
import { startTroubledProxy } from '../../controlplane/troubledProxy.ts';
import type { TroubledProxy } from '../../controlplane/troubledProxy.ts';
import { connections } from './connect.ts';

interface Candidate {
  /** When each line was printed, by this process's clock. */
  readonly said: ReadonlyMap<string, number>;
  kill(signal: NodeJS.Signals): void;
  hears(word: string, timeoutMilliseconds?: number): Promise<number>;
}

const script = fileURLToPath(new URL('candidate.ts', import.meta.url));
/** What production uses. */
const defaults = { lease: 15_000, deadline: 10_000, retry: 2_000 };
const ref = { name: 'karpenter-leader-election', namespace: 'kube-system' };

describe('leader hand-over between processes', () => {
  const connect = connections();
  const running: Candidate[] = [];
  let plane: ControlPlane;
  let kube: Kube;

  beforeAll(async () => {
    plane = await startControlPlane();
    kube = await connect(plane.adminKubeconfig);
  });
  afterAll(() => plane?.stop());
  beforeEach(() =>
    kube.delete(Kinds.Lease, ref).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    }),
  );
  afterEach(() => {
    for (const candidate of running.splice(0)) candidate.kill('SIGKILL');
  });

  const start = async (identity: string, times = defaults, kubeconfig = plane.adminKubeconfig): Promise<Candidate> => {
    const durations = [times.lease, times.deadline, times.retry].map(String);
    const child = spawn(process.execPath, ['--import', 'tsx', script, kubeconfig, identity, ...durations], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const said = new Map<string, number>();
    createInterface({ input: child.stdout }).on('line', (line) => said.set(line, performance.now()));
    const candidate: Candidate = {
      said,
      kill: (signal) => child.kill(signal),
      hears: (word, timeout) => eventually(`${identity} says "${word}"`, () => said.get(word), timeout),
    };
    running.push(candidate);
    await candidate.hears('started');
    return candidate;
  };
  const holder = async (): Promise<string | undefined> =>
    (await kube.get(Kinds.Lease, ref)).spec?.holderIdentity ?? undefined;

  it('takes less than five seconds when the leader is asked to stop', async () => {
    const first = await start('first');
    await first.hears('leading');
    const second = await start('second');
    expect(await holder()).toBe('first');
    const asked = performance.now();
    first.kill('SIGTERM');
    const leads = await second.hears('leading');
    expect(leads - asked).toBeLessThan(5_000);
    expect(leads).toBeGreaterThan(await first.hears('stopping'));
    await first.hears('ended');
    const { spec } = await kube.get(Kinds.Lease, ref);
    expect(spec).toMatchObject({ holderIdentity: 'second', leaseDurationSeconds: 15 });
  });

  it('waits for the lease to run out when the leader is killed', async () => {
    const times = { lease: 6_000, deadline: 4_000, retry: 1_000 };
    const first = await start('first', times);
    await first.hears('leading');
    const second = await start('second', times);
    // Wait for a renewal, so that the time counts from the leader's last one.
    await eventually('a renewal', async () => {
      const { spec } = await kube.get(Kinds.Lease, ref);
      return spec?.renewTime !== spec?.acquireTime ? true : undefined;
    });
    const killed = performance.now();
    first.kill('SIGKILL');
    const leads = await second.hears('leading');
    // The last renewal was at most a retry period before the kill.
    expect(leads - killed).toBeGreaterThan(times.lease - times.retry - 1_000);
    expect(await holder()).toBe('second');
    expect((await kube.get(Kinds.Lease, ref)).spec?.leaseTransitions).toBe(1);
  });

  it('never has two leaders when the leader is cut off: it stops before the other starts', async () => {
    const times = { lease: 6_000, deadline: 4_000, retry: 1_000 };
    const proxy: TroubledProxy = await startTroubledProxy(plane.server);
    try {
      const cutOff = await plane.kubeconfigFor('cut-off', ['system:masters'], proxy.url);
      const first = await start('first', times, cutOff);
      await first.hears('leading');
      const second = await start('second', times);
      proxy.blackHole();
      const leads = await second.hears('leading');
      expect(await first.hears('stopping')).toBeLessThan(leads);
      await first.hears('lost');
    } finally {
      await proxy.close();
    }
  });

  it('keeps leading while the API server restarts', async () => {
    // A longer deadline than production's: a busy test machine may need that long for a restart.
    const times = { lease: 60_000, deadline: 45_000, retry: 1_000 };
    const first = await start('first', times);
    await first.hears('leading');
    const second = await start('second', times);
    await plane.restartApiServer();
    const { spec: before } = await kube.get(Kinds.Lease, ref);
    await eventually('a renewal by the same leader', async () => {
      const { spec } = await kube.get(Kinds.Lease, ref);
      return spec?.renewTime !== before?.renewTime ? true : undefined;
    });
    expect(await holder()).toBe('first');
    expect(first.said.has('stopping')).toBe(false);
    expect(second.said.has('leading')).toBe(false);
  });

  it('one of many leads, and each of them in turn', async () => {
    const times = { lease: 15_000, deadline: 10_000, retry: 300 };
    const names = ['a', 'b', 'c', 'd'];
    const waiting = new Set(await Promise.all(names.map((name) => start(name, times))));
    while (waiting.size > 0) {
      const leaders = await eventually('one candidate leads', () => {
        const found = [...waiting].filter((candidate) => candidate.said.has('leading'));
        return found.length > 0 ? found : undefined;
      });
      expect(leaders).toHaveLength(1);
      const [leader] = leaders as [Candidate];
      leader.kill('SIGTERM');
      await leader.hears('ended');
      waiting.delete(leader);
    }
    expect(await holder()).toBe('');
  });
});
