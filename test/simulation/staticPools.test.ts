import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CLASS_REF, Workbench } from '../fixtures/engine/workbench.ts';
import { Kinds } from '../../src/api/kinds.ts';
import { Annotations, Labels } from '../../src/api/labels.ts';
import { createEngine } from '../../src/cli/compose/engine.ts';

let bench: Workbench;
beforeEach(async () => {
  bench = await Workbench.start({
    engine: (ports) => createEngine({ ...ports, batchIdle: 1_000, batchMax: 10_000, gates: { staticCapacity: true } }),
    pace: { boot: 5_000, ready: 1_000 },
  });
});
afterEach(() => bench.close());

const template = {
  spec: {
    nodeClassRef: CLASS_REF,
    requirements: [{ key: Labels.instanceType, operator: 'In' as const, values: ['m2'] }],
    expireAfter: 'Never',
  },
};
const scale = (replicas: number) =>
  bench.kube.patch(Kinds.NodePool, { name: 'fixed' }, { type: 'merge', body: { spec: { replicas } } });
const active = async (): Promise<string[]> =>
  (await bench.claims()).filter(({ metadata }) => !metadata.deletionTimestamp).map(({ metadata }) => metadata.name);

describe('a static pool', () => {
  it('has as many machines as it says, up and down', async () => {
    await bench.createPool('fixed', { replicas: 3, template });
    await bench.advance(20_000);
    expect(await active()).toHaveLength(3);
    expect(bench.cloud.launches).toHaveLength(3);
    const [claim] = await bench.claims();
    expect(claim?.metadata.annotations?.[Annotations.nodePoolHash]).toBeDefined();
    expect(claim?.spec.resources).toBeUndefined();
    await scale(5);
    await bench.advance(20_000);
    expect(await active()).toHaveLength(5);
    await scale(1);
    await bench.advance(60_000);
    expect(bench.cloud.instances).toHaveLength(1);
    expect(bench.cloud.launches).toHaveLength(5);
    await scale(0);
    await bench.advance(60_000);
    expect(bench.cloud.instances).toEqual([]);
  });

  it('replaces a machine that goes', async () => {
    await bench.createPool('fixed', { replicas: 2, template });
    await bench.advance(20_000);
    const [first] = await active();
    await bench.kube.delete(Kinds.NodeClaim, { name: first ?? '' });
    await bench.advance(60_000);
    expect(await active()).toHaveLength(2);
    expect(await active()).not.toContain(first);
  });

  it('stays within its limit, counting what is still on its way out', async () => {
    await bench.createPool('fixed', { replicas: 5, limits: { nodes: '3' }, template });
    await bench.advance(90_000);
    expect(bench.cloud.launches).toHaveLength(3);
  });

  it('is not doubled by a restart in the middle', async () => {
    bench.cloud.launchOutage = new Error('not now');
    await bench.createPool('fixed', { replicas: 3, template });
    await bench.advance(2_000);
    await bench.stopEngine();
    bench.cloud.launchOutage = undefined;
    bench.startEngine();
    await bench.advance(60_000);
    expect(bench.cloud.launches).toHaveLength(3);
  });

  it('gives up machines that have not launched first, then empty ones, then those whose pods mind least', async () => {
    await bench.createPool('fixed', { replicas: 4, template });
    await bench.advance(20_000);
    const [empty = '', busy = '', shielded = '', calm = ''] = await active();
    await bench.createPod(
      'p1',
      { nodeName: `node-${busy}`, priority: 0 },
      { annotations: { [Annotations.podDeletionCost]: '134217728' } },
    );
    await bench.createPod(
      'p2',
      { nodeName: `node-${shielded}` },
      { annotations: { [Annotations.doNotDisrupt]: 'true' } },
    );
    await bench.createPod('p3', { nodeName: `node-${calm}` });
    await bench.advance(5_000);
    const order: string[] = [];
    for (const replicas of [3, 2, 1]) {
      const before = await active();
      await scale(replicas);
      await bench.advance(5_000);
      const after = await active();
      order.push(...before.filter((name) => !after.includes(name)));
    }
    expect(order).toEqual([empty, calm, busy]);
    expect(await active()).toEqual([shielded]);
  });
});
