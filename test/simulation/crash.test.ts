import { describe, expect, it } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import { createEngine } from '../../src/cli/compose/engine.ts';
import { Mortality, type Death } from './mortality.ts';
import { Workbench } from './workbench.ts';

/**
 * A day in the life of a cluster, with a process that dies at one chosen write and is started again. Whatever the
 * write: as many machines as without the accident, every pod runs, and at the end nothing is left behind.
 */
async function live(death?: Death): Promise<{ readonly writes: readonly string[]; readonly launches: number }> {
  const first = new Mortality(death);
  let life = first;
  const bench = await Workbench.start({
    engine: (ports) => createEngine({ ...ports, batchIdle: 1_000, batchMax: 10_000 }),
    decorate: (kube) => life.kube(kube),
    decorateCloud: (cloud) => life.cloud(cloud),
    pace: { boot: 5_000, ready: 1_000 },
  });
  const pass = async (milliseconds: number): Promise<void> => {
    const end = bench.clock.now() + milliseconds;
    while (bench.clock.now() < end) {
      await bench.clock.runUntil(() => (life === first && first.isDead) || bench.clock.now() >= end);
      if (life !== first || !first.isDead) continue;
      await bench.stopEngine();
      life = new Mortality();
      bench.startEngine();
    }
  };
  const running = async (): Promise<number> =>
    (await bench.pods()).filter(({ status, metadata }) => status?.phase === 'Running' && !metadata.deletionTimestamp)
      .length;

  try {
    await bench.createPool();
    await bench.kube.create(Kinds.Deployment, {
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        replicas: 3,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: { containers: [{ name: 'main', image: 'app', resources: { requests: { cpu: '500m' } } }] },
        },
      },
    });
    await pass(60_000);
    expect(await running()).toBe(3);
    expect(bench.cloud.instances).toHaveLength(1);
    expect(await bench.claims()).toHaveLength(1);

    // The machine is replaced.
    const [claim] = await bench.claims();
    await bench.kube.delete(Kinds.NodeClaim, { name: claim?.metadata.name ?? '' });
    await pass(120_000);
    expect(await running()).toBe(3);
    expect(bench.cloud.instances).toHaveLength(1);
    expect((await bench.nodes()).map(({ spec }) => spec?.providerID)).toEqual(
      bench.cloud.instances.map(({ providerID }) => providerID),
    );

    // All goes.
    await bench.kube.delete(Kinds.Deployment, { name: 'web', namespace: 'default' });
    await bench.kube.deleteCollection(Kinds.NodeClaim, {});
    await pass(120_000);
    expect(await bench.claims()).toEqual([]);
    expect(await bench.nodes()).toEqual([]);
    expect(await bench.pods()).toEqual([]);
    expect(bench.cloud.instances).toEqual([]);
    expect(first.isDead).toBe(death !== undefined);
    return { writes: first.writes, launches: bench.cloud.launches.length };
  } finally {
    await bench.close();
  }
}

describe('a process that dies', { timeout: 900_000 }, () => {
  it('at any write, before or after it took effect, leaves nothing that its successor cannot mend', async () => {
    const undisturbed = await live();
    expect(undisturbed.launches).toBe(2);
    expect(undisturbed.writes.length).toBeGreaterThan(20);
    const failures: string[] = [];
    for (let at = 0; at < undisturbed.writes.length; at++) {
      for (const moment of ['before', 'after'] as const) {
        try {
          const { launches } = await live({ at, moment });
          if (launches !== 2) failures.push(`${moment} write ${at} (${undisturbed.writes[at]}): ${launches} launches`);
        } catch (error) {
          failures.push(`${moment} write ${at} (${undisturbed.writes[at]}): ${String(error)}`);
        }
      }
    }
    expect(failures).toEqual([]);
  });
});
