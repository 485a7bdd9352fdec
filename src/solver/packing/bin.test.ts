import { describe, expect, it } from 'vitest';
import { planCost, repeats, type Bin } from './bin.ts';

const bin = (price: number, items: readonly number[], counts: readonly number[]): Bin => ({
  state: 0,
  type: 0,
  price,
  items,
  counts,
  used: new Float64Array(3),
  limitNeed: new Float64Array(0),
  reservation: -1,
});

describe('a bin', () => {
  it('is bought again until the first of its items runs out', () => {
    const mixed = bin(0.2, [2, 0], [3, 1]);
    expect(repeats(mixed, Int32Array.of(5, 0, 9))).toBe(3);
    expect(repeats(mixed, Int32Array.of(2, 0, 9))).toBe(2);
    expect(repeats(mixed, Int32Array.of(5, 0, 2))).toBe(0);
  });

  it('costs its price and what each node costs besides', () => {
    const bins = [bin(0.25, [0], [1]), bin(0.5, [1], [4])];
    expect(planCost({ bins, left: new Int32Array(2) }, 0)).toBe(0.75);
    expect(planCost({ bins, left: new Int32Array(2) }, 0.125)).toBe(1);
    expect(planCost({ bins: [], left: new Int32Array(2) }, 0.125)).toBe(0);
  });
});
