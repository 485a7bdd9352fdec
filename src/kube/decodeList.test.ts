import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FieldManagers } from '../api/labels.ts';
import { decodeList } from './decodeList.ts';

function decode(text: string): { items: unknown[]; metadata: unknown } {
  const items: unknown[] = [];
  const metadata = decodeList(Buffer.from(text), (item) => items.push(item));
  return { items, metadata };
}

const word = fc.string({
  unit: fc.constantFrom('a', '"', '\\', '{', '}', '[', ']', ',', ':', 'é', '😀', '\n'),
  maxLength: 8,
});
const value = fc.jsonValue({ maxDepth: 3, stringUnit: 'grapheme' });

describe('decodeList', () => {
  it('agrees with JSON.parse, whatever the whitespace', () => {
    const item = fc.record({ spec: value, status: fc.dictionary(word, word), metadata: fc.dictionary(word, value) });
    const list = fc.record({
      kind: word,
      metadata: fc.record({ resourceVersion: word, continue: word }),
      items: fc.array(fc.oneof(item, value)),
      more: value,
    });
    fc.assert(
      fc.property(list, fc.constantFrom(undefined, 1, '\t'), fc.boolean(), (content, indent, itemsFirst) => {
        const ordered = itemsFirst ? Object.assign({ items: content.items }, content) : content;
        const text = JSON.stringify(ordered, undefined, indent);
        const { items, metadata } = JSON.parse(text) as typeof content;
        expect(decode(text)).toEqual({ items, metadata });
      }),
      { numRuns: 300 },
    );
  });

  it('empties managedFields of the metadata, and only those', () => {
    const managedFields = [{ manager: 'kubelet', fieldsV1: { 'k:{"name":"a"}': { '.': {} } } }];
    const items = [
      { spec: { managedFields }, metadata: { name: 'a', managedFields, labels: { managedFields: '[' } } },
      { metadata: { managedFields }, managedFields },
      { metadata: { managedFields: 'text' } },
      { metadata: [{ managedFields }] },
    ];
    expect(decode(JSON.stringify({ items })).items).toEqual([
      { spec: { managedFields }, metadata: { name: 'a', managedFields: [], labels: { managedFields: '[' } } },
      { metadata: { managedFields: [] }, managedFields },
      { metadata: { managedFields: 'text' } },
      { metadata: [{ managedFields }] },
    ]);
  });

  it('keeps them where a placement hint of ours is among them', () => {
    const managedFields = [{ manager: 'kubelet' }, { manager: FieldManagers.placementHints, subresource: 'status' }];
    const items = [{ metadata: { name: 'a', managedFields } }];
    expect(decode(JSON.stringify({ items }, undefined, 1)).items).toEqual(items);
  });

  it('takes lists without items, and refuses what is no JSON', () => {
    expect(decode('{"metadata":{"continue":"x"},"items":null}')).toEqual({ items: [], metadata: { continue: 'x' } });
    expect(decode(' {} ')).toEqual({ items: [], metadata: {} });
    for (const text of [
      '',
      '{"items":[',
      '{"items":[{"a":1},}]}',
      '{"items":[{"a":}]}',
      '{"items":[{"a":"b]}',
      '<html>',
    ]) {
      expect(() => decode(text)).toThrow(SyntaxError);
    }
  });
});
