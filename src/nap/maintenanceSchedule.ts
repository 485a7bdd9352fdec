/** The windows of an AKS maintenance configuration: daily, weekly or monthly, at its UTC offset. */

type DayOfWeek = 'Sunday' | 'Monday' | 'Tuesday' | 'Wednesday' | 'Thursday' | 'Friday' | 'Saturday';
type WeekIndex = 'First' | 'Second' | 'Third' | 'Fourth' | 'Last';

/** In the container service's format; has exactly one kind of schedule. */
export interface MaintenanceSchedule {
  readonly daily?: { readonly intervalDays: number };
  readonly weekly?: { readonly intervalWeeks: number; readonly dayOfWeek: DayOfWeek };
  readonly absoluteMonthly?: { readonly intervalMonths: number; readonly dayOfMonth: number };
  readonly relativeMonthly?: {
    readonly intervalMonths: number;
    readonly weekIndex: WeekIndex;
    readonly dayOfWeek: DayOfWeek;
  };
}

export interface MaintenanceWindow {
  readonly schedule: MaintenanceSchedule;
  readonly durationHours: number;
  /** `hh:mm`. */
  readonly startTime: string;
  /** `+hh:mm` or `-hh:mm`; UTC when absent. */
  readonly utcOffset?: string;
  /** `yyyy-mm-dd`: no window before it, and intervals are counted from it. */
  readonly startDate?: string;
  /** Days without a window, both ends included. */
  readonly notAllowedDates?: readonly { readonly start: string; readonly end: string }[];
}

/** Milliseconds since the epoch; `end` is exclusive. */
export interface TimeSpan {
  readonly start: number;
  readonly end: number;
}

const DAY = 86_400_000;
const HOUR = 3_600_000;
const MINUTE = 60_000;
export const DAYS: readonly DayOfWeek[] = [
  'Sunday',
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
];
const WEEKS: readonly WeekIndex[] = ['First', 'Second', 'Third', 'Fourth'];
/** Default start date: a Monday in the first full week of a month. */
const FIRST_DAY = '1970-01-05';
/**
 * The longest interval is six months, and not-allowed dates may exclude some windows: if there is any, it is within two
 * years.
 */
const DAYS_TO_LOOK = 731;

/** The window open now, otherwise the next one; undefined when there is none within two years. */
export function upcomingWindow(window: MaintenanceWindow, now: number): TimeSpan | undefined {
  const offset = offsetOf(window.utcOffset ?? '+00:00');
  const [hours = 0, minutes = 0] = window.startTime.split(':').map(Number);
  const duration = window.durationHours * HOUR;
  const firstDay = Math.max(dayNumber(now + offset - duration), dayOf(window.startDate ?? FIRST_DAY));
  for (let day = firstDay; day < firstDay + DAYS_TO_LOOK; day += 1) {
    const start = day * DAY + hours * HOUR + minutes * MINUTE - offset;
    const span = { start, end: start + duration };
    if (span.end > now && isScheduled(window, day) && !isForbidden(window, span, offset)) return span;
  }
  return undefined;
}

export function isOpen(window: MaintenanceWindow, now: number): boolean {
  const span = upcomingWindow(window, now);
  return span !== undefined && span.start <= now;
}

function isScheduled({ schedule, startDate }: MaintenanceWindow, day: number): boolean {
  const { daily, weekly, absoluteMonthly, relativeMonthly } = schedule;
  const anchor = dayOf(startDate ?? FIRST_DAY);
  if (daily !== undefined) return (day - anchor) % daily.intervalDays === 0;
  if (weekly !== undefined) {
    return weekdayOf(day) === weekly.dayOfWeek && (weekOf(day) - weekOf(anchor)) % weekly.intervalWeeks === 0;
  }
  const months = monthNumber(day) - monthNumber(anchor);
  if (absoluteMonthly !== undefined) {
    // In a shorter month, the 31st means the last day.
    const wanted = Math.min(absoluteMonthly.dayOfMonth, daysInMonth(day));
    return months % absoluteMonthly.intervalMonths === 0 && dateOf(day).getUTCDate() === wanted;
  }
  if (relativeMonthly === undefined) return false;
  const { intervalMonths, weekIndex, dayOfWeek } = relativeMonthly;
  if (months % intervalMonths !== 0 || weekdayOf(day) !== dayOfWeek) return false;
  const date = dateOf(day).getUTCDate();
  return weekIndex === 'Last' ? date + 7 > daysInMonth(day) : Math.ceil(date / 7) === WEEKS.indexOf(weekIndex) + 1;
}

/** A window that touches a not-allowed day is skipped. */
function isForbidden({ notAllowedDates = [] }: MaintenanceWindow, { start, end }: TimeSpan, offset: number): boolean {
  const [first, last] = [dayNumber(start + offset), dayNumber(end + offset - 1)];
  return notAllowedDates.some((dates) => dayOf(dates.start) <= last && first <= dayOf(dates.end));
}

function offsetOf(text: string): number {
  const [, sign = '+', hours = '0', minutes = '0'] = /^([+-])(\d{2}):(\d{2})$/.exec(text) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * HOUR + Number(minutes) * MINUTE);
}

const dayNumber = (time: number): number => Math.floor(time / DAY);
const dayOf = (date: string): number => dayNumber(Date.parse(`${date.slice(0, 10)}T00:00:00Z`));
const dateOf = (day: number): Date => new Date(day * DAY);
const weekdayOf = (day: number): DayOfWeek | undefined => DAYS[dateOf(day).getUTCDay()];
/** Weeks begin on Monday. */
const weekOf = (day: number): number => Math.floor((day - dayOf(FIRST_DAY)) / 7);
const monthNumber = (day: number): number => dateOf(day).getUTCFullYear() * 12 + dateOf(day).getUTCMonth();
const daysInMonth = (day: number): number =>
  new Date(Date.UTC(dateOf(day).getUTCFullYear(), dateOf(day).getUTCMonth() + 1, 0)).getUTCDate();
