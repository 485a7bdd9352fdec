import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sameJson, shareWith, StringPool } from './sharing.ts';

const json = fc.jsonValue({ maxDepth: 3 });
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;

describe('shareWith', () => {
  it('gives an equal value, and changes neither argument', () => {
    fc.assert(
      fc.property(json, json, (model, raw) => {
        const before = JSON.stringify([model, raw]);
        expect(JSON.stringify(plain(shareWith(model, raw)))).toBe(JSON.stringify(raw));
        expect(JSON.stringify([model, raw])).toBe(before);
      }),
      { numRuns: 300 },
    );
  });

  it('takes a key called __proto__ for a key', () => {
    const raw = JSON.parse('{"a":1,"__proto__":{"b":2}}') as unknown;
    expect(JSON.stringify(shareWith<unknown>({ a: 1 }, raw))).toBe('{"a":1,"__proto__":{"b":2}}');
  });

  it('returns the model itself when all is equal, and its parts when some are', () => {
    fc.assert(
      fc.property(fc.object(), json, (part, other) => {
        const model = { same: plain(part), other: 1 };
        expect(shareWith(model, plain(model))).toBe(model);
        const mixed = shareWith<unknown>(model, { same: plain(part), other: [other] }) as typeof model;
        expect(mixed.same).toBe(model.same);
        expect(shareWith<unknown>([model], [plain(model), 2])).toEqual([model, 2]);
      }),
      { numRuns: 100 },
    );
  });
});

describe('sameJson', () => {
  it('agrees with the canonical text', () => {
    const canonical = (value: unknown): string =>
      JSON.stringify(value, (_key, part: unknown) =>
        typeof part === 'object' && part !== null && !Array.isArray(part)
          ? Object.fromEntries(Object.entries(part).sort(([left], [right]) => (left < right ? -1 : 1)))
          : part,
      );
    const small = fc.jsonValue({ maxDepth: 2, stringUnit: fc.constantFrom('a', 'b') });
    fc.assert(
      fc.property(small, small, (left, right) => {
        expect(sameJson(left, plain(left))).toBe(true);
        expect(sameJson(left, right)).toBe(canonical(left) === canonical(right));
      }),
      { numRuns: 300 },
    );
  });

  it('sees missing keys on either side', () => {
    expect(sameJson({ a: 1 }, { a: 1, b: 2 })).toBe(false);
    expect(sameJson({ a: 1, b: 2 }, { a: 1 })).toBe(false);
    expect(sameJson({ a: 1, b: 2 }, { b: 2, a: 1 })).toBe(true);
    expect(sameJson([1], { 0: 1 })).toBe(false);
    expect(sameJson(null, {})).toBe(false);
    expect(sameJson({ a: undefined, b: 1 }, { b: 1 })).toBe(true);
    expect(sameJson({ b: 1 }, { a: undefined, b: 1 })).toBe(true);
    expect(sameJson({ a: undefined }, { b: 1 })).toBe(false);
  });
});

describe('StringPool', () => {
  it('stays correct beyond its limit', () => {
    const pool = new StringPool(8);
    for (let round = 0; round < 100; round++) expect(pool.intern(`text-${round % 13}`)).toBe(`text-${round % 13}`);
  });
});
