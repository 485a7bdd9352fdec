import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { apartPods, flawsOf, packingDemand, plainPods } from '../../../test/fixtures/solver/packingDemand.ts';
import { testType } from '../../../test/fixtures/solver/testObjects.ts';
import { countsOf } from './demand.ts';
import { patternPlan } from './patterns.ts';

const TYPES = [testType('a4', 4, 16, 0.2, ['z1']), testType('a8', 8, 32, 0.39, ['z1'])];

/** The least price of any packing, by exhaustive search. */
function leastPrice(sizes: readonly number[], types: readonly { cpu: number; price: number }[]): number {
  const known = new Map<string, number>();
  const largest = Math.max(...types.map(({ cpu }) => cpu));
  const best = (left: readonly number[]): number => {
    const [first, ...others] = left;
    if (first === undefined) return 0;
    const key = left.join();
    const remembered = known.get(key);
    if (remembered !== undefined) return remembered;
    let least = Number.POSITIVE_INFINITY;
    // Some node holds the first pod: try every set of other pods with it.
    for (let set = 0; set < 2 ** others.length; set++) {
      const beside = others.filter((_, at) => ((set >> at) & 1) === 1);
      const load = beside.reduce((sum, size) => sum + size, first);
      if (load > largest) continue;
      const price = Math.min(...types.filter(({ cpu }) => cpu >= load).map((type) => type.price));
      least = Math.min(least, price + best(others.filter((_, at) => ((set >> at) & 1) === 0)));
    }
    known.set(key, least);
    return least;
  };
  return best(sizes);
}

describe('plans of whole fillings', () => {
  it('give a bound no higher than the best packing costs, and higher than with pods that can be split', () => {
    const kinds = fc.array(fc.tuple(fc.integer({ min: 11, max: 39 }), fc.integer({ min: 1, max: 3 })), {
      minLength: 1,
      maxLength: 3,
    });
    fc.assert(
      fc.property(kinds, (asked) => {
        const pods = asked.flatMap(([size, count], at) => plainPods(`w${at}`, count, `${size * 100}m`, '64Mi'));
        const demand = packingDemand(pods, TYPES);
        const found = patternPlan(demand);
        // On spot: 0.4 of the price.
        const types = [
          { cpu: 39, price: 0.08 },
          { cpu: 79, price: 0.156 },
        ];
        const sizes = asked.flatMap(([size, count]) => Array.from({ length: count }, () => size));
        const { bound = 0 } = found ?? {};
        expect(bound).toBeLessThanOrEqual(leastPrice(sizes, types) + 1e-9);
        expect(bound).toBeGreaterThanOrEqual(demand.fractionalBound * (1 - 1e-6));
      }),
      { numRuns: 40 },
    );
  });

  it('consist of whole nodes that hold no pod twice', () => {
    const pods = [...plainPods('large', 7, '2500m', '2Gi'), ...plainPods('small', 20, '700m', '3Gi')];
    const demand = packingDemand(pods, TYPES);
    const { bins = [] } = patternPlan(demand) ?? {};
    const left = countsOf(demand);
    for (const { items, counts } of bins) items.forEach((item, at) => (left[item]! -= counts[at]!));
    expect(bins.length).toBeGreaterThan(0);
    expect([...left].every((count) => count >= 0)).toBe(true);
    expect(flawsOf(demand, { bins: [...bins], left })).toEqual([]);
  });

  it('are not made when more than resources restricts the pods, or there are too many kinds', () => {
    expect(patternPlan(packingDemand(apartPods('apart', 3, '1', '1Gi'), TYPES))).toBeUndefined();
    const many = Array.from({ length: 6 }, (_, at) => plainPods(`w${at}`, 1, `${at + 1}00m`, '1Gi')).flat();
    expect(patternPlan(packingDemand(many, TYPES))).toBeUndefined();
  });
});
