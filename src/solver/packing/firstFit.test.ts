import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { apartPods, flawsOf, packingDemand, plainPods } from '../../../test/fixtures/solver/packingDemand.ts';
import { testType } from '../../../test/fixtures/solver/testObjects.ts';
import { countsOf } from './demand.ts';
import { firstFit } from './firstFit.ts';

const TYPES = [testType('a2', 2, 4, 0.09), testType('a4', 4, 16, 0.2), testType('a8', 8, 16, 0.35)];

describe('first fit', () => {
  it('puts each pod on the first node that can still hold it, and buys the cheapest type at the end', () => {
    const pods = [...plainPods('large', 2, '5', '2Gi'), ...plainPods('small', 3, '1', '1Gi')];
    const demand = packingDemand(pods, TYPES);
    const { bins } = firstFit(demand, demand.items.keys(), countsOf(demand), undefined);
    const named = bins.map(({ items, counts, type }) => [
      demand.pool.types[type]?.name,
      ...items.map((item, at) => [demand.items[item]?.podClass.row[0], counts[at]]),
    ]);
    expect(named).toEqual([
      ['a8', [5000, 1], [1000, 2]],
      ['a8', [5000, 1], [1000, 1]],
    ]);
  });

  it('subtracts what it buys from the limits, and leaves pods that do not fit in them', () => {
    const demand = packingDemand(plainPods('large', 3, '3', '12Gi'), TYPES, {}, { cpu: '8' });
    const limitLeft = Float64Array.of(8000);
    const plan = firstFit(demand, demand.items.keys(), countsOf(demand), limitLeft);
    expect(plan.bins.length).toBe(2);
    expect([...plan.left]).toEqual([1]);
    expect([...limitLeft]).toEqual([0]);
  });

  it('makes valid plans for any order of the items', () => {
    const workload = fc.tuple(fc.integer({ min: 1, max: 8 }), fc.nat(70), fc.nat(60), fc.boolean());
    fc.assert(
      fc.property(fc.array(workload, { minLength: 1, maxLength: 6 }), fc.boolean(), (workloads, isReversed) => {
        const pods = workloads.flatMap(([count, cpu, memory, isApart], at) =>
          (isApart ? apartPods : plainPods)(`w${at}`, count, `${cpu * 100 + 50}m`, `${memory * 256 + 64}Mi`),
        );
        const demand = packingDemand(pods, TYPES);
        const order = [...demand.items.keys()];
        const plan = firstFit(demand, isReversed ? order.reverse() : order, countsOf(demand), undefined);
        expect(flawsOf(demand, plan)).toEqual([]);
        expect([...plan.left].every((count) => count === 0)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});
