import { describe, expect, it } from 'vitest';
import { applyJsonPatch, PatchFailed } from './jsonPatch.ts';
import { applyMergePatch } from './patchObject.ts';

describe('JSON patch', () => {
  it.each([
    ['add a member', { a: 1 }, [{ op: 'add', path: '/b', value: 2 }], { a: 1, b: 2 }],
    ['add into a list', { a: [1, 3] }, [{ op: 'add', path: '/a/1', value: 2 }], { a: [1, 2, 3] }],
    ['append to a list', { a: [1] }, [{ op: 'add', path: '/a/-', value: 2 }], { a: [1, 2] }],
    ['replace', { a: { b: 1 } }, [{ op: 'replace', path: '/a/b', value: 2 }], { a: { b: 2 } }],
    ['remove from a list', { a: [1, 2] }, [{ op: 'remove', path: '/a/0' }], { a: [2] }],
    ['escaped names', { 'x/y': { 'm~n': 1 } }, [{ op: 'remove', path: '/x~1y/m~0n' }], { 'x/y': {} }],
    ['move', { a: 1 }, [{ op: 'move', from: '/a', path: '/b' }], { b: 1 }],
    ['copy', { a: [1] }, [{ op: 'copy', from: '/a', path: '/b' }], { a: [1], b: [1] }],
    ['successful test', { a: { b: [1] } }, [{ op: 'test', path: '/a', value: { b: [1] } }], { a: { b: [1] } }],
    ['replace a missing member, like upstream', {}, [{ op: 'replace', path: '/a', value: 1 }], { a: 1 }],
    ['the whole document', { a: 1 }, [{ op: 'replace', path: '', value: { z: 1 } }], { z: 1 }],
  ])('%s', (_name, document, operations, expected) => {
    expect(applyJsonPatch(document, operations)).toEqual(expected);
  });

  it.each([
    ['a failed test', { a: 1 }, [{ op: 'test', path: '/a', value: 2 }]],
    ['removing a missing member', {}, [{ op: 'remove', path: '/a' }]],
    ['an unknown operation', {}, [{ op: 'frobnicate', path: '/a' }]],
    ['adding to a missing object', {}, [{ op: 'add', path: '/a/b', value: 1 }]],
    ['an index beyond the list', { a: [] }, [{ op: 'add', path: '/a/5', value: 1 }]],
  ])('fails: %s', (_name, document, operations) => {
    expect(() => applyJsonPatch(document, operations)).toThrow(PatchFailed);
  });

  it('that is not a list is a bad request', () => {
    expect(() => applyJsonPatch({}, {})).toThrow('error decoding patch');
  });
});

describe('merge patch', () => {
  it('merges objects, replaces lists, and removes members with null', () => {
    const live = { a: { b: 1, c: [1, 2] }, d: 1 };
    expect(applyMergePatch(live, { a: { b: null, c: [3], e: { f: 1, g: null } } })).toEqual({
      a: { c: [3], e: { f: 1 } },
      d: 1,
    });
  });
});
