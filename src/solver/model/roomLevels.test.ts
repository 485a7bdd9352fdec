import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { testPool, testType } from '../../../test/fixtures/solver/testObjects.ts';
import { Rows } from '../rows.ts';
import { compilePool } from './compiledPool.ts';
import { ResourceTable } from './resourceTable.ts';
import { RoomLevels } from './roomLevels.ts';

const poolOf = (shapes: readonly (readonly [number, number])[]) =>
  compilePool(
    {
      pool: testPool('default'),
      instanceTypes: shapes.map(([cpu, memory], at) => testType(`t${at}`, cpu, memory, 1)),
      used: {},
    },
    0,
    [],
    ResourceTable.of([]),
  );

describe('levels of a load', () => {
  it('are the same only for loads that the same types hold', () => {
    const load = fc.tuple(fc.integer({ min: 0, max: 9000 }), fc.integer({ min: 0, max: 36 }), fc.nat(9));
    const shapes = fc.array(fc.tuple(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 32 })), {
      minLength: 1,
      maxLength: 12,
    });
    fc.assert(
      fc.property(shapes, fc.array(load, { minLength: 2, maxLength: 30 }), (types, loads) => {
        const pool = poolOf(types);
        const levels = RoomLevels.of(pool);
        const room = new Rows(3, pool.room);
        const holdersOf = new Map<number | string, string>();
        for (const [cpu, memory, pods] of loads) {
          const row = Float64Array.of(cpu, memory * 2 ** 30, pods);
          const holders = pool.types.filter((_, type) => room.holds(type, row)).map(({ name }) => name);
          const level = levels.levelOf(row);
          expect(holdersOf.get(level) ?? holders.join()).toBe(holders.join());
          holdersOf.set(level, holders.join());
        }
      }),
    );
  });

  it('share one level between rooms of the types', () => {
    const levels = RoomLevels.of(poolOf([[2, 8]]));
    const level = (cpu: number): number | string => levels.levelOf(Float64Array.of(cpu, 0, 1));
    expect(level(100)).toBe(level(1900));
    expect(level(1901)).not.toBe(level(1900));
  });
});
