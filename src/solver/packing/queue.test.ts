import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Rows } from '../rows.ts';
import type { Demand } from './demand.ts';
import { nextFitting, queueOf } from './queue.ts';

const asked = fc.array(fc.tuple(fc.nat(40), fc.nat(40), fc.nat(2), fc.nat(2)), { minLength: 1, maxLength: 70 });
const opening = fc.record({
  cpu: fc.nat(40),
  memory: fc.nat(40),
  forCpu: fc.boolean(),
  cpuRoom: fc.integer({ min: 1, max: 40 }),
  memoryRoom: fc.integer({ min: 1, max: 40 }),
});

describe('a queue of items', () => {
  it('returns the next item with pods left that fits, the same as a search through all of them', () => {
    fc.assert(
      fc.property(asked, opening, fc.nat(70), (amounts, node, from) => {
        const rows = new Rows(3, Float64Array.from(amounts.flatMap(([cpu, memory]) => [cpu, memory, 1])));
        const items = Int32Array.from(amounts.keys()).reverse();
        const left = Int32Array.from(amounts, ([, , count]) => count);
        const taken = Int32Array.from(amounts, ([, , , count]) => count);
        const isNext = (item: number, place: number): boolean => {
          const [cpu = 0, memory = 0, waiting = 0, used = 0] = amounts[item] ?? [];
          const fits = cpu <= node.cpu && memory <= node.memory && waiting > used;
          return place >= from && fits && cpu * node.memoryRoom >= memory * node.cpuRoom === node.forCpu;
        };
        const found = items.findIndex(isNext);
        const expected = found < 0 ? Math.max(from, items.length) : found;
        const queue = queueOf(items, { rows } as Demand);
        expect(Math.max(from, nextFitting(queue, from, node, left, taken))).toBe(expected);
      }),
      { numRuns: 500 },
    );
  });
});
