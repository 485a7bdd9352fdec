import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isExpired, KubeError } from './errors.ts';
import { readWatchStream } from './watchStream.ts';

async function* inPieces(bytes: Buffer, cuts: readonly number[]): AsyncGenerator<Buffer> {
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((left, right) => left - right);
  let start = 0;
  for (const end of [...ends, bytes.length]) {
    if (end > start) yield bytes.subarray(start, end);
    start = end;
  }
}

async function collect(text: string, cuts: readonly number[] = []): Promise<unknown[]> {
  const events: unknown[] = [];
  for await (const event of readWatchStream(inPieces(Buffer.from(text), cuts))) events.push(event);
  return events;
}

describe('readWatchStream', () => {
  it('gives the same events however the bytes are cut', async () => {
    const event = fc.record({
      type: fc.constantFrom('ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK'),
      object: fc.record({ metadata: fc.record({ name: fc.string({ unit: 'grapheme' }) }) }),
    });
    const property = fc.asyncProperty(fc.array(event), fc.array(fc.nat()), async (events, cuts) => {
      const text = events.map((value) => `${JSON.stringify(value)}\n`).join('');
      expect(await collect(text, cuts)).toEqual(events);
    });
    await fc.assert(property, { numRuns: 100 });
  });

  it('turns an ERROR event into an error', async () => {
    const line = JSON.stringify({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } });
    const error = await collect(`${line}\n`).catch((caught: unknown) => caught);
    expect(isExpired(error)).toBe(true);
  });

  it('does not take half an event for a whole one', async () => {
    await expect(collect('{"type":"ADDED","object":{}}\n{"type":"ADD')).rejects.toThrow(/middle of an event/);
    await expect(collect('{"type":"ADD\n')).rejects.toThrow(KubeError);
    await expect(collect('{"type":"SOMETHING"}\n')).rejects.toThrow(/unknown type "SOMETHING"/);
    expect(await collect('\n\n')).toEqual([]);
  });
});
