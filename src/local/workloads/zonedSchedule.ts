/**
 * Cron schedules in a time zone such as `Europe/Berlin`, daylight saving included. The schedule itself knows only UTC.
 */
import type { Schedule } from '../../units/schedule.ts';

export interface Hits {
  next(now: number): number | undefined;
  previous(now: number): number | undefined;
}

const MINUTE = 60_000;
const formats = new Map<string, Intl.DateTimeFormat>();

/** Undefined for an unknown time zone. */
export function inZone(schedule: Schedule, zone: string): Hits | undefined {
  const format = formatOf(zone);
  if (format === undefined) return undefined;
  const wallOf = (moment: number): number => moment + offsetAt(format, moment);
  const momentOf = (wall: number): number => {
    // The offset there is known only once the moment is; the second guess is right but for hours that do not exist.
    const guess = wall - offsetAt(format, wall);
    return wall - offsetAt(format, guess);
  };
  const through = (hit: number | undefined): number | undefined => (hit === undefined ? undefined : momentOf(hit));
  return {
    next: (now) => {
      const found = through(schedule.next(wallOf(now)));
      // When clocks go back, an hour comes twice; what was due in its first pass is over.
      return found === undefined || found > now ? found : through(schedule.next(wallOf(now + 60 * MINUTE)));
    },
    previous: (now) => through(schedule.previous(wallOf(now))),
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

/** Milliseconds that clocks there are ahead of UTC. */
function offsetAt(format: Intl.DateTimeFormat, moment: number): number {
  const parts = new Map(format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  const wall = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return wall - Math.floor(moment / 1000) * 1000;
}
