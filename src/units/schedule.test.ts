import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isOpen, nextChange, Schedule } from './schedule.ts';
import { UnitError } from './unitError.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const at = (iso: string): number => Date.parse(iso);
const show = (milliseconds: number | undefined): string | undefined =>
  milliseconds === undefined ? undefined : new Date(milliseconds).toISOString();

describe('Schedule.next', () => {
  it.each([
    ['@hourly', '2026-03-01T10:00:00Z', '2026-03-01T11:00:00.000Z'],
    ['@daily', '2026-03-01T10:00:00Z', '2026-03-02T00:00:00.000Z'],
    ['@midnight', '2026-03-01T00:00:00Z', '2026-03-02T00:00:00.000Z'],
    ['@weekly', '2026-03-02T00:00:00Z', '2026-03-08T00:00:00.000Z'],
    ['@monthly', '2026-12-15T00:00:00Z', '2027-01-01T00:00:00.000Z'],
    ['@yearly', '2026-03-01T00:00:00Z', '2027-01-01T00:00:00.000Z'],
    ['@annually', '2026-03-01T00:00:00Z', '2027-01-01T00:00:00.000Z'],
    ['0 9 * * MON-fri', '2026-03-06T09:00:00Z', '2026-03-09T09:00:00.000Z'],
    // Both day fields restricted: either one hits.
    ['0 0 13 * fri', '2026-03-07T00:00:00Z', '2026-03-13T00:00:00.000Z'],
    ['0 0 15 * fri', '2026-03-13T00:00:00Z', '2026-03-15T00:00:00.000Z'],
    // One of them a star: both must match.
    ['0 0 15 * ?', '2026-03-13T00:00:00Z', '2026-03-15T00:00:00.000Z'],
    ['0 0 */2 * fri', '2026-03-13T00:00:00Z', '2026-03-15T00:00:00.000Z'],
    ['5/20 * * * *', '2026-03-13T00:05:30Z', '2026-03-13T00:25:00.000Z'],
    ['0 0 29 feb *', '2025-03-01T00:00:00Z', '2028-02-29T00:00:00.000Z'],
    ['1,,2 0 * * *', '2026-03-13T00:01:00Z', '2026-03-13T00:02:00.000Z'],
  ])('%s after %s is %s', (text, after, expected) => {
    expect(show(Schedule.parse(text).next(at(after)))).toBe(expected);
  });

  it('gives up after five years', () => {
    expect(Schedule.parse('0 0 30 2 *').next(at('2026-01-01T00:00:00Z'))).toBeUndefined();
    expect(Schedule.parse('0 0 30 2 *').previous(at('2026-01-01T00:00:00Z'))).toBeUndefined();
    expect(Schedule.parse('0 0 29 2 *').next(at('2096-03-01T00:00:00Z'))).toBeUndefined();
  });

  it.each([
    '',
    '* * * *',
    '* * * * * *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * * 13 *',
    '* * * * 7',
    '5-1 * * * *',
    '*/0 * * * *',
    '1/2/3 * * * *',
    '1-2-3 * * * *',
    'x * * * *',
    '-1 * * * *',
    '* * * mon *',
    ', * * * *',
    '@dailyfoo',
    '@every 1h',
    'TZ=Asia/Tokyo * * * * *',
  ])('refuses %j', (text) => {
    expect(() => Schedule.parse(text)).toThrow(UnitError);
  });

  it('agrees with trying every minute', () => {
    fc.assert(
      fc.property(cron, instant, (text, from) => {
        const schedule = Schedule.parse(text);
        const first = Math.floor(from / MINUTE) + 1;
        const last = first + 3 * 24 * 60;
        let expected = first;
        while (expected < last && !matches(text, expected * MINUTE)) expected += 1;
        // Beyond the horizon only "not earlier" is known.
        const actual = Math.min(schedule.next(from) ?? Number.POSITIVE_INFINITY, last * MINUTE);
        expect(show(actual)).toBe(show(expected * MINUTE));
        fc.pre(expected < last);
        expect(show(schedule.previous(expected * MINUTE))).toBe(show(expected * MINUTE));
        expect(schedule.previous(expected * MINUTE - 1) ?? 0).toBeLessThanOrEqual(from);
      }),
      { numRuns: 50 },
    );
  });
});

