import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Random } from './random.ts';
import { SeededRandom } from './seededRandom.ts';
import { systemRandom } from './systemRandom.ts';

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const draw = (random: Random, count: number): number[] => Array.from({ length: count }, () => random.next());

describe.each([
  ['systemRandom', systemRandom],
  ['SeededRandom', new SeededRandom('any')],
])('%s', (_name, random) => {
  it('draws from [0, 1), spread over the whole interval', () => {
    const numbers = draw(random, 20_000);
    expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
    const tenths = Array.from({ length: 10 }, (_, tenth) => numbers.filter((n) => Math.floor(n * 10) === tenth).length);
    expect(Math.min(...tenths)).toBeGreaterThan(1_700);
  });

  it('makes version 4 UUIDs that differ', () => {
    const uuids = Array.from({ length: 1_000 }, () => random.uuid());
    expect(uuids.every((uuid) => UUID_V4.test(uuid))).toBe(true);
    expect(new Set(uuids).size).toBe(1_000);
  });
});

describe('SeededRandom', () => {
  it('property: replays from its seed, and differs between seeds', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer(), (one, other) => {
        expect(draw(new SeededRandom(one), 5)).toEqual(draw(new SeededRandom(one), 5));
        expect(new SeededRandom(one).uuid()).toBe(new SeededRandom(String(one)).uuid());
        fc.pre(one !== other);
        expect(draw(new SeededRandom(one), 5)).not.toEqual(draw(new SeededRandom(other), 5));
      }),
    );
  });

  it('gives the same numbers on every machine', () => {
    expect(draw(new SeededRandom(42), 3).map((number) => number.toFixed(6))).toMatchInlineSnapshot(`
      [
        "0.676203",
        "0.409698",
        "0.101069",
      ]
    `);
  });
});
