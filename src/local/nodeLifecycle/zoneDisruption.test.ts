import { expect, it } from 'vitest';
import { ZoneDisruption, type ZoneCount } from './zoneDisruption.ts';

const zones = (counts: Record<string, readonly [ready: number, lost: number]>): Map<string, ZoneCount> =>
  new Map(Object.entries(counts).map(([zone, [ready, lost]]) => [zone, { ready, lost }]));

it.each([
  ['one node of many', { a: [9, 1], b: [10, 0] }, [0, 10_000]],
  ['a whole zone, while others live', { a: [0, 10], b: [10, 0] }, [0, 10_000]],
  ['most of a small zone', { a: [4, 6], b: [10, 0] }, [undefined, undefined]],
  ['most of a large zone', { a: [40, 60], b: [10, 0] }, [0, 100_000]],
  ['two of two nodes are few', { a: [1, 2], b: [10, 0] }, [0, 10_000]],
  ['everything', { a: [0, 10], b: [0, 3] }, [undefined, undefined]],
] as const)('limits the evictions when lost: %s', (_name, counts, waits) => {
  const disruption = new ZoneDisruption();
  expect([disruption.wait('a', zones(counts), 0), disruption.wait('a', zones(counts), 0)]).toEqual(waits);
});

it('limits the rate by zone', () => {
  const disruption = new ZoneDisruption();
  const counts = zones({ a: [9, 1], b: [9, 1] });
  expect(disruption.wait('a', counts, 0)).toBe(0);
  expect(disruption.wait('b', counts, 0)).toBe(0);
  expect(disruption.wait('a', counts, 4_000)).toBe(6_000);
  expect(disruption.wait('a', counts, 10_000)).toBe(0);
});
