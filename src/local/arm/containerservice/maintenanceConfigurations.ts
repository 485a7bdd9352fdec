/** Maintenance configurations, which say when AKS may upgrade Kubernetes and node images, with AKS's validation. */
import { at, listAt, objectAt, textAt, type JsonObject } from '../jsonPath.ts';
import type { ResourceKind, ResourceWrite } from '../resources/resourceKind.ts';
import { aksRefusal } from './aksRefusal.ts';

const MAINTENANCE = 'Microsoft.ContainerService/managedClusters/maintenanceConfigurations';
const NAMES: readonly string[] = ['default', 'aksManagedAutoUpgradeSchedule', 'aksManagedNodeOSUpgradeSchedule'];
const MIN_HOURS = 4;
const MAX_HOURS = 24;
const DAYS: readonly string[] = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const WEEKS: readonly string[] = ['First', 'Second', 'Third', 'Fourth', 'Last'];

/** Members of each kind of schedule, with the range of a number or the allowed words. */
const SCHEDULES: Readonly<Record<string, Readonly<Record<string, readonly [number, number] | readonly string[]>>>> = {
  daily: { intervalDays: [1, 7] },
  weekly: { intervalWeeks: [1, 4], dayOfWeek: DAYS },
  absoluteMonthly: { intervalMonths: [1, 6], dayOfMonth: [1, 31] },
  relativeMonthly: { intervalMonths: [1, 6], dayOfWeek: DAYS, weekIndex: WEEKS },
};

export const MAINTENANCE_KIND: ResourceKind = {
  type: MAINTENANCE,
  tracked: false,
  put: 'sync',
  remove: 'sync',
  duration: 'other',
  properties: maintenanceOf,
};

function maintenanceOf({ name, body }: ResourceWrite): JsonObject {
  if (!NAMES.includes(name)) throw aksRefusal('InvalidParameter.configName');
  const properties = objectAt(body, 'properties');
  if (name === 'default') {
    checkWeek(listAt(properties, 'timeInWeek'));
    return properties;
  }
  const window = objectAt(properties, 'maintenanceWindow');
  inRange('durationHours', at(window, 'durationHours'), [MIN_HOURS, MAX_HOURS]);
  matches('startTime', textAt(window, 'startTime'), /^([01]\d|2[0-3]):[0-5]\d$/, 'hh:mm');
  matches('utcOffset', textAt(window, 'utcOffset') ?? '+00:00', /^[+-](0\d|1[0-4]):[0-5]\d$/, '+hh:mm or -hh:mm');
  if (textAt(window, 'startDate') !== undefined) isDate('startDate', textAt(window, 'startDate'));
  for (const span of listAt(window, 'notAllowedDates')) {
    const [start = '', end = ''] = [textAt(span, 'start'), textAt(span, 'end')];
    isDate('notAllowedDates.start', start);
    isDate('notAllowedDates.end', end);
    if (end < start) refuseValue('notAllowedDates', 'The end of a span must not be before its start.');
  }
  checkSchedule(objectAt(window, 'schedule'));
  return { ...properties, maintenanceWindow: { utcOffset: '+00:00', ...window } };
}

function checkSchedule(schedule: JsonObject): void {
  const kinds = Object.keys(SCHEDULES).filter(
    (kind) => at(schedule, kind) !== undefined && at(schedule, kind) !== null,
  );
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) {
    throw aksRefusal('InvalidParameter.scheduleTypes', { types: Object.keys(SCHEDULES).join(', ') });
  }
  for (const [member, allowed] of Object.entries(SCHEDULES[kind ?? ''] ?? {})) {
    const value = at(schedule, kind ?? '', member);
    const path = `schedule.${kind ?? ''}.${member}`;
    const [first] = allowed;
    if (typeof first === 'number') inRange(path, value, allowed as readonly [number, number]);
    else if (!(allowed as readonly string[]).includes(String(value))) {
      refuseValue(path, `It must be one of ${allowed.join(', ')}.`);
    }
  }
}

function inRange(path: string, value: unknown, [least, most]: readonly [number, number]): void {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return;
  refuseValue(path, `It must be between ${least} and ${most}.`);
}

function matches(path: string, value: string | undefined, pattern: RegExp, form: string): void {
  if (value !== undefined && pattern.test(value)) return;
  refuseValue(path, `It must be of the form ${form}.`);
}

/** Throws unless the value is a day of the calendar. */
function isDate(path: string, value: string | undefined): void {
  matches(path, value, /^\d{4}-\d{2}-\d{2}$/, 'yyyy-mm-dd');
  const day = new Date(`${value}T00:00:00Z`);
  if (!Number.isNaN(day.getTime()) && day.toISOString().startsWith(`${value}T`)) return;
  refuseValue(path, `There is no day ${value}.`);
}

/** Throws for invalid hours of the week, in which AKS may maintain the cluster itself. */
function checkWeek(hours: readonly unknown[]): void {
  for (const each of hours) {
    const day = textAt(each, 'day') ?? '';
    const slots = listAt(each, 'hourSlots');
    const isKnown = slots.every((slot) => typeof slot === 'number' && Number.isInteger(slot) && slot >= 0 && slot < 24);
    if (DAYS.includes(day) && isKnown) continue;
    throw aksRefusal('InvalidParameter.timeInWeek', { days: DAYS.join(', ') });
  }
}

function refuseValue(path: string, why: string): never {
  throw aksRefusal('InvalidParameter.window', { path, why });
}
