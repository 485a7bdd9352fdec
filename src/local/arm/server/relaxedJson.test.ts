import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRelaxedJson } from './relaxedJson.ts';

describe('relaxed JSON', () => {
  it.each([
    ['names without quotes', '{"a": 1, template: {"b": 2}}', { a: 1, template: { b: 2 } }],
    ['trailing commas', '{"a": [1, 2, ], }', { a: [1, 2] }],
    ['comments', '{ // one\n "a": "x // y", /* two\n */ "b": 1 /*,*/ }', { a: 'x // y', b: 1 }],
    ['a comma before a comment', '{"a": 1, // last\n}', { a: 1 }],
    ['texts that look like any of these', '{"a": "b: 1,]", c: "\\"d: "}', { a: 'b: 1,]', c: '"d: ' }],
  ])('accepts %s', (_, text, value) => {
    expect(parseRelaxedJson(text)).toEqual(value);
  });

  it('equals JSON.parse for valid JSON', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseRelaxedJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('keeps all values of relaxed JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(parseRelaxedJson(`{template: ${JSON.stringify(value)}, }`)).toEqual(
          JSON.parse(`{"template": ${JSON.stringify(value)}}`),
        );
      }),
    );
  });

  it.each(['{', '{"a" 1}', '[1 2]', 'no'])('refuses %s', (text) => {
    expect(() => parseRelaxedJson(text)).toThrow(SyntaxError);
  });
});
