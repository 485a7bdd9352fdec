import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linearMatcher } from './linearMatcher.ts';
import { matchesPattern } from './pattern.ts';

const atom = fc.constantFrom(
  'a',
  'b',
  '.',
  '[ab]',
  '[^a\\]]',
  '\\d',
  '\\w',
  '^',
  '$',
  '\\b',
  '\\B',
  '\\u{62}',
  '\\x61',
);
const quantifier = fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,}', '{0,2}', '*?');
const isAssertion = (text: string): boolean => ['^', '$', '\\b', '\\B'].includes(text);
const { expression } = fc.letrec<{ expression: string; group: string }>((tie) => ({
  group: fc
    .tuple(
      fc.oneof(
        { depthSize: 'small' },
        atom,
        tie('expression').map((inner) => `(?:${inner})`),
      ),
      quantifier,
    )
    .map(([text, sign]) => (isAssertion(text) ? text : text + sign)),
  expression: fc
    .array(fc.array(tie('group'), { maxLength: 3 }), { minLength: 1, maxLength: 3 })
    .map((choices) => choices.map((parts) => parts.join('')).join('|')),
}));

describe('linearMatcher', () => {
  it('agrees with the native engine', () => {
    const texts = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '1', ' ', '\n'), maxLength: 8 }), {
      minLength: 3,
    });
    fc.assert(
      fc.property(expression, fc.constantFrom('u', 'iu', 'mu', 'su'), texts, (source, flags, all) => {
        const native = new RegExp(source, flags);
        const matches = linearMatcher(native);
        for (const text of all) expect([source, text, matches(text)]).toEqual([source, text, native.test(text)]);
      }),
      { numRuns: 500 },
    );
  });

  it.each(['(a+)+$', '^(a|a)*$', '(a|aa)+$', '^(a*)*b$', '(.*)(.*)(.*)(.*)(.*)x$'])(
    'is done with %s and a long text at once',
    (pattern) => {
      expect(matchesPattern(pattern, `${'a'.repeat(20_000)}!`)).toBe(false);
      expect(matchesPattern(pattern.replace('$', ''), `${'a'.repeat(20_000)}bx`)).toBe(true);
    },
  );

  it('refuses an expression that would have too many states, as RE2 does', () => {
    expect(() => matchesPattern('((a{100}){100}){100}', 'a')).toThrow('expression too large');
  });
});
