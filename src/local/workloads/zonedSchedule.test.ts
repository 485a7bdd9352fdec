import { expect, it } from 'vitest';
import { Schedule } from '../../units/schedule.ts';
import { inZone } from './zonedSchedule.ts';

const at = (text: string): number => Date.parse(text);
const shown = (moment: number | undefined): string => (moment === undefined ? 'never' : new Date(moment).toISOString());

it.each([
  ['Europe/Berlin', '30 9 * * *', '2026-01-10T00:00:00Z', '2026-01-10T08:30:00.000Z'],
  ['Europe/Berlin', '30 9 * * *', '2026-07-10T00:00:00Z', '2026-07-10T07:30:00.000Z'],
  ['America/New_York', '0 20 * * fri', '2026-01-09T12:00:00Z', '2026-01-10T01:00:00.000Z'],
  ['Asia/Kolkata', '0 0 * * *', '2026-01-09T12:00:00Z', '2026-01-09T18:30:00.000Z'],
  ['Etc/UTC', '0 0 * * *', '2026-01-09T12:00:00Z', '2026-01-10T00:00:00.000Z'],
  // The night of the change to daylight saving time.
  ['Europe/Berlin', '0 4 * * *', '2026-03-28T20:00:00Z', '2026-03-29T02:00:00.000Z'],
])('in %s "%s" occurs after %s at %s', (zone, text, now, expected) => {
  const schedule = inZone(Schedule.parse(text), zone);
  expect(shown(schedule?.next(at(now)))).toBe(expected);
  expect(shown(schedule?.previous(at(expected)))).toBe(expected);
});

it('is undefined for an unknown time zone', () => {
  expect(inZone(Schedule.parse('0 0 * * *'), 'Mars/Olympus')).toBeUndefined();
});

it('always advances, also in the repeated hour at the end of daylight saving time', () => {
  const schedule = inZone(Schedule.parse('*/30 * * * *'), 'Europe/Berlin');
  let now = at('2026-10-24T23:00:00Z');
  for (let step = 0; step < 12; step++) {
    const next = schedule?.next(now) ?? 0;
    expect(next).toBeGreaterThan(now);
    now = next;
  }
});
