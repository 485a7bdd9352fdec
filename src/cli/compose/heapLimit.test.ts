import { expect, it } from 'vitest';
import { fitHeap, heapAdvice, type HeapProcess } from './heapLimit.ts';

const GIB = 2 ** 30;

/** The arguments with which the process replaces itself. */
function replacements(memoryLimit: number | undefined, host: Partial<HeapProcess> = {}): (readonly string[])[] {
  const calls: (readonly string[])[] = [];
  fitHeap(memoryLimit, {
    heapLimit: 4 * GIB,
    execPath: '/node',
    execArgv: ['--enable-source-maps'],
    argv: ['/node', '/nodewright.js', 'run', '--metrics-port=0'],
    environment: {},
    execve: (_file, args) => calls.push(args),
    ...host,
  });
  return calls;
}

it('starts anew with nine tenths of the memory limit, less where little would be left beside the heap', () => {
  expect(replacements(8 * GIB)).toEqual([
    ['/node', '--enable-source-maps', '--max-old-space-size=7372', '/nodewright.js', 'run', '--metrics-port=0'],
  ]);
  expect(replacements(GIB)[0]).toContain('--max-old-space-size=896');
  expect(replacements(GIB / 8)[0]).toContain('--max-old-space-size=64');
});

it('leaves a heap that suits the limit, that was set by hand, or whose limit is unknown', () => {
  expect(replacements(undefined)).toEqual([]);
  expect(replacements(GIB, { heapLimit: 0.9 * GIB })).toEqual([]);
  expect(replacements(GIB, { execArgv: ['--max-old-space-size=300'] })).toEqual([]);
  expect(replacements(GIB, { environment: { NODE_OPTIONS: '--max_old_space_size=300' } })).toEqual([]);
  expect(replacements(GIB, { execve: undefined })).toEqual([]);
});

it('says what to set where the heap does not suit the limit', () => {
  expect(heapAdvice(GIB, 4 * GIB)).toEqual({
    memoryLimitMiB: 1024,
    heapLimitMiB: 4096,
    remedy: 'set NODE_OPTIONS=--max-old-space-size=896',
  });
  expect(heapAdvice(GIB, 0.9 * GIB)).toBeUndefined();
  expect(heapAdvice(undefined, GIB)).toBeUndefined();
});
