import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { locator, parseYaml, YamlSyntaxError } from './parseYaml.ts';

describe('parseYaml', () => {
  // What `kubectl label --local -o json` prints for the same text.
  it.each([
    ['[N, y, No, off, On, yes]', [false, true, false, false, true, true]],
    ['[0644, 0o17, 0b11, 0x1F, 1_000, +5, -07]', [420, 15, 3, 31, 1000, 5, -7]],
    ['[1e3, 1e+3, .5, 1.]', [1000, 1000, 0.5, 1]],
    ['[1:30, 2001-12-14, "N", \'0644\', 08]', ['1:30', '2001-12-14', 'N', '0644', 8]],
    ['[~, Null, null, ]', [null, null, null]],
    ['{ on: 1, 8080: 2 }', { true: 1, 8080: 2 }],
    ['a: &x { b: 1 }\nc: { <<: *x, d: 2 }', { a: { b: 1 }, c: { b: 1, d: 2 } }],
  ])('reads %s as kubectl does', (text, value) => {
    expect(parseYaml(text)).toEqual(value);
  });

  it.each(['a: [1', 'a: b: c', 'a: 1\na: 2', 'a: *nope', '"x'])('refuses %j', (text) => {
    expect(() => parseYaml(text)).toThrow(YamlSyntaxError);
  });

  it('reads JSON as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        expect(parseYaml(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

describe('locator', () => {
  const text = 'spec:\n  containers:\n    - name: a\n    - name: b\n      ports: [{ containerPort: 80 }]\n  empty:\n';
  const lineOf = (path: (string | number)[]): number | undefined => {
    const offset = locator(text)(path);
    return offset === undefined ? undefined : text.slice(0, offset).split('\n').length;
  };

  it('finds the line of a field', () => {
    expect(lineOf(['spec', 'containers', 1])).toBe(4);
    expect(lineOf(['spec', 'containers', '1', 'ports', 0, 'containerPort'])).toBe(5);
    expect(lineOf(['spec', 'missing'])).toBeUndefined();
  });
});
