import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyDefaults, prune } from './defaulting.ts';
import { fieldErrorText } from './fieldError.ts';
import { decodeJson, encodeJson, JsonFloat, settleNumbers } from './json.ts';
import { matchesPattern } from './pattern.ts';
import { unsupportedRules } from './rules.ts';
import { validateScale } from './scaleValidation.ts';
import type { StructuralSchema } from './structuralSchema.ts';
import { validate } from './validate.ts';

const object = (properties: Record<string, StructuralSchema>, extra: StructuralSchema = {}): StructuralSchema => ({
  type: 'object',
  properties,
  ...extra,
});
const errors = (schema: StructuralSchema, value: unknown, old?: unknown) =>
  validate(schema, value, old).map(fieldErrorText);
const rule = (text: string): StructuralSchema => ({ 'x-kubernetes-validations': [{ rule: text, message: 'no' }] });

describe('applyDefaults and prune', () => {
  it('fills nested defaults, also in place of nulls, and keeps what is given', () => {
    const schema = object({
      a: { ...object({ b: { type: 'integer', default: 1 } }), default: {} },
      n: { type: 'string', nullable: true, default: 'x' },
      l: { type: 'array', items: object({ c: { type: 'string', default: 'd' } }) },
    });
    expect(applyDefaults(schema, { n: null, l: [{}, { c: 'e' }] })).toEqual({
      a: { b: 1 },
      n: null,
      l: [{ c: 'd' }, { c: 'e' }],
    });
    expect(applyDefaults(schema, { a: null })).toEqual({ a: { b: 1 }, n: 'x' });
    expect(applyDefaults(schema, { a: { b: 2 }, n: 'y' })).toEqual({ a: { b: 2 }, n: 'y' });
  });

  it('drops unknown fields and forbidden nulls, but keeps free-form objects and type metadata', () => {
    const schema = object({
      spec: object({
        known: { type: 'string' },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        map: { type: 'object', additionalProperties: { type: 'string' } },
      }),
    });
    const value = {
      apiVersion: 'v1',
      metadata: { name: 'x', labels: null },
      other: 1,
      spec: { known: null, unknown: { a: 1 }, free: { a: { b: null } }, map: { k: null, l: 'm' } },
    };
    expect(prune(schema, value)).toEqual({
      apiVersion: 'v1',
      metadata: { name: 'x', labels: null },
      spec: { free: { a: { b: null } }, map: { l: 'm' } },
    });
  });

  it('does not touch its argument', () => {
    const value = Object.freeze({ spec: Object.freeze({ x: 1 }) });
    prune(object({}), applyDefaults(object({ y: { type: 'string', default: 'z' } }), value));
    expect(value).toEqual({ spec: { x: 1 } });
  });
});

describe('validate', () => {
  it.each<[StructuralSchema, unknown, string[]]>([
    [{ type: 'string' }, 5, ['x: Invalid value: "integer": x in body must be of type string: "integer"']],
    [{ type: 'string', minLength: 2 }, 'a', ['x: Invalid value: "a": x in body should be at least 2 chars long']],
    [{ type: 'string', maxLength: 1 }, 'äb', ['x: Too long: may not be more than 1 byte']],
    [{ type: 'string', pattern: '^a$' }, 'b', ['x: Invalid value: "b": x in body should match \'^a$\'']],
    [{ type: 'string', enum: ['a', 'b'] }, 'c', ['x: Unsupported value: "c": supported values: "a", "b"']],
    [
      { type: 'string', format: 'date-time' },
      'now',
      ['x: Invalid value: "now": x in body must be of type date-time: "now"'],
    ],
    [{ type: 'integer', minimum: 1 }, 0, ['x: Invalid value: 0: x in body should be greater than or equal to 1']],
    [
      { type: 'integer', maximum: 3, exclusiveMaximum: true },
      3,
      ['x: Invalid value: 3: x in body should be less than 3'],
    ],
    [{ type: 'array', maxItems: 1 }, [1, 2], ['x: Too many: 2: must have at most 1 item']],
    [{ type: 'array', 'x-kubernetes-list-type': 'set' }, ['a', 'a', 'a'], ['x[1]: Duplicate value: "a"']],
    [
      { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] },
      [{ k: 'a' }, { k: 'b' }, { k: 'a', v: 1 }],
      ['x[2]: Duplicate value: {"k":"a"}'],
    ],
    [object({}, { required: ['y'] }), {}, ['x.y: Required value']],
    [{ type: 'string', nullable: true }, null, []],
    [{ 'x-kubernetes-int-or-string': true }, '5%', []],
    [{ 'x-kubernetes-int-or-string': true }, new JsonFloat(5), []],
    [{ type: 'integer' }, new JsonFloat(5), []],
  ])('judges %j with %j', (schema, value, expected) => {
    const found = errors(object({ x: schema }), { x: value });
    expect(found.filter((text) => !text.includes('some validation rules were not checked'))).toEqual(expected);
  });

  it('does not run rules on an object whose shape is wrong', () => {
    const schema = object({ a: { type: 'integer', ...rule('self > 1') }, b: { type: 'string' } });
    expect(errors(schema, { a: 1, b: 2 }).join('\n')).toContain('some validation rules were not checked');
    expect(errors(schema, { a: 1, b: 'x' })).toEqual(['a: Invalid value: 1: no']);
  });

  it('keeps int32 and int64 apart, exactly', () => {
    const schema = (format: string) => object({ x: { type: 'integer', format } });
    expect(errors(schema('int32'), { x: 2 ** 31 })).toHaveLength(1);
    expect(errors(schema('int32'), { x: 2 ** 31 - 1 })).toEqual([]);
    expect(errors(schema('int64'), decodeJson('{"x":9223372036854775807}'))).toEqual([]);
    expect(errors(schema('int64'), decodeJson('{"x":9223372036854775808}')).length).toBeGreaterThan(0);
  });
});

