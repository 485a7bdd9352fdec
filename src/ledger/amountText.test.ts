import fc from 'fast-check';
import { expect, it } from 'vitest';
import { amountOf } from '../solver/amount.ts';
import { Quantity } from '../units/quantity.ts';
import { amountText, quantityText } from './amountText.ts';

it.each([
  ['cpu', 300, '300m cpu'],
  ['cpu', 2000, '2 cpu'],
  ['cpu', 1_996_140, '1996.14 cpu'],
  ['memory', 8_758_545_613, '8.2Gi memory'],
  ['memory', 2 ** 30, '1Gi memory'],
  ['memory', 700, '700 memory'],
  ['ephemeral-storage', 2 ** 41 + 1, '2.1Ti ephemeral-storage'],
  ['nvidia.com/gpu', 1, '1 nvidia.com/gpu'],
  ['pods', 5000, '5000 pods'],
])('prints %s %d as people write it', (resource, units, text) => {
  expect(amountText(amountOf(resource, units))).toBe(text);
});

it('prints no less than the amount, and at most a tenth more', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 45 }), (bytes) => {
      const read = Quantity.parse(quantityText('memory', String(bytes))).value();
      expect(read).toBeGreaterThanOrEqual(bytes);
      expect(read).toBeLessThanOrEqual(bytes * 1.1 + 1);
    }),
  );
});
