import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isOpen, upcomingWindow, type MaintenanceSchedule, type MaintenanceWindow } from './maintenanceSchedule.ts';

const at = (text: string): number => Date.parse(text);
const windowOf = (schedule: MaintenanceSchedule, more: Partial<MaintenanceWindow> = {}): MaintenanceWindow => ({
  schedule,
  durationHours: 4,
  startTime: '02:00',
  ...more,
});
const next = (window: MaintenanceWindow, now: string): string | undefined => {
  const span = upcomingWindow(window, at(now));
  return span && `${new Date(span.start).toISOString().slice(0, 16)} ${(span.end - span.start) / 3_600_000}h`;
};

describe('maintenance windows', () => {
  const daily = { daily: { intervalDays: 1 } };
  const saturdays = { weekly: { intervalWeeks: 1, dayOfWeek: 'Saturday' as const } };

  it.each<readonly [string, MaintenanceWindow, string, string | undefined]>([
    ['daily, before it', windowOf(daily), '2026-11-16T01:00:00Z', '2026-11-16T02:00 4h'],
    ['daily, within it', windowOf(daily), '2026-11-16T05:59:00Z', '2026-11-16T02:00 4h'],
    ['daily, at its end', windowOf(daily), '2026-11-16T06:00:00Z', '2026-11-17T02:00 4h'],
    ['over midnight', windowOf(daily, { startTime: '22:00' }), '2026-11-16T01:00:00Z', '2026-11-15T22:00 4h'],
    [
      'every third day',
      windowOf({ daily: { intervalDays: 3 } }, { startDate: '2026-11-01' }),
      '2026-11-16T12:00:00Z',
      '2026-11-19T02:00 4h',
    ],
    ['weekly', windowOf(saturdays), '2026-11-16T00:00:00Z', '2026-11-21T02:00 4h'],
    [
      'every other week',
      windowOf({ weekly: { intervalWeeks: 2, dayOfWeek: 'Monday' } }, { startDate: '2026-11-16' }),
      '2026-11-17T00:00:00Z',
      '2026-11-30T02:00 4h',
    ],
    [
      'on the 15th',
      windowOf({ absoluteMonthly: { intervalMonths: 1, dayOfMonth: 15 } }),
      '2026-11-16T00:00:00Z',
      '2026-12-15T02:00 4h',
    ],
    [
      'on the 31st of a short month',
      windowOf({ absoluteMonthly: { intervalMonths: 1, dayOfMonth: 31 } }),
      '2026-11-16T00:00:00Z',
      '2026-11-30T02:00 4h',
    ],
    [
      'every quarter',
      windowOf({ absoluteMonthly: { intervalMonths: 3, dayOfMonth: 1 } }, { startDate: '2026-01-01' }),
      '2026-11-16T00:00:00Z',
      '2027-01-01T02:00 4h',
    ],
    [
      'the first Tuesday',
      windowOf({ relativeMonthly: { intervalMonths: 1, weekIndex: 'First', dayOfWeek: 'Tuesday' } }),
      '2026-11-16T00:00:00Z',
      '2026-12-01T02:00 4h',
    ],
    [
      'the last Friday',
      windowOf({ relativeMonthly: { intervalMonths: 1, weekIndex: 'Last', dayOfWeek: 'Friday' } }),
      '2026-11-16T00:00:00Z',
      '2026-11-27T02:00 4h',
    ],
    ['east of Greenwich', windowOf(daily, { utcOffset: '+05:30' }), '2026-11-16T03:00:00Z', '2026-11-16T20:30 4h'],
    ['west of Greenwich', windowOf(saturdays, { utcOffset: '-08:00' }), '2026-11-21T03:00:00Z', '2026-11-21T10:00 4h'],
    [
      'before its start date',
      windowOf(daily, { startDate: '2027-01-01' }),
      '2026-11-16T00:00:00Z',
      '2027-01-01T02:00 4h',
    ],
    [
      'around dates that are not allowed',
      windowOf(saturdays, { notAllowedDates: [{ start: '2026-11-20', end: '2026-11-28' }] }),
      '2026-11-16T00:00:00Z',
      '2026-12-05T02:00 4h',
    ],
    [
      'not into a date that is not allowed',
      windowOf(daily, { startTime: '22:00', notAllowedDates: [{ start: '2026-11-17', end: '2026-11-17' }] }),
      '2026-11-16T12:00:00Z',
      '2026-11-18T22:00 4h',
    ],
    [
      'never',
      windowOf(daily, { notAllowedDates: [{ start: '2020-01-01', end: '2040-01-01' }] }),
      '2026-11-16T00:00:00Z',
      undefined,
    ],
  ])('%s', (_, window, now, expected) => {
    expect(next(window, now)).toBe(expected);
  });

  it('are open from their start to their end', () => {
    const window = windowOf(saturdays);
    const open = (now: string): boolean => isOpen(window, at(now));
    expect(open('2026-11-21T01:59:59Z')).toBe(false);
    expect(open('2026-11-21T02:00:00Z')).toBe(true);
    expect(open('2026-11-21T05:59:59Z')).toBe(true);
    expect(open('2026-11-21T06:00:00Z')).toBe(false);
  });

  it('end after now, last as long as they say, and come in order', () => {
    const schedule = fc.oneof(
      fc.record({ daily: fc.record({ intervalDays: fc.integer({ min: 1, max: 7 }) }) }),
      fc.record({
        weekly: fc.record({
          intervalWeeks: fc.integer({ min: 1, max: 4 }),
          dayOfWeek: fc.constantFrom('Monday' as const, 'Sunday' as const),
        }),
      }),
      fc.record({
        absoluteMonthly: fc.record({
          intervalMonths: fc.integer({ min: 1, max: 6 }),
          dayOfMonth: fc.integer({ min: 1, max: 31 }),
        }),
      }),
    );
    const offset = fc.constantFrom('+00:00', '-11:00', '+13:45');
    const now = fc.integer({ min: at('2020-01-01T00:00:00Z'), max: at('2035-01-01T00:00:00Z') });
    fc.assert(
      fc.property(schedule, fc.integer({ min: 4, max: 24 }), offset, now, (kind, durationHours, utcOffset, time) => {
        const window = windowOf(kind, { durationHours, utcOffset });
        const first = upcomingWindow(window, time);
        expect(first).toBeDefined();
        if (first === undefined) return;
        expect(first.end).toBeGreaterThan(time);
        expect(first.end - first.start).toBe(durationHours * 3_600_000);
        const second = upcomingWindow(window, first.end);
        expect(second?.start).toBeGreaterThan(first.start);
        expect(isOpen(window, first.start)).toBe(true);
      }),
    );
  });
});
