import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { testPool, testType } from '../../../test/fixtures/solver/testObjects.ts';
import { compilePool } from '../model/compiledPool.ts';
import { ResourceTable } from '../model/resourceTable.ts';
import { StateTable } from '../model/stateTable.ts';
import { candidateTypes, undominated } from './candidates.ts';
import { TypeChoice } from './typeChoice.ts';

const types = fc.array(
  fc.tuple(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 30 })),
  { minLength: 1, maxLength: 30 },
);

function choiceOf(shapes: readonly (readonly [number, number, number])[]): TypeChoice {
  const table = ResourceTable.of([]);
  const instanceTypes = shapes.map(([cpu, memory, price], at) => testType(`t${at}`, cpu, memory, price));
  const pool = compilePool({ pool: testPool('default'), instanceTypes, used: {} }, 0, [], table);
  const options = { nodeOverheadCost: 0, maxPodsPerNode: Number.POSITIVE_INFINITY, strictMinValues: true };
  return new TypeChoice(pool, StateTable.of([pool]), table.size, options);
}

describe('types worth filling', () => {
  it('exclude exactly the types with a cheaper substitute', () => {
    fc.assert(
      fc.property(types, (shapes) => {
        const choice = choiceOf(shapes);
        const kept = undominated(choice, 0);
        const { price } = choice.states.at(0);
        const standsIn = (better: number, worse: number): boolean =>
          choice.room.holds(better, choice.room.row(worse)) && (price[better] ?? 0) <= (price[worse] ?? 0);
        for (const type of choice.pool.types.keys()) {
          expect(kept.includes(type) || kept.some((other) => standsIn(other, type))).toBe(true);
        }
        const beaten = kept.filter((type) =>
          kept.some((other) => (price[other] ?? 0) < (price[type] ?? 0) && standsIn(other, type)),
        );
        expect(beaten).toEqual([]);
      }),
    );
  });

  it('are sorted by value per price', () => {
    const choice = choiceOf([
      [2, 4, 4],
      [4, 8, 6],
      [8, 4, 20],
    ]);
    const [best] = candidateTypes(choice, 0, Float64Array.of(1, 0, 0), 0);
    expect(choice.pool.types[best ?? -1]?.name).toBe('t1');
  });
});
