/**
 * Cron schedules in a time zone such as `Europe/Berlin`, with daylight saving time. `Schedule` itself is in UTC.
 */
import type { Schedule } from '../../units/schedule.ts';

export interface Occurrences {
  next(now: number): number | undefined;
  previous(now: number): number | undefined;
}

const MINUTE = 60_000;
const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns undefined for an unknown time zone. */
export function inZone(schedule: Schedule, zone: string): Occurrences | undefined {
  const format = formatOf(zone);
  if (format === undefined) return undefined;
  const wallOf = (moment: number): number => moment + offsetAt(format, moment);
  const momentOf = (wall: number): number => {
    // The offset depends on the moment; the second approximation is right, except in hours skipped by clock changes.
    const guess = wall - offsetAt(format, wall);
    return wall - offsetAt(format, guess);
  };
  const converted = (wall: number | undefined): number | undefined => (wall === undefined ? undefined : momentOf(wall));
  return {
    next: (now) => {
      const found = converted(schedule.next(wallOf(now)));
      // In an hour repeated by a clock change, only the first pass has occurrences.
      return found === undefined || found > now ? found : converted(schedule.next(wallOf(now + 60 * MINUTE)));
    },
    previous: (now) => converted(schedule.previous(wallOf(now))),
  };
}

function formatOf(zone: string): Intl.DateTimeFormat | undefined {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  try {
    const fields = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
    const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', ...fields, second: 'numeric' });
    formats.set(zone, format);
    return format;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Returns the offset from UTC in milliseconds. */
function offsetAt(format: Intl.DateTimeFormat, moment: number): number {
  const parts = new Map(format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  const wall = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return wall - Math.floor(moment / 1000) * 1000;
}