describe('budget windows', () => {
  const workdays = Schedule.parse('0 9 * * mon-fri');

  it('opens at the hit and closes after the duration', () => {
    expect(isOpen(workdays, 8 * HOUR, at('2026-03-06T08:59:59.999Z'))).toBe(false);
    expect(isOpen(workdays, 8 * HOUR, at('2026-03-06T09:00:00Z'))).toBe(true);
    expect(isOpen(workdays, 8 * HOUR, at('2026-03-06T16:59:59.999Z'))).toBe(true);
    expect(isOpen(workdays, 8 * HOUR, at('2026-03-06T17:00:00Z'))).toBe(false);
  });

  it('says when that changes', () => {
    expect(show(nextChange(workdays, 8 * HOUR, at('2026-03-06T10:00:00Z')))).toBe('2026-03-06T17:00:00.000Z');
    expect(show(nextChange(workdays, 8 * HOUR, at('2026-03-06T17:00:00Z')))).toBe('2026-03-09T09:00:00.000Z');
    // Windows that touch are one window: open from Monday to Saturday.
    expect(show(nextChange(workdays, 24 * HOUR, at('2026-03-03T12:00:00Z')))).toBe('2026-03-07T09:00:00.000Z');
    expect(nextChange(Schedule.parse('* * * * *'), HOUR, at('2026-03-03T12:00:00Z'))).toBeUndefined();
    expect(nextChange(Schedule.parse('0 0 30 2 *'), HOUR, at('2026-03-03T12:00:00Z'))).toBeUndefined();
    expect(isOpen(Schedule.parse('0 0 30 2 *'), HOUR, at('2026-03-03T12:00:00Z'))).toBe(false);
  });

  it('changes exactly where it says', () => {
    fc.assert(
      fc.property(cron, fc.integer({ min: 1, max: 3000 }), instant, (text, minutes, now) => {
        const schedule = Schedule.parse(text);
        const duration = minutes * MINUTE;
        const open = isOpen(schedule, duration, now);
        const change = nextChange(schedule, duration, now);
        fc.pre(change !== undefined && change < now + 30 * 24 * HOUR);
        expect(change).toBeGreaterThan(now);
        expect(isOpen(schedule, duration, change)).toBe(!open);
        for (let moment = now; moment < change; moment += 7 * MINUTE) {
          expect(isOpen(schedule, duration, moment)).toBe(open);
        }
        expect(isOpen(schedule, duration, change - 1)).toBe(open);
      }),
      { numRuns: 40 },
    );
  });
});

const instant = fc.integer({ min: at('2020-01-01T00:00:00Z'), max: at('2032-01-01T00:00:00Z') });

function field(min: number, max: number): fc.Arbitrary<string> {
  const value = fc.integer({ min, max });
  const step = fc.integer({ min: 1, max: 9 });
  const range = fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
  const item = fc.oneof(
    fc.constantFrom('*', '*', '?'),
    value.map(String),
    range,
    fc.tuple(range, step).map(([r, s]) => `${r}/${s}`),
    step.map((s) => `*/${s}`),
  );
  return fc.array(item, { minLength: 1, maxLength: 2 }).map((items) => items.join(','));
}

const cron = fc
  .tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 6))
  .map((fields) => fields.join(' '));

/** The slow way: tests every minute. Parses the text again and takes the calendar from Date. */
function matches(text: string, milliseconds: number): boolean {
  const date = new Date(milliseconds);
  const [minute = '', hour = '', dayOfMonth = '', month = '', dayOfWeek = ''] = text.split(' ');
  const has = (fieldText: string, value: number, min: number, max: number): boolean =>
    fieldText.split(',').some((item) => {
      const [range = '', step = '1'] = item.split('/');
      const [low = 0, high = low] = range === '*' || range === '?' ? [min, max] : range.split('-').map(Number);
      return value >= low && value <= high && (value - low) % Number(step) === 0;
    });
  const star = (fieldText: string): boolean => fieldText.split(',').some((item) => /^[*?](\/1)?$/.test(item));
  const dom = (): boolean => has(dayOfMonth, date.getUTCDate(), 1, 31);
  const dow = (): boolean => has(dayOfWeek, date.getUTCDay(), 0, 6);
  return (
    has(minute, date.getUTCMinutes(), 0, 59) &&
    has(hour, date.getUTCHours(), 0, 23) &&
    has(month, date.getUTCMonth() + 1, 1, 12) &&
    (star(dayOfMonth) || star(dayOfWeek) ? dom() && dow() : dom() || dow())
  );
}
