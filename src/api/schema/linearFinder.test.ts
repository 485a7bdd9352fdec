import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linearFinder } from './linearFinder.ts';
import { findPattern } from './pattern.ts';

const quantifier = fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,}', '{0,2}', '*?', '+?', '??', '{1,3}?');
const atom = fc.tuple(fc.constantFrom('a', 'b', '.', '[ab]', '\\d', '\\w'), quantifier).map((both) => both.join(''));
const assertion = fc.constantFrom('^', '$', '\\b');
const { expression } = fc.letrec<{ expression: string; group: string }>((tie) => ({
  group: fc.oneof(
    { maxDepth: 2 },
    atom,
    assertion,
    tie('expression').map((inner) => `(?:${inner})`),
    // JavaScript and Go differ about rounds of a repetition that match nothing: these match at least a letter.
    fc.tuple(tie('expression'), quantifier).map(([inner, sign]) => `(?:a(?:${inner}))${sign}`),
  ),
  expression: fc
    .array(fc.array(tie('group'), { maxLength: 3 }), { minLength: 1, maxLength: 3 })
    .map((choices) => choices.map((parts) => parts.join('')).join('|')),
}));
const text = fc.string({ unit: fc.constantFrom('a', 'b', '1', ' ', '\n'), maxLength: 8 });

describe('linearFinder', () => {
  it('finds the first match of the native engine', () => {
    fc.assert(
      fc.property(
        expression,
        fc.constantFrom('u', 'iu', 'mu', 'su'),
        fc.array(text, { maxLength: 5 }),
        (source, flags, texts) => {
          const native = new RegExp(source, flags);
          const find = linearFinder(native);
          for (const each of texts) {
            expect([source, each, find(each, 1)[0]]).toEqual([source, each, native.exec(each)?.[0]]);
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it.each([
    ['a*', 'baaau', ['', 'aaa', '']],
    ['[0-9]+', 'x12y3', ['12', '3']],
    ['a+?', 'aaa', ['a', 'a', 'a']],
    ['(|a)+', 'aa', ['', '', '']],
    ['(|a)*', 'aa', ['', '', '']],
    ['a|ab', 'ab', ['a']],
    ['\\bfoo', 'foo xfoo foo', ['foo', 'foo']],
    ['.', '😀x', ['😀', 'x']],
    ['z', 'abc', []],
  ])('all of %s in %j, as Go finds them', (pattern, where, expected) => {
    expect(findPattern(pattern, where, Infinity)).toEqual(expected);
    expect(findPattern(pattern, where, 1)).toEqual(expected.slice(0, 1));
    expect(findPattern(pattern, where, 0)).toEqual([]);
  });

  it.each(['(a+)+$', '^(a|a)*$', '(a|aa)+$', '^(a*)*b$'])('is done with %s and a long text at once', (pattern) => {
    expect(findPattern(pattern, `${'a'.repeat(200)}!`, 1)).toEqual([]);
  });
});
