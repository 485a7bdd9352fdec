import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SortedValues } from './sortedValues.ts';

interface Value {
  readonly text: string;
}

it('returns the same array until a value changes', () => {
  const sorted = new SortedValues<Value>();
  const value = { text: 'a' };
  sorted.set('a', value);
  const before = sorted.values();
  sorted.set('a', value);
  sorted.delete('missing');
  expect(sorted.values()).toBe(before);
  sorted.set('a', { text: 'a' });
  expect(sorted.values()).not.toBe(before);
  expect(before).toEqual([{ text: 'a' }]);
});

it('equals a sorted map after few changes and after many', () => {
  const key = fc.stringMatching(/^[a-c]{1,3}$/);
  const change = fc.tuple(key, fc.option(fc.nat({ max: 3 }), { nil: undefined }));
  const batches = fc.array(fc.array(change, { maxLength: 60 }), { maxLength: 6 });
  fc.assert(
    fc.property(batches, (all) => {
      const sorted = new SortedValues<Value>();
      const expected = new Map<string, Value>();
      for (const batch of all) {
        for (const [name, number] of batch) {
          if (number === undefined) {
            sorted.delete(name);
            expected.delete(name);
          } else {
            const value = { text: `${name}${number}` };
            sorted.set(name, value);
            expected.set(name, value);
          }
        }
        const before = sorted.values();
        const copy = [...before];
        const keys = [...expected.keys()].sort();
        expect(before).toEqual(keys.map((name) => expected.get(name)));
        sorted.set('d', { text: 'd' });
        sorted.values();
        expect(before).toEqual(copy);
        sorted.delete('d');
      }
    }),
  );
});
