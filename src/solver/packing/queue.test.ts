import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CPU, MEMORY } from '../model/resourceTable.ts';
import { Rows } from '../rows.ts';
import type { Demand } from './demand.ts';
import { queueOf } from './queue.ts';

describe('a queue of items', () => {
  it('knows from every place on the least that is asked for', () => {
    const asked = fc.array(fc.tuple(fc.nat(4000), fc.nat(4000)), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(asked, (amounts) => {
        const rows = new Rows(3, Float64Array.from(amounts.flatMap(([cpu, memory]) => [cpu, memory, 1])));
        const items = Int32Array.from(amounts.keys()).reverse();
        const { leastCpu, leastMemory } = queueOf(items, { rows } as Demand);
        items.forEach((_, place) => {
          const rest = [...items.subarray(place)];
          expect(leastCpu[place]).toBe(Math.min(...rest.map((item) => rows.get(item, CPU))));
          expect(leastMemory[place]).toBe(Math.min(...rest.map((item) => rows.get(item, MEMORY))));
        });
      }),
    );
  });
});
