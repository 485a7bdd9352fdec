import { expect, it } from 'vitest';
import { heapAdvice } from './heapAdvice.ts';

const GIB = 2 ** 30;

it('says how to set the heap limit when it does not suit the memory limit', () => {
  expect(heapAdvice(GIB, 4 * GIB)).toEqual({
    memoryLimitMiB: 1024,
    heapLimitMiB: 4096,
    remedy: 'set NODE_OPTIONS=--max-old-space-size=921',
  });
  expect(heapAdvice(8 * GIB, GIB)?.remedy).toBe('set NODE_OPTIONS=--max-old-space-size=7372');
});

it('says nothing when they suit each other or no limit is known', () => {
  expect(heapAdvice(GIB, 0.9 * GIB)).toBeUndefined();
  expect(heapAdvice(undefined, GIB)).toBeUndefined();
});
