import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packingDemand, plainPods } from '../../../test/fixtures/solver/packingDemand.ts';
import { testType } from '../../../test/fixtures/solver/testObjects.ts';

const shapes = fc.array(
  fc.tuple(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 30 })),
  { minLength: 1, maxLength: 20 },
);

const choiceOf = (sizes: readonly (readonly [number, number, number])[], limits?: Record<string, string>) =>
  packingDemand(
    plainPods('tiny', 1, '1m', '1Mi'),
    sizes.map(([cpu, memory, price], at) => testType(`t${at}`, cpu, memory, price)),
    { maxPodsPerNode: 6 },
    limits,
  ).choice;

describe('the choice of an instance type', () => {
  it('is the cheapest that holds the load, within the limits and the most pods per node', () => {
    const load = fc.tuple(fc.nat(80), fc.nat(80), fc.nat(7));
    fc.assert(
      fc.property(shapes, load, fc.integer({ min: 1, max: 9 }), (sizes, [cpu, memory, pods], limit) => {
        const choice = choiceOf(sizes, { cpu: '9' });
        const { price, types } = choice.states.at(0);
        const used = new Float64Array(choice.columns);
        used.set([cpu * 100, memory * 2 ** 27, pods]);
        const left = Float64Array.of(limit * 1000);
        const holding = [...types].filter((type) => pods <= 6 && choice.fits(type, used));
        const within = holding.filter(
          (type) => (sizes[Number(choice.pool.types[type]?.name.slice(1))]?.[0] ?? 9) <= limit,
        );
        const least = Math.min(...within.map((type) => price[type] ?? 0));
        const found = choice.cheapestHolding(0, used, [], left);
        expect(found < 0 ? Number.POSITIVE_INFINITY : price[found]).toBe(least);
        expect(found < 0 || within.includes(found)).toBe(true);
        expect(choice.holdsSomehow(0, used, [])).toBe(holding.length > 0);
        expect(holding.length === 0 || choice.mayHold(0, used)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('counts how often the largest type within the limits holds a pod', () => {
    const choice = choiceOf([
      [2, 8, 1],
      [8, 8, 4],
    ]);
    const row = new Float64Array(choice.columns);
    row.set([1000, 2 ** 30, 1]);
    expect(choice.mostHeld(0, row, undefined)).toBe(7);
    const limited = choiceOf(
      [
        [2, 8, 1],
        [8, 8, 4],
      ],
      { cpu: '4' },
    );
    expect(limited.mostHeld(0, row, Float64Array.of(4000))).toBe(1);
    expect(limited.limitNeed(0, 0, row, [], Float64Array.of(4000))).toEqual(Float64Array.of(2000));
  });
});
