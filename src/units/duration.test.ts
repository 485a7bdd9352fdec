import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Duration, NillableDuration } from './duration.ts';
import { UnitError } from './unitError.ts';

// Expected texts were recorded from Go's time package.
const printed: readonly (readonly [string, string])[] = [
  ['0', '0s'],
  ['-0', '0s'],
  ['0h', '0s'],
  ['1h30m', '1h30m0s'],
  ['90m', '1h30m0s'],
  ['720h', '720h0m0s'],
  ['300ms', '300ms'],
  ['1.5h', '1h30m0s'],
  ['-1.5h', '-1h30m0s'],
  ['.5s', '500ms'],
  ['1.s', '1s'],
  ['1us', '1µs'],
  ['1µs', '1µs'],
  ['1μs', '1µs'],
  ['1500us', '1.5ms'],
  ['999ns', '999ns'],
  ['1.000001s', '1.000001s'],
  ['+5m30.5s', '5m30.5s'],
  ['0.3333333333333333333h', '20m0s'],
  ['0.9223372036854775807h', '55m20.413933267s'],
  ['2562047h47m16.854775807s', '2562047h47m16.854775807s'],
  ['-9223372036854775808ns', '-2562047h47m16.854775808s'],
];

describe('Duration', () => {
  it.each(printed)('prints %s as %s', (text, expected) => {
    expect(Duration.parse(text).toString()).toBe(expected);
  });

  it.each([
    '',
    '-',
    '3',
    '1h3',
    's',
    '.s',
    '1d',
    '1 h',
    '1h-3m',
    'Never',
    '9223372036854775808ns',
    '3000000h',
    '1.2.3s',
  ])('refuses %j', (text) => {
    expect(() => Duration.parse(text)).toThrow(UnitError);
    expect(Duration.tryParse(text)).toBeUndefined();
  });

  it('converts to and from milliseconds', () => {
    expect(Duration.parse('1m0.5s').milliseconds).toBe(60_500);
    expect(Duration.parse('1us').milliseconds).toBe(0.001);
    expect(Duration.fromMilliseconds(90_000).toString()).toBe('1m30s');
    expect(() => Duration.fromMilliseconds(1e16)).toThrow(UnitError);
  });

  it('round-trips through its text, in order', () => {
    const nanoseconds = fc.oneof(
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      fc.bigInt({ min: -(10n ** 10n), max: 10n ** 10n }),
    );
    fc.assert(
      fc.property(nanoseconds, nanoseconds, (left, right) => {
        const a = Duration.parse(`${left}ns`);
        const b = Duration.parse(`${right}ns`);
        expect(a.nanoseconds).toBe(left);
        expect(Duration.parse(a.toString())).toEqual(a);
        expect(a.compare(b)).toBe(left === right ? 0 : left < right ? -1 : 1);
        expect(a.equals(b)).toBe(left === right);
      }),
      { numRuns: 300 },
    );
  });
});

describe('NillableDuration', () => {
  it('keeps the text it was read from', () => {
    const hour = NillableDuration.parse('1h');
    expect(hour.milliseconds).toBe(3_600_000);
    expect(hour.isNever).toBe(false);
    expect(JSON.stringify(hour)).toBe('"1h"');
  });

  it('knows Never', () => {
    const never = NillableDuration.parse('Never');
    expect(never.isNever).toBe(true);
    expect(never.milliseconds).toBeUndefined();
    expect(String(never)).toBe('Never');
    expect(() => NillableDuration.parse('never')).toThrow(UnitError);
  });
});