describe('rules', () => {
  const evaluate = (schema: StructuralSchema, value: unknown, old?: unknown) => errors(schema, value, old).length === 0;

  it.each<[string, StructuralSchema, unknown, boolean]>([
    ['self.a + 1 == 2', object({ a: { type: 'integer' } }), { a: 1 }, true],
    ['self.a > 0.5', object({ a: { type: 'number' } }), { a: 1 }, true],
    ["has(self.b) || self.a == 'x'", object({ a: { type: 'string' }, b: { type: 'string' } }), { a: 'x' }, true],
    ['int(self.a) == 5', object({ a: { type: 'string' } }), { a: '5' }, true],
    ['int(self.a) == 0', object({ a: { type: 'string' } }), { a: '' }, false],
    ["self.a.matches('(?i)^AB$')", object({ a: { type: 'string' } }), { a: 'ab' }, true],
    ["self.a.find('[0-9]+') == '12'", object({ a: { type: 'string' } }), { a: 'x12y3' }, true],
    ["self.a__dash__b == 'x'", object({ 'a-b': { type: 'string' } }), { 'a-b': 'x' }, true],
    ["self.__namespace__ == 'x'", object({ namespace: { type: 'string' } }), { namespace: 'x' }, true],
    ["self.all(k, self[k] != '')", { type: 'object', additionalProperties: { type: 'string' } }, { a: '' }, false],
    [
      "'nodes' in self",
      { type: 'object', additionalProperties: { 'x-kubernetes-int-or-string': true } },
      { nodes: new JsonFloat(2) },
      false,
    ],
    [
      "'nodes' in self",
      { type: 'object', additionalProperties: { 'x-kubernetes-int-or-string': true } },
      { nodes: 2 },
      true,
    ],
    ["'constructor' in self", { type: 'object', additionalProperties: { type: 'string' } }, {}, false],
    ["quantity(self.a).isLessThan(quantity('1Gi'))", object({ a: { type: 'string' } }), { a: '512Mi' }, true],
    [
      "self.a < timestamp('2026-01-01T00:00:00Z')",
      object({ a: { type: 'string', format: 'date-time' } }),
      { a: '2025-01-01T00:00:00Z' },
      true,
    ],
    ['self.a.sum > 0', object({ a: { type: 'integer' } }), { a: 1 }, false],
  ])('%s', (text, schema, value, expected) => {
    expect(evaluate({ ...schema, ...rule(text) }, value)).toBe(expected);
  });

  it('runs transition rules on updates only, along list maps', () => {
    const item = object({ k: { type: 'string' }, v: { type: 'integer', ...rule('self >= oldSelf') } });
    const schema = object({
      l: { type: 'array', items: item, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] },
    });
    const list = (...values: [string, number][]) => ({ l: values.map(([k, v]) => ({ k, v })) });
    expect(errors(schema, list(['a', 1]))).toEqual([]);
    expect(errors(schema, list(['b', 1], ['a', 4]), list(['a', 5]))).toEqual(['l[1].v: Invalid value: 4: no']);
    expect(errors(schema, list(['a', 6]), list(['a', 5]))).toEqual([]);
  });

  it('forgives on update what was invalid before and has not changed', () => {
    const schema = object({
      a: { type: 'string', pattern: '^x$' },
      b: object({ c: { type: 'integer' } }, rule('self.c > 5')),
      d: { type: 'string' },
    });
    const old = { a: 'bad', b: { c: 1 }, d: '1' };
    expect(errors(schema, { ...old, d: '2' }, old)).toEqual([]);
    expect(errors(schema, { ...old, a: 'worse' }, old)).toHaveLength(1);
    expect(errors(schema, { ...old, b: { c: 2 } }, old)).toEqual(['b: Invalid value: no']);
  });

  it.each<[string, string]>([
    ["'at most ' + string(self.most) + ', not ' + string(self.count)", 'at most 3, not 5'],
    ["self.most > 2 ? '  many  ' : 'few'", 'many'],
    // What cannot be made, says nothing or is no single line gives way to the fixed message.
    ["self.noSuchFunction() + 'x'", 'fixed'],
    ["string(self.most / (self.most - 3)) + 'x'", 'fixed'],
    ["'  '", 'fixed'],
    ["'a\\nb'", 'fixed'],
    ['self.most', 'fixed'],
  ])('lets an expression say what is wrong: %s', (messageExpression, said) => {
    const broken = { rule: 'self.count <= self.most', message: 'fixed', messageExpression };
    const schema = object({ count: { type: 'integer' }, most: { type: 'integer' } });
    const value = { count: 5, most: 3 };
    const found = errors({ ...schema, 'x-kubernetes-validations': [broken] }, value);
    expect(found).toEqual([`<nil>: Invalid value: ${said}`]);
  });

  it('says which rules it cannot evaluate', () => {
    const schema = object({ a: { type: 'string', ...rule('self.noSuchFunction()') }, b: rule('self == 1') });
    expect(unsupportedRules(schema)).toMatchObject([{ path: 'a', rule: 'self.noSuchFunction()' }]);
  });
});

