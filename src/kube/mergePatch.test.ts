import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergePatch } from './mergePatch.ts';

type Json = Record<string, unknown>;

/** RFC 7386, section 2: the receiving side of the patches. */
function apply(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const object = typeof target === 'object' && target !== null && !Array.isArray(target) ? target : {};
  const result = new Map(Object.entries(object));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else result.set(key, apply(result.get(key), value));
  }
  return Object.fromEntries(result);
}

const { object: document } = fc.letrec<{ value: unknown; object: Json }>((tie) => ({
  // Few keys and values, so that two documents have much in common.
  object: fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__'), tie('value'), {
    maxKeys: 4,
  }) as fc.Arbitrary<Json>,
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'medium' },
    fc.constantFrom<unknown>(0, 1, '', 'x', true, false),
    fc.array(fc.oneof(fc.constantFrom<unknown>(1, 2, null), tie('object')), { maxLength: 3 }),
    tie('object'),
  ),
}));

describe('mergePatch', () => {
  it('property: applied to what was, it gives what is wanted', () => {
    fc.assert(
      fc.property(document, document, (before, after) => {
        expect(apply(before, mergePatch(before, after) ?? {})).toEqual(after);
      }),
      { numRuns: 500 },
    );
  });

  it('property: is nothing exactly when nothing differs', () => {
    fc.assert(
      fc.property(document, document, (before, after) => {
        expect(mergePatch(before, structuredClone(before))).toBeUndefined();
        const equal = JSON.stringify(sorted(before)) === JSON.stringify(sorted(after));
        expect(mergePatch(before, after) === undefined).toBe(equal);
      }),
      { numRuns: 500 },
    );
  });

  it('property: holds only what differs', () => {
    fc.assert(
      fc.property(document, document, (before, after) => {
        const old = new Map(Object.entries(before));
        const wanted = new Map(Object.entries(after));
        for (const key of Object.keys(mergePatch(before, after) ?? {})) {
          expect(JSON.stringify([sorted(old.get(key))])).not.toBe(JSON.stringify([sorted(wanted.get(key))]));
        }
      }),
      { numRuns: 300 },
    );
  });

  it('sets, removes and goes deep; takes lists whole; takes null and undefined for absent', () => {
    expect(
      mergePatch(
        { same: 1, gone: 1, deep: { stays: 1, goes: 2 }, list: [1, 2], was: null, sameList: [{ a: 1 }] },
        { same: 1, deep: { stays: 1, comes: 3 }, list: [1], gone: undefined, was: undefined, sameList: [{ a: 1 }] },
      ),
    ).toEqual({ gone: null, deep: { goes: null, comes: 3 }, list: [1] });
  });
});

/** Objects become lists of their fields in order, in a wrapping that keeps `{}` apart from `[]`. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return { fields: fields.map(([key, inner]) => ({ key, inner: sorted(inner) })) };
}
