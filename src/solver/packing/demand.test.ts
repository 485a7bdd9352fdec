import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { orderByValue } from './demand.ts';

describe('items by value', () => {
  it('are sorted the same way for few and many: the most valuable first, ties by number', () => {
    const values = fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 90 });
    fc.assert(
      fc.property(values, (worths) => {
        const value = Float64Array.from(worths);
        const worthOf = (item: number): number => worths[item] ?? 0;
        const expected = [...worths.keys()].sort((left, right) => worthOf(right) - worthOf(left) || left - right);
        expect([...orderByValue([...worths.keys()].reverse(), value)]).toEqual(expected);
      }),
    );
  });
});
