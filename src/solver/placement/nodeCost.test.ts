import { describe, expect, it } from 'vitest';
import { LARGE, offer, PLAIN_PACKING, placementDraft, SMALL } from '../../../test/fixtures/solver/placementDraft.ts';
import { testPod } from '../../../test/fixtures/solver/testObjects.ts';
import { TypeChoice } from '../packing/typeChoice.ts';
import { NodeCost } from './nodeCost.ts';
import type { Growth } from './openNode.ts';

const POD = testPod('p', '1', '1Gi');

/** The cost of a node that holds `pods` pods, and the initial state of the pool. */
function costOf(
  growth: Growth,
  pods: number,
  limits?: Record<string, string>,
): { cost: NodeCost; state: number; names: string[] } {
  const pools = [offer('a', [SMALL, LARGE], {}, limits === undefined ? {} : { limits })];
  const { compiled, limitLeft } = placementDraft([POD], { pools });
  const { model } = compiled;
  const [pool] = model.pools;
  const [podClass] = compiled.classes;
  if (pool === undefined || podClass === undefined) throw new Error('nothing was compiled');
  const choice = new TypeChoice(pool, model.states, model.table.size, PLAIN_PACKING);
  const cost = new NodeCost(choice);
  cost.point(
    choice,
    growth,
    podClass.row.map((amount) => amount * pods),
    podClass.row,
    [],
    limitLeft[0],
  );
  return { cost, state: model.states.base(0), names: pool.types.map(({ name }) => name) };
}

/** The name of the type of a node with this many pods. */
const typeWith = (growth: Growth, pods: number, limits?: Record<string, string>): string | undefined => {
  const { cost, state, names } = costOf(growth, pods, limits);
  return cost.accepts(state) ? names[cost.typeIn(state)] : undefined;
};

describe('the cost of a node', () => {
  it('is that of the cheapest type that holds the load', () => {
    expect([typeWith('any', 1), typeWith('any', 2), typeWith('any', 8)]).toEqual(['small', 'large', undefined]);
    const { cost, state } = costOf('any', 1);
    expect(cost.dollars(state)).toBeCloseTo(0.04);
    expect(cost.price(state)).toBe(cost.dollars(state));
  });

  it('is that of the largest type when nodes start large, and then compares sizes', () => {
    expect(typeWith('largest', 1)).toBe('large');
    const { cost, state } = costOf('largest', 1);
    expect(cost.dollars(state)).toBeCloseTo(0.2);
    expect(cost.price(state)).toBeCloseTo(-7900, 0);
  });

  it('compares nodes by how many such pods they can hold when growth is by room', () => {
    const { cost, state } = costOf('room', 1);
    expect(cost.price(state)).toBeCloseTo(-7, 3);
  });

  it('stays within the remaining limits, and tells what the node uses of them', () => {
    expect([typeWith('largest', 1, { cpu: '4' }), typeWith('any', 3, { cpu: '4' })]).toEqual(['small', undefined]);
    const { cost, state } = costOf('any', 1, { cpu: '4' });
    expect([...cost.limitNeed(state)]).toEqual([2000]);
  });
});
