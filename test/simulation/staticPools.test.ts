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
  it('has as many nodes as its replicas, up and down', async () => {
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

  it('launches nothing twice after a restart in between', async () => {
    bench.cloud.launchOutage = new Error('not now');
    await bench.createPool('fixed', { replicas: 3, template });
    await bench.advance(2_000);
    await bench.stopEngine();
    bench.cloud.launchOutage = undefined;
    bench.startEngine();
    await bench.advance(60_000);
    expect(bench.cloud.launches).toHaveLength(3);
  });
});
