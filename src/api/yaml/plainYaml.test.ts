import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseYamlDocuments } from './parseYaml.ts';
import { NOT_PLAIN, parsePlainYaml } from './plainYaml.ts';
import { printYaml } from './printYaml.ts';

const KUBECTL = `apiVersion: v1
items:
- apiVersion: v1
  kind: Pod
  metadata:
    annotations:
      kubectl.kubernetes.io/last-applied-configuration: |
        {"apiVersion":"v1","kind":"Pod"}
    creationTimestamp: "2026-01-02T03:04:05Z"
    name: web-5f6d-x
    uid: 5f0e12ab-77aa-4bcd-8e0f-0123456789ab
  spec:
    containers:
    - args:
      - --port=8080
      - -v
      image: registry.k8s.io/pause:3.10
      name: main
      resources:
        requests:
          cpu: 100m
          memory: 1Gi
      securityContext: {}
    nodeName: ''
    tolerations: []
  status:
    podIP: 10.0.0.12
kind: List
metadata:
  resourceVersion: ""
`;

const PLAIN_VALUES = [
  'web',
  'a b',
  'a:b',
  '100m',
  '1.5Gi',
  '0',
  '7',
  'true',
  'null',
  '""',
  "'N'",
  '{}',
  '[]',
  '--a',
  '|',
];
/** Values of which some need the parser, and some are mistakes. */
const OTHER_VALUES =
  'a: b|a :b|a #b|a#b|# c|-7|0644|08|1e3|1e-3|1-2-3|1.2.3|1_000|0x1F|True|no|y|~|"a\\n"|\'it\'\'s\'|"a|"a" b|{a: 1}|[a|&x a|*x|!t a|>|-|- a|-a|---|?|<<|.5|.inf|@a|%a|a, b|a]|a\tb|é|2026-01-02|2026-01-02T03:04:05Z'
    .split('|')
    .concat('|-');
const OTHER_KEYS = ['c.d/e-f', 'on', 'null', '1', '<<', '"a"', '__proto__', 'constructor', '? a', 'a b', '', '-a'];
const mostly = <Value>(usual: readonly Value[], rare: readonly Value[]): fc.Arbitrary<Value> =>
  fc.oneof({ weight: 24, arbitrary: fc.constantFrom(...usual) }, { weight: 1, arbitrary: fc.constantFrom(...rare) });

const line = fc.record({
  step: mostly([-4, -2, 0, 0, 0, 2], [-1, 1, 4]),
  dash: mostly(['', '', '- '], ['-', '-  ', '- - ']),
  key: mostly<string | undefined>(['a', 'b', 'c', 'd', 'e', undefined], OTHER_KEYS),
  value: mostly(['', '', '', ...PLAIN_VALUES], OTHER_VALUES),
  end: mostly([''], [' ', '\n', '\n   ', '\n---', '\n...']),
});

/** Lines that go deeper below a key without a value, mostly. */
const texts = fc.tuple(fc.array(line, { minLength: 1, maxLength: 9 }), mostly(['\n'], [''])).map(([lines, end]) => {
  let indent = 0;
  let isOpen = false;
  const written = lines.map(({ step, dash, key, value, end: tail }, at) => {
    if (at > 0) indent = Math.max(0, indent + (isOpen && step === 0 ? 2 : step === 2 && !isOpen ? 0 : step));
    isOpen = value === '' || value === '|';
    const begun = `${' '.repeat(indent)}${dash}`;
    if (key !== undefined && dash !== '') indent += 2;
    return `${begun}${key === undefined ? '' : `${key}: `}${value}${tail}`;
  });
  return `${written.join('\n')}${end}`;
});

function wholeParser(text: string): unknown {
  const values = parseYamlDocuments(text);
  expect(values).toHaveLength(1);
  return values[0];
}

/** By both ways; what is not plain is left to the parser, whether or not it can read it. */
function readings(text: string): { plain: unknown; whole: unknown } {
  const plain = parsePlainYaml(text);
  return { plain, whole: plain === NOT_PLAIN ? NOT_PLAIN : wholeParser(text) };
}

describe('parsePlainYaml', () => {
  it('takes what kubectl and our own printer write', () => {
    const value = parsePlainYaml(KUBECTL);
    expect(value).toEqual(wholeParser(KUBECTL));
    expect(parsePlainYaml(`---\n${printYaml(value)}`)).toEqual(value);
  });

  it.each([
    '',
    '# nothing',
    'a: 1\na: 2',
    'a: [1, 2]',
    'a: b\n  c',
    'a: &x 1',
    'a: |-\n  b\n',
    '__proto__: 1',
    'yes: 1',
  ])('leaves %j to the parser', (text) => {
    expect(parsePlainYaml(text)).toBe(NOT_PLAIN);
  });

  it('reads nothing otherwise than the parser, mistakes included', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const { plain, whole } = readings(text);
        expect(plain).toStrictEqual(whole);
      }),
      { numRuns: 5000 },
    );
  });

  it('reads what is printed otherwise than the parser in no case', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const { plain, whole } = readings(printYaml(value));
        expect(plain).toStrictEqual(whole);
      }),
    );
  });
});
