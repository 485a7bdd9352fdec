/**
 * Cron schedules in UTC ("0 9 * * mon-fri", "@daily") with the rules of robfig/cron, and the windows that disruption
 * budgets open with them.
 */
import { UnitError } from './unitError.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** A hit further away than this many calendar years does not exist (29 February can be eight years away). */
const SEARCH_YEARS = 5;
/** How many further hits may extend an open window before it counts as always open. */
const MAX_PROLONGATIONS = 10_000;

const MACROS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

interface FieldBounds {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
}

/** `names[i]` stands for `min + i`. */
const FIELDS: readonly FieldBounds[] = [
  { name: 'minute', min: 0, max: 59, names: [] },
  { name: 'hour', min: 0, max: 23, names: [] },
  { name: 'day of month', min: 1, max: 31, names: [] },
  {
    name: 'month',
    min: 1,
    max: 12,
    names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
  },
  { name: 'day of week', min: 0, max: 6, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
];

interface Field {
  readonly values: ReadonlySet<number>;
  /** Written with `*` or `?`: such a day field restricts nothing, so the other one alone decides. */
  readonly star: boolean;
}

export class Schedule {
  readonly text: string;
  /** Minutes of a day that hit, ascending. */
  private readonly minutesOfDay: readonly number[];
  private readonly daysOfMonth: Field;
  private readonly months: Field;
  private readonly daysOfWeek: Field;

  private constructor(text: string, fields: readonly Field[]) {
    const [minutes, hours, daysOfMonth, months, daysOfWeek] = fields;
    if (!minutes || !hours || !daysOfMonth || !months || !daysOfWeek) throw invalid(text, 'it needs five fields.');
    const minutesOfDay: number[] = [];
    for (const hour of hours.values) for (const minute of minutes.values) minutesOfDay.push(hour * 60 + minute);
    this.text = text;
    this.minutesOfDay = minutesOfDay.sort((left, right) => left - right);
    this.daysOfMonth = daysOfMonth;
    this.months = months;
    this.daysOfWeek = daysOfWeek;
  }

  static parse(text: string): Schedule {
    const trimmed = text.trim();
    const expanded = trimmed.startsWith('@') ? macro(text, trimmed) : trimmed;
    const parts = expanded.split(/\s+/);
    if (parts.length !== FIELDS.length) {
      throw invalid(text, 'it needs five fields: minute, hour, day of month, month, day of week.');
    }
    return new Schedule(
      text,
      FIELDS.map((bounds, index) => parseField(text, parts[index] ?? '', bounds)),
    );
  }

  /** The first hit strictly after, or `undefined` when there is none within five years. */
  next(afterMilliseconds: number): number | undefined {
    // Hits lie on whole minutes, so the search starts at the next one.
    const from = Math.floor(afterMilliseconds / MINUTE) + 1;
    const firstDay = Math.floor(from / 1440);
    const lastYear = civilDate(firstDay).year + SEARCH_YEARS;
    for (let day = firstDay; ; day += 1) {
      const date = civilDate(day);
      if (date.year > lastYear) return undefined;
      if (!this.matchesDay(day, date)) continue;
      const earliest = from - day * 1440;
      const minute = this.minutesOfDay.find((candidate) => candidate >= earliest);
      if (minute !== undefined) return day * DAY + minute * MINUTE;
    }
  }

  /** The last hit at or before, or `undefined` when there is none within five years. */
  previous(atMilliseconds: number): number | undefined {
    const from = Math.floor(atMilliseconds / MINUTE);
    const firstDay = Math.floor(from / 1440);
    const lastYear = civilDate(firstDay).year - SEARCH_YEARS;
    for (let day = firstDay; ; day -= 1) {
      const date = civilDate(day);
      if (date.year < lastYear) return undefined;
      if (!this.matchesDay(day, date)) continue;
      const latest = from - day * 1440;
      const minute = this.minutesOfDay.findLast((candidate) => candidate <= latest);
      if (minute !== undefined) return day * DAY + minute * MINUTE;
    }
  }

  toString(): string {
    return this.text;
  }

  private matchesDay(day: number, date: CivilDate): boolean {
    if (!this.months.values.has(date.month)) return false;
    const dayOfMonth = this.daysOfMonth.values.has(date.day);
    // The epoch began on a Thursday.
    const dayOfWeek = this.daysOfWeek.values.has((((day + 4) % 7) + 7) % 7);
    return this.daysOfMonth.star || this.daysOfWeek.star ? dayOfMonth && dayOfWeek : dayOfMonth || dayOfWeek;
  }
}

/** Whether a window of `durationMilliseconds`, opened by each hit, is open now. The end is exclusive. */
export function isOpen(schedule: Schedule, durationMilliseconds: number, nowMilliseconds: number): boolean {
  const hit = schedule.next(nowMilliseconds - durationMilliseconds);
  return hit !== undefined && hit <= nowMilliseconds;
}

/** When the result of `isOpen` changes next; `undefined` if no change is found. */
export function nextChange(
  schedule: Schedule,
  durationMilliseconds: number,
  nowMilliseconds: number,
): number | undefined {
  if (durationMilliseconds <= 0) return undefined;
  if (!isOpen(schedule, durationMilliseconds, nowMilliseconds)) return schedule.next(nowMilliseconds);
  let end = nowMilliseconds;
  for (let round = 0; round < MAX_PROLONGATIONS; round += 1) {
    const hit = schedule.previous(end);
    if (hit === undefined || hit + durationMilliseconds <= end) return end;
    end = hit + durationMilliseconds;
  }
  return undefined;
}

function macro(text: string, name: string): string {
  const expanded = Object.hasOwn(MACROS, name) ? MACROS[name] : undefined;
  if (expanded === undefined) throw invalid(text, `the macros are ${Object.keys(MACROS).join(', ')}.`);
  return expanded;
}

function parseField(text: string, field: string, bounds: FieldBounds): Field {
  const values = new Set<number>();
  let star = false;
  // Empty items ("1,,2") are skipped, as upstream does; a field of nothing but commas would never hit.
  const items = field.split(',').filter((item) => item !== '');
  if (items.length === 0) throw invalid(text, `the ${bounds.name} field is empty.`);
  for (const item of items) star = addRange(text, item, bounds, values) || star;
  return { values, star };
}

/** Adds the values of `*`, `n`, `n-m`, each with an optional `/step`; tells whether it was a plain star. */
function addRange(text: string, item: string, bounds: FieldBounds, values: Set<number>): boolean {
  const [range = '', stepText, ...moreSteps] = item.split('/');
  const [lowText = '', highText, ...moreHyphens] = range.split('-');
  if (moreSteps.length > 0) throw invalid(text, `"${item}" has too many slashes.`);
  const isStar = lowText === '*' || lowText === '?';
  if (moreHyphens.length > 0 && !isStar) throw invalid(text, `"${item}" has too many hyphens.`);
  const step = stepText === undefined ? 1 : parseNumber(text, stepText);
  if (step === 0) throw invalid(text, `the step of "${item}" must be positive.`);
  let low = bounds.min;
  let high = bounds.max;
  if (!isStar) {
    low = parseNameOrNumber(text, lowText, bounds);
    if (highText !== undefined) high = parseNameOrNumber(text, highText, bounds);
    // "5/10" means from 5 to the end in steps of 10.
    else if (stepText === undefined) high = low;
  }
  if (low < bounds.min || high > bounds.max || low > high) {
    throw invalid(text, `"${item}" is outside ${bounds.name} ${bounds.min}-${bounds.max} or runs backwards.`);
  }
  for (let value = low; value <= high; value += step) values.add(value);
  return isStar && step === 1;
}

function parseNameOrNumber(text: string, word: string, bounds: FieldBounds): number {
  const index = bounds.names.indexOf(word.toLowerCase());
  return index >= 0 ? bounds.min + index : parseNumber(text, word);
}

function parseNumber(text: string, word: string): number {
  if (!/^\+?\d{1,9}$/.test(word)) throw invalid(text, `"${word}" is not a number.`);
  return Number(word);
}

interface CivilDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** The Gregorian date of a day counted from the epoch; by arithmetic, as pure rooms have no Date. */
function civilDate(dayNumber: number): CivilDate {
  // Years are counted from 1 March of year 0, so that the leap day comes last in its cycle of 400 years.
  const shifted = dayNumber + 719_468;
  const cycle = Math.floor(shifted / 146_097);
  const dayOfCycle = shifted - cycle * 146_097;
  const yearOfCycle = Math.floor(
    (dayOfCycle - Math.floor(dayOfCycle / 1460) + Math.floor(dayOfCycle / 36_524) - Math.floor(dayOfCycle / 146_096)) /
      365,
  );
  const dayOfYear = dayOfCycle - (365 * yearOfCycle + Math.floor(yearOfCycle / 4) - Math.floor(yearOfCycle / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  return { year: yearOfCycle + cycle * 400 + (month <= 2 ? 1 : 0), month, day };
}

function invalid(text: string, reason: string): UnitError {
  return new UnitError('InvalidSchedule', text, `"${text}" is not a schedule: ${reason}`);
}
