import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { memoryInstanceType } from '../../../test/fixtures/engine/memoryCloud.ts';
import { conditionOf, poolSpec, Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import type { NodeOverlay } from '../../api/kinds/nodeOverlay.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import { Labels } from '../../api/labels.ts';
import { formatResources } from '../../units/resources.ts';
import { nodeOverlayController } from './controller.ts';
import { evaluateOverlays, overlaidType } from './evaluation.ts';
import { overlaidCloud, OverlayStore, UnevaluatedNodePoolError } from './overlayCloud.ts';

const overlay = (name: string, spec: Partial<NodeOverlay['spec']>): NodeOverlay => ({
  metadata: { name },
  spec: { requirements: [], ...spec },
});
const pool = (name: string): NodePool => ({ metadata: { name }, spec: poolSpec() });
const types = [memoryInstanceType('m2', 2, 0.1), memoryInstanceType('m4', 4, 0.2)];
const onlyType = (name: string) => [{ key: Labels.instanceType, operator: 'In' as const, values: [name] }];

function evaluated(overlays: readonly NodeOverlay[], pools = [pool('default')]) {
  const evaluation = evaluateOverlays(
    overlays,
    pools.map((each) => ({ pool: each, instanceTypes: types })),
  );
  const view = (poolName: string) =>
    types.map((type) => overlaidType(type, evaluation.changes.get(poolName)?.get(type.name)));
  return {
    verdicts: Object.fromEntries([...evaluation.verdicts].map(([name, { kind }]) => [name, kind])),
    prices: (poolName = 'default') => view(poolName).map(({ offerings }) => offerings.map(({ price }) => price)),
    capacity: (poolName = 'default') => view(poolName).map(({ capacity }) => formatResources(capacity)),
  };
}

describe('evaluation', () => {
  it('replaces, shifts and scales prices', () => {
    expect(evaluated([overlay('a', { price: '5' })]).prices()[0]).toEqual([5, 5]);
    expect(evaluated([overlay('a', { priceAdjustment: '+0.05' })]).prices()[0]).toEqual([0.15, 0.15]);
    expect(evaluated([overlay('a', { priceAdjustment: '-10%' })]).prices()).toEqual([
      [0.09, 0.09],
      [0.18, 0.18],
    ]);
    expect(evaluated([overlay('a', { priceAdjustment: '-7' })]).prices()[0]).toEqual([0, 0]);
  });

  it('changes only what its requirements select: a type, an offering, a pool', () => {
    expect(evaluated([overlay('a', { price: '9', requirements: onlyType('m4') })]).prices()).toEqual([
      [0.1, 0.1],
      [9, 9],
    ]);
    const zone = [{ key: Labels.zone, operator: 'In' as const, values: ['zone-2'] }];
    expect(evaluated([overlay('a', { price: '9', requirements: zone })]).prices()[0]).toEqual([0.1, 9]);
    const inPool = [{ key: Labels.nodePool, operator: 'In' as const, values: ['x'] }];
    const both = evaluated([overlay('a', { price: '9', requirements: inPool })], [pool('x'), pool('y')]);
    expect([both.prices('x')[0], both.prices('y')[0]]).toEqual([
      [9, 9],
      [0.1, 0.1],
    ]);
  });

  it('adds resources to the whole type', () => {
    const [first] = evaluated([overlay('a', { capacity: { 'example.com/licence': '3' } })]).capacity();
    expect(first).toMatchObject({ cpu: '2', 'example.com/licence': '3' });
  });

  it('lets the higher weight win, and the lower fill the rest', () => {
    const heavy = overlay('heavy', { weight: 10, price: '1', requirements: onlyType('m2') });
    const light = overlay('light', { weight: 1, price: '2', capacity: { 'example.com/a': '1' } });
    const result = evaluated([light, heavy]);
    expect(result.verdicts).toEqual({ heavy: 'accepted', light: 'accepted' });
    expect(result.prices()).toEqual([
      [1, 1],
      [2, 2],
    ]);
    expect(result.capacity()[0]).toHaveProperty(['example.com/a'], '1');
  });

  it('refuses the later of two overlays of equal weight that conflict, everywhere', () => {
    const first = overlay('z', { price: '1', requirements: onlyType('m2') });
    const second = overlay('a', { price: '2' });
    const result = evaluated([second, first]);
    expect(result.verdicts).toEqual({ z: 'accepted', a: 'conflict' });
    expect(result.prices()).toEqual([
      [1, 1],
      [0.2, 0.2],
    ]);
    const capacities = [overlay('b', { capacity: { x: '1' } }), overlay('c', { capacity: { x: '2' } })];
    expect(evaluated(capacities).verdicts).toEqual({ c: 'accepted', b: 'conflict' });
    const apart = [overlay('b', { capacity: { x: '1' } }), overlay('c', { capacity: { y: '2' } })];
    expect(evaluated(apart).verdicts).toEqual({ c: 'accepted', b: 'accepted' });
  });

  it('refuses invalid overlays', () => {
    expect(evaluated([overlay('a', { requirements: [{ key: 'x', operator: 'NotIn', values: [] }] })]).verdicts).toEqual(
      { a: 'invalid' },
    );
  });
});

describe('the loop', () => {
  let bench: Workbench;
  let store: OverlayStore;
  beforeEach(async () => {
    store = new OverlayStore();
    bench = await Workbench.start({
      controllers: ({ world, informers }) => [
        nodeOverlayController(world, { overlays: informers.of(Kinds.NodeOverlay), store, cloud: world.cloud }),
      ],
    });
  });
  afterEach(() => bench.close());

  const price = async (of: NodePool) => {
    const [first] = await overlaidCloud(bench.cloud, store).instanceTypes(of, { metadata: { name: 'default' } });
    return first?.offerings[0]?.price;
  };

  it('reports the result of each overlay, and undoes it with the overlay', async () => {
    const created = await bench.createPool();
    await bench.kube.create(Kinds.NodeOverlay, overlay('b', { price: '7' }));
    await bench.kube.create(Kinds.NodeOverlay, overlay('a', { price: '8' }));
    await bench.clock.idle();
    const verdict = async (name: string) =>
      conditionOf(await bench.kube.get(Kinds.NodeOverlay, { name }), 'ValidationSucceeded')?.reason;
    expect([await verdict('b'), await verdict('a')]).toEqual(['ValidationSucceeded', 'Conflict']);
    expect(await price(created)).toBe(7);
    expect(store.touched('default', ['m2'])).toEqual({ price: true, capacity: false });
    await bench.kube.delete(Kinds.NodeOverlay, { name: 'b' });
    await bench.clock.idle();
    expect(await verdict('a')).toBe('ValidationSucceeded');
    expect(await price(created)).toBe(8);
    await bench.kube.delete(Kinds.NodeOverlay, { name: 'a' });
    await bench.clock.idle();
    expect(await price(created)).toBe(0.1);
  });

  it('keeps a pool unusable until its instance types are evaluated', async () => {
    const list = bench.cloud.instanceTypes.bind(bench.cloud);
    bench.cloud.instanceTypes = async () => Promise.reject(new Error('not now'));
    const created = await bench.createPool();
    await bench.clock.idle();
    bench.cloud.instanceTypes = list;
    await expect(price(created)).rejects.toThrow(UnevaluatedNodePoolError);
    await bench.advance(10_000);
    expect(await price(created)).toBe(0.1);
  });
});
