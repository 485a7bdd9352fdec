import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Quantity } from '../units/quantity.ts';
import { readableAmount } from './amount.ts';

describe('amounts', () => {
  it('are printed as people write them', () => {
    const shown = [
      readableAmount('cpu', 300),
      readableAmount('cpu', 2000),
      readableAmount('memory', 8_758_545_613),
      readableAmount('memory', 2 ** 30),
      readableAmount('memory', 700),
      readableAmount('ephemeral-storage', 2 ** 41 + 1),
      readableAmount('nvidia.com/gpu', 1),
    ];
    expect(shown).toEqual(['300m', '2', '8.2Gi', '1Gi', '700', '2.1Ti', '1']);
  });

  it('are never less than what they stand for, and hardly more', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 45 }), (bytes) => {
        const read = Quantity.parse(readableAmount('memory', bytes)).value();
        expect(read).toBeGreaterThanOrEqual(bytes);
        expect(read).toBeLessThanOrEqual(bytes * 1.1 + 1);
      }),
    );
  });
});
