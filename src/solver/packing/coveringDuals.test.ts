import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Rows } from '../rows.ts';
import { coveringDuals } from './coveringDuals.ts';

const covering = fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 12 })).chain(([resources, types]) =>
  fc.record({
    demand: fc.array(fc.nat(1000), { minLength: resources, maxLength: resources }),
    supply: fc.array(fc.array(fc.nat(64), { minLength: resources, maxLength: resources }), {
      minLength: types,
      maxLength: types,
    }),
    price: fc.array(fc.integer({ min: 1, max: 500 }), { minLength: types, maxLength: types }),
  }),
);

describe('dual prices of a covering', () => {
  it('value no type above its price, and give the price of a covering purchase as the bound', () => {
    fc.assert(
      fc.property(covering, ({ demand, supply, price }) => {
        const { duals, bound, purchase } = coveringDuals({
          demand: Float64Array.from(demand),
          supply: new Rows(demand.length, Float64Array.from(supply.flat())),
          price: Float64Array.from(price),
        });
        const isCoverable = demand.every((need, at) => need === 0 || supply.some((type) => (type[at] ?? 0) > 0));
        for (const [type, own] of supply.entries()) {
          const worth = own.reduce((sum, amount, at) => sum + amount * (duals[at] ?? 0), 0);
          expect(worth).toBeLessThanOrEqual((price[type] ?? 0) * (1 + 1e-9));
        }
        if (!isCoverable) return;
        const cost = price.reduce((sum, each, type) => sum + each * (purchase[type] ?? 0), 0);
        expect(Math.abs(bound - cost)).toBeLessThanOrEqual(1e-8 * cost);
        for (const [at, need] of demand.entries()) {
          const bought = supply.reduce((sum, type, index) => sum + (type[at] ?? 0) * (purchase[index] ?? 0), 0);
          expect(bought).toBeGreaterThanOrEqual(need * (1 - 1e-8));
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('give no bound when a resource cannot be bought', () => {
    const { bound } = coveringDuals({
      demand: Float64Array.of(1, 1),
      supply: new Rows(2, Float64Array.of(4, 0)),
      price: Float64Array.of(1),
    });
    expect(bound).toBe(0);
  });
});
