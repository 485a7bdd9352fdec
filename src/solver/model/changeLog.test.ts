import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChangeLog } from './changeLog.ts';

describe('a log of changed rows', () => {
  it('returns the distinct rows that changed since a version', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20)), fc.array(fc.nat(20)), (before, after) => {
        const log = new ChangeLog();
        for (const row of before) log.add(row);
        const { version } = log;
        for (const row of after) log.add(row);
        expect(log.since(version)).toEqual(new Set(after));
        expect(log.since(log.version)).toEqual(new Set());
      }),
    );
  });

  it('drops old changes instead of growing, and reports that instead of omitting rows', () => {
    const log = new ChangeLog();
    const first = log.version;
    for (let row = 0; row < 50_000; row++) log.add(row);
    expect(log.since(first)).toBeUndefined();
    const { version } = log;
    for (let row = 0; row < 4000; row++) log.add(row);
    expect(log.version).toBe(version + 4000);
    expect(log.since(version)?.size).toBe(4000);
    for (let row = 0; row < 50_000; row++) log.add(row);
    expect(log.since(version)).toBeUndefined();
  });
});