describe('JSON', () => {
  it('tells 10.0 from 10 and keeps 64-bit integers', () => {
    expect(decodeJson('{"a":10,"b":10.0,"c":1.5,"d":9007199254740993,"e":"10.0","f":1e2}')).toEqual({
      a: 10,
      b: new JsonFloat(10),
      c: 1.5,
      d: 9_007_199_254_740_993n,
      e: '10.0',
      f: new JsonFloat(100),
    });
    expect(encodeJson({ a: new JsonFloat(10), b: 9_007_199_254_740_993n })).toBe('{"a":10,"b":9007199254740993}');
    expect(settleNumbers({ a: [new JsonFloat(3)] })).toEqual({ a: [3] });
  });

  it('agrees with JSON.parse on everything else', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), fc.string({ unit: 'binary' }), (text, extra) => {
        const both = `[${text},${JSON.stringify(extra)},${JSON.stringify(`\u0000#${extra}`)},1.0]`;
        const plain = (JSON.parse(both) as unknown[]).slice(1, 3);
        expect((decodeJson(both) as unknown[]).slice(1, 3)).toEqual(plain);
      }),
      { numRuns: 200 },
    );
  });
});

describe('matchesPattern', () => {
  it.each([
    ['(?i)^ab$', 'AB', true],
    ['^\\s$', '\u00a0', false],
    ['^[[:alpha:]]+$', 'abC', true],
    ['^[]a]$', ']', true],
    ['^a{,2}$', 'a{,2}', true],
    ['^\\_\\-[\\w\\-.]$', '_-.', true],
    ['\\Qa.b\\E', 'axb', false],
    ['^.$', '😀', true],
  ])('%s on %s', (pattern, text, expected) => {
    expect(matchesPattern(pattern, text)).toBe(expected);
  });

  it.each(['(?=a)', '(?<!a)b', '(a)\\1', '\\'])('refuses %s as RE2 does', (pattern) => {
    expect(() => matchesPattern(pattern, '')).toThrow(SyntaxError);
  });
});

describe('validateScale', () => {
  const paths = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.nodes' };
  it.each([
    [{}, 0],
    [{ spec: { replicas: 3 }, status: { nodes: 0 } }, 0],
    [{ spec: { replicas: new JsonFloat(3) } }, 1],
    [{ spec: { replicas: 2 ** 31 } }, 1],
    [{ status: { nodes: -1 } }, 1],
    [{ spec: { replicas: -1 }, status: { nodes: 'x' } }, 2],
  ])('%j', (value, count) => {
    expect(validateScale(paths, value)).toHaveLength(count);
  });
});
