import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import { Annotations, Labels, Taints } from '../../src/api/labels.ts';
import { createEngine } from '../../src/cli/compose/engine.ts';
import { CLASS_REF, conditionOf, poolSpec, Workbench } from '../fixtures/engine/workbench.ts';

const MINUTE = 60_000;
const SMALL = { key: Labels.instanceType, operator: 'In' as const, values: ['m2'] };

let bench: Workbench;
beforeEach(async () => {
  bench = await Workbench.start({
    engine: (ports) =>
      createEngine({ ...ports, batchIdle: 1_000, batchMax: 10_000, gates: { staticCapacity: true, nodeRepair: true } }),
    pace: { boot: 5_000, ready: 1_000, podStart: 1_000 },
  });
});
afterEach(() => bench.close());

/** Nodes for one pod each, in a pool that consolidates nothing. */
async function launch(nodes: number, budget = '100%', template: object = {}): Promise<void> {
  await bench.createPool('default', {
    disruption: { ...poolSpec().disruption, consolidateAfter: 'Never', budgets: [{ nodes: budget }] },
    template: { spec: { nodeClassRef: CLASS_REF, requirements: [SMALL], expireAfter: 'Never', ...template } },
  });
  await bench.kube.create(Kinds.Deployment, {
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      replicas: nodes,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'main', image: 'app', resources: { requests: { cpu: '1200m' } } }] },
      },
    },
  });
  await bench.advance(MINUTE);
  expect(await names()).toHaveLength(nodes);
}

const names = async (): Promise<string[]> => (await bench.claims()).map(({ metadata }) => metadata.name);
const running = async (): Promise<number> =>
  (await bench.pods()).filter(({ status, metadata }) => status?.phase === 'Running' && !metadata.deletionTimestamp)
    .length;
/** Nodes being removed, except those whose instance the cloud is already deleting. */
async function tainted(): Promise<number> {
  const gone = (await bench.claims()).filter((claim) => conditionOf(claim, 'InstanceTerminating')?.status === 'True');
  const instances = new Set(gone.map(({ status }) => status?.providerID));
  return (await bench.nodes()).filter(
    ({ spec }) =>
      (spec?.taints ?? []).some(({ key }) => key === Taints.disrupted.key) && !instances.has(spec?.providerID),
  ).length;
}
const changePool = (body: object) => bench.kube.patch(Kinds.NodePool, { name: 'default' }, { type: 'merge', body });
const relabel = () => changePool({ spec: { template: { metadata: { labels: { team: 'blue' } } } } });

describe('a drifted node', () => {
  it.each([
    ['whose pool has another template', relabel],
    [
      'that does not meet the requirements of its pool',
      () => changePool({ spec: { template: { spec: { requirements: [{ ...SMALL, values: ['m4'] }] } } } }),
    ],
    [
      'that the cloud says has drifted',
      async () => {
        const [old] = await names();
        bench.cloud.driftReason = async ({ claim }) => (claim.metadata.name === old ? 'ImageDrift' : undefined);
        await bench.advance(6 * MINUTE);
      },
    ],
  ])('%s is replaced, and only goes when its replacement is there', async (_, change) => {
    await launch(1);
    const [before] = await names();
    await change();
    await bench.advance(4_000);
    await bench.advance(3 * MINUTE);
    const after = await names();
    expect(after).toHaveLength(1);
    expect(after).not.toContain(before);
    expect(await running()).toBe(1);
    expect(bench.cloud.instances).toHaveLength(1);
    const replaced = { decision: 'replace', reason: 'drifted' };
    expect(bench.metrics.value('karpenter_voluntary_disruption_decisions_total', replaced)).toBe(1);
  });

  it('goes with others as far as budgets allow, and each pod moves once', async () => {
    await launch(6, '2');
    const before = await names();
    await relabel();
    let most = 0;
    for (let step = 0; step < 60; step++) {
      await bench.advance(5_000);
      most = Math.max(most, await tainted());
    }
    expect(most).toBe(2);
    const after = await names();
    expect(after.filter((name) => before.includes(name))).toEqual([]);
    expect(after).toHaveLength(6);
    expect(await running()).toBe(6);
    expect(bench.cloud.launches).toHaveLength(12);
    const evicted = bench.metrics.value('karpenter_pods_eviction_requests_total', { code: '200' });
    expect(evicted).toBe(6);
  });

  it('stays when its replacement never joins, and is tried again later', async () => {
    await launch(1);
    const [before] = await names();
    bench.cloud.joins = false;
    await relabel();
    await bench.advance(11 * MINUTE);
    expect(await names()).toContain(before);
    expect(await tainted()).toBe(0);
    expect(await running()).toBe(1);
    bench.cloud.joins = true;
    await bench.advance(30 * MINUTE);
    expect(await names()).not.toContain(before);
    expect(await names()).toHaveLength(1);
    expect(await running()).toBe(1);
  });

  it('of a static pool is replaced one for one, within its budget and its limit', async () => {
    await bench.createPool('fixed', {
      replicas: 3,
      limits: { nodes: '4' },
      disruption: { ...poolSpec().disruption, budgets: [{ nodes: '100%' }] },
      template: { spec: { nodeClassRef: CLASS_REF, requirements: [SMALL], expireAfter: 'Never' } },
    });
    await bench.advance(MINUTE);
    const before = await names();
    expect(before).toHaveLength(3);
    const body = { spec: { template: { metadata: { labels: { team: 'blue' } } } } };
    await bench.kube.patch(Kinds.NodePool, { name: 'fixed' }, { type: 'merge', body });
    for (let step = 0; step < 36; step++) {
      await bench.advance(5_000);
      expect((await names()).length).toBeLessThanOrEqual(4);
    }
    const after = await names();
    expect(after).toHaveLength(3);
    expect(after.filter((name) => before.includes(name))).toEqual([]);
    expect(bench.cloud.launches).toHaveLength(6);
  });

  it('that has expired and is not to go by force waits for its budget', async () => {
    await launch(2, '1', { expireAfter: '10m' });
    await changePool({ metadata: { annotations: { [Annotations.forcefulExpiration]: 'false' } } });
    const before = await names();
    let most = 0;
    for (let step = 0; step < 60; step++) {
      await bench.advance(10_000 + 1_000);
      most = Math.max(most, await tainted());
    }
    await bench.advance(2 * MINUTE);
    expect(most).toBe(1);
    expect((await names()).filter((name) => before.includes(name))).toEqual([]);
    expect(await running()).toBe(2);
  });
});
