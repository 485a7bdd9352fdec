import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SortedKeys } from './sortedKeys.ts';

describe('SortedKeys', () => {
  it('property: returns every key once and in order after any additions and removals', () => {
    const key = fc.integer({ min: 0, max: 60 }).map((number) => `ns/${number}`);
    const step = fc.oneof(fc.record({ write: key }), fc.record({ read: fc.constant(true) }));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const keys = new SortedKeys();
        const there = new Set<string>();
        const check = (): void => {
          const sorted = keys.sorted();
          expect(sorted).toEqual([...new Set(sorted)].sort());
          expect(sorted.filter((each) => there.has(each))).toEqual([...there].sort());
        };
        for (const each of steps) {
          if ('read' in each) check();
          else if (there.delete(each.write)) keys.remove(each.write);
          else {
            there.add(each.write);
            keys.add(each.write);
          }
        }
        check();
      }),
      { numRuns: 100 },
    );
  });

  it('drops removed keys before they outnumber the others', () => {
    const keys = new SortedKeys();
    for (let index = 0; index < 1_000; index++) keys.add(`a/${index}`);
    keys.sorted();
    for (let index = 0; index < 990; index++) keys.remove(`a/${index}`);
    expect(keys.sorted()).toHaveLength(10);
  });
});
