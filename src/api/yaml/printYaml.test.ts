import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseYaml } from './parseYaml.ts';
import { printYaml } from './printYaml.ts';

it('writes shared objects out, and quotes what YAML 1.1 would misread', () => {
  const shared = { name: 'N' };
  const value = { items: [shared, shared, '0644', 'on', '1_000', 420, true, null], text: 'a\nb\n', missing: undefined };
  expect(printYaml(value)).toBe(
    [
      'items:',
      '  - name: "N"',
      '  - name: "N"',
      '  - "0644"',
      '  - "on"',
      '  - "1_000"',
      '  - 420',
      '  - true',
      '  - null',
      'text: |',
      '  a',
      '  b',
      '',
    ].join('\n'),
  );
});

it('is read back as it was', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const json = JSON.parse(JSON.stringify(value)) as unknown;
      expect(parseYaml(printYaml(json))).toEqual(json);
    }),
  );
});
