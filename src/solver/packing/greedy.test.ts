import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { apartPods, flawsOf, packingDemand, plainPods } from '../../../test/fixtures/solver/packingDemand.ts';
import { testType } from '../../../test/fixtures/solver/testObjects.ts';
import { planCost, type Plan } from './bin.ts';
import { countsOf, orderByValue, wasteOf, type Demand } from './demand.ts';
import { Greedy } from './greedy.ts';

const TYPES = [testType('a2', 2, 4, 0.09), testType('a4', 4, 16, 0.2), testType('b8', 8, 64, 0.5)];

function pack(demand: Demand, limitLeft?: Float64Array, mostWaste?: number): Plan {
  const order = orderByValue(demand.items.keys(), demand.value);
  return new Greedy(demand).pack(order, countsOf(demand), demand.value, limitLeft, mostWaste);
}

const typesOf = ({ pool }: Demand, { bins }: Plan): string[] => bins.map(({ type }) => pool.types[type]?.name ?? '');

describe('greedy packing', () => {
  it('gives every pod a place on sound nodes, and repeats the same answer', () => {
    const workload = fc.tuple(fc.integer({ min: 1, max: 12 }), fc.nat(60), fc.nat(60), fc.boolean());
    fc.assert(
      fc.property(fc.array(workload, { minLength: 1, maxLength: 6 }), (workloads) => {
        const pods = workloads.flatMap(([count, cpu, memory, isApart], at) =>
          (isApart ? apartPods : plainPods)(`w${at}`, count, `${cpu * 100 + 50}m`, `${memory * 256 + 64}Mi`),
        );
        const demand = packingDemand(pods, TYPES);
        const plan = pack(demand);
        expect(flawsOf(demand, plan)).toEqual([]);
        expect(plan.left.every((count) => count === 0)).toBe(true);
        expect(planCost(plan, 0)).toBeGreaterThanOrEqual(demand.fractionalBound - 1e-6);
        expect(pack(demand)).toEqual(plan);
      }),
      { numRuns: 60 },
    );
  });

  it('buys the type that holds the most for its price, as often as there are pods for it', () => {
    const demand = packingDemand(plainPods('web', 9, '1200m', '5Gi'), TYPES);
    const plan = pack(demand);
    expect(typesOf(demand, plan)).toEqual(['a4', 'a4', 'a4']);
    expect(plan.bins.map(({ counts }) => counts)).toEqual([[3], [3], [3]]);
  });

  it('takes its nodes from the limits, and leaves the pods for which these do not suffice', () => {
    const demand = packingDemand(plainPods('web', 5, '1500m', '3Gi'), [testType('a2', 2, 4, 0.09)], {}, { cpu: '6' });
    const limitLeft = Float64Array.of(6000);
    const plan = pack(demand, limitLeft);
    expect([plan.bins.length, [...plan.left], [...limitLeft]]).toEqual([3, [2], [0]]);
  });

  it('stops once its nodes waste more than it may', () => {
    const pods = [1100, 1150, 1200].flatMap((cpu) => plainPods(`p${cpu}-`, 2, `${cpu}m`, '100Mi'));
    const demand = packingDemand(pods, [testType('a2', 2, 4, 0.09)]);
    const whole = pack(demand);
    const wasted = whole.bins.reduce((sum, bin) => sum + wasteOf(demand, bin), 0);
    expect([whole.bins.length, wasted > 0]).toEqual([6, true]);
    expect(pack(demand, undefined, wasted).bins.length).toBe(6);
    const { bins, left } = pack(demand, undefined, wasted / 2);
    expect(bins.length).toBeLessThan(6);
    expect(left.reduce((sum, count) => sum + count, 0)).toBe(6 - bins.length);
  });
});
