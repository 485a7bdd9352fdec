import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import { Annotations, Labels } from '../../src/api/labels.ts';
import { InsufficientCapacityError } from '../../src/cloud/errors.ts';
import { createEngine } from '../../src/cli/compose/engine.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { recordText } from '../../src/ledger/recordText.ts';
import { poolSpec, Workbench } from '../fixtures/engine/workbench.ts';

const MINUTE = 60_000;

let bench: Workbench;
let ledger: Ledger;
beforeEach(async () => {
  bench = await Workbench.start({
    engine: (ports) => {
      ledger = new Ledger({ now: () => ports.clock.now() });
      return createEngine({ ...ports, ledger, batchIdle: 1_000, batchMax: 10_000 });
    },
    pace: { boot: 5_000, ready: 1_000, podStart: 1_000 },
  });
});
afterEach(() => bench.close());

const disruption = (changes: object = {}) => ({
  disruption: { ...poolSpec().disruption, budgets: [{ nodes: '100%' }], ...changes },
});

async function deploy(name: string, replicas: number, cpu: string, annotations: Record<string, string> = {}) {
  await bench.kube.create(Kinds.Deployment, {
    metadata: { name, namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name }, annotations },
        spec: { containers: [{ name: 'main', image: 'app', resources: { requests: { cpu } } }] },
      },
    },
  });
  await bench.advance(MINUTE);
}

const scale = (name: string, replicas: number) =>
  bench.kube.patch(Kinds.Deployment, { name, namespace: 'default' }, { type: 'merge', body: { spec: { replicas } } });
const types = async (): Promise<string[]> =>
  (await bench.nodes()).map(({ metadata }) => metadata.labels?.[Labels.instanceType] ?? '').sort();
const running = async (): Promise<number> =>
  (await bench.pods()).filter(({ status, metadata }) => status?.phase === 'Running' && !metadata.deletionTimestamp)
    .length;

describe('nodes that are not worth their price', () => {
  it('are replaced by a cheaper one that holds what is left', async () => {
    await bench.createPool('default', disruption());
    await deploy('web', 15, '1');
    expect(await types()).toEqual(['m16']);
    await scale('web', 3);
    await bench.advance(5 * MINUTE);
    expect(await running()).toBe(3);
    expect(await types()).toEqual(['m4']);
    const labels = { decision: 'replace', reason: 'underutilized' };
    expect(bench.metrics.value('karpenter_voluntary_disruption_decisions_total', labels)).toBeGreaterThanOrEqual(1);
    const replacement = ledger.entries().findLast(({ kind }) => kind === 'launch');
    expect(replacement && recordText(replacement)).toMatch(
      /: m4 in .*, in place of others, for .*; without default\/web-\S+ a cheaper instance type would suffice \(cpu\)$/,
    );
  });

  it('are replaced after a launch that failed, once the pause that follows is over', async () => {
    await bench.createPool('default', disruption());
    await deploy('web', 15, '1');
    bench.cloud.launchFailures.push(new InsufficientCapacityError('no room'));
    await scale('web', 3);
    await bench.advance(MINUTE / 2);
    expect(bench.cloud.launchFailures).toEqual([]);
    expect(await types()).toEqual(['m16']);
    await bench.advance(1.5 * MINUTE);
    expect(await types()).toEqual(['m4']);
    expect(await running()).toBe(3);
  });

  it('stay for consolidateAfter, for a policy that only takes empty ones, and for pods that must not move', async () => {
    await bench.createPool('default', disruption({ consolidateAfter: '10m' }));
    await deploy('web', 15, '1', { [Annotations.doNotDisrupt]: '20m' });
    await scale('web', 3);
    await bench.advance(9 * MINUTE);
    expect(await types()).toEqual(['m16']);
    await bench.advance(5 * MINUTE);
    expect(await types()).toEqual(['m16']);
    const said = (await bench.events('DisruptionBlocked')).map(({ message }) => message);
    expect(said.some((message) => message?.startsWith('Pod has "karpenter.sh/do-not-disrupt" annotation'))).toBe(true);
    await bench.advance(15 * MINUTE);
    expect(await types()).toEqual(['m4']);
  });

  it('are left alone while a PodDisruptionBudget allows nothing', async () => {
    await bench.createPool('default', disruption());
    await deploy('web', 15, '1');
    await bench.kube.create(Kinds.PodDisruptionBudget, {
      metadata: { name: 'web', namespace: 'default' },
      spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'web' } } },
    });
    await scale('web', 3);
    await bench.advance(5 * MINUTE);
    expect(await types()).toEqual(['m16']);
    const said = (await bench.events('DisruptionBlocked')).map(({ message }) => message);
    expect(said).toContain('Pdb prevents pod evictions (PodDisruptionBudget=[default/web])');
  });

  it('do not come and go: a cluster at rest stays as it is', async () => {
    await bench.createPool('default', disruption());
    await deploy('web', 9, '900m');
    await scale('web', 4);
    await bench.advance(10 * MINUTE);
    const [settled, launches] = [await types(), bench.cloud.launches.length];
    await bench.advance(120 * MINUTE);
    expect(await types()).toEqual(settled);
    expect(bench.cloud.launches).toHaveLength(launches);
    expect(await running()).toBe(4);
  });
});
