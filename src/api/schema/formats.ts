/** The string formats that the API server checks. */
import { Duration } from '../../units/duration.ts';

type Check = (text: string) => boolean;

const matches =
  (pattern: RegExp): Check =>
  (text) =>
    pattern.test(text);

const HEX = '[0-9a-f]';
const uuid = (third: string, fourth: string) =>
  matches(new RegExp(`^${HEX}{8}-?${HEX}{4}-?${third}-?${fourth}-?${HEX}{12}$`, 'i'));

/** By normalized name: dashes are ignored, so `date-time` is `datetime`. */
const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['datetime', isDateTime],
  ['date', isDate],
  ['duration', isDuration],
  ['byte', isBase64],
  ['password', () => true],
  ['uuid', uuid(`${HEX}{4}`, `${HEX}{4}`)],
  ['uuid3', uuid(`3${HEX}{3}`, `${HEX}{4}`)],
  ['uuid4', uuid(`4${HEX}{3}`, `[89ab]${HEX}{3}`)],
  ['uuid5', uuid(`5${HEX}{3}`, `[89ab]${HEX}{3}`)],
  ['ipv4', isIpv4],
  ['ipv6', isIpv6],
  ['cidr', isCidr],
  ['mac', isMac],
  ['uri', isRequestUri],
  ['email', matches(/^[^\s@<>]+@[^\s@<>]+$/)],
  ['hostname', isHostname],
  ['hexcolor', matches(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  [
    'rgbcolor',
    matches(/^rgb\(\s*(0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])\s*(,\s*(0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])\s*){2}\)$/),
  ],
  ['ssn', matches(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/)],
  ['bsonobjectid', matches(/^[0-9a-fA-F]{24}$/)],
  ['isbn10', (text) => isIsbn10(text)],
  ['isbn13', (text) => isIsbn13(text)],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['creditcard', isCreditCard],
  ['k8sshortname', (text) => text.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text)],
  [
    'k8slongname',
    (text) => text.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(text),
  ],
]);

/** Undefined for formats that are only annotations and not checked. */
export function formatCheck(format: string): Check | undefined {
  return CHECKS.get(format.replaceAll('-', ''));
}

const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isDate(text: string): boolean {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (parts === null) return false;
  const [year, month, day] = parts.slice(1).map(Number) as [number, number, number];
  const leap = month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day >= 1 && day <= (MONTH_DAYS[month - 1] ?? 0) + (leap ? 1 : 0);
}

function isDateTime(text: string): boolean {
  const [date, time] = text.toLowerCase().split('t');
  if (date === undefined || time === undefined || !isDate(date)) return false;
  const parts = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$/.exec(time);
  return parts !== null && (parts[1] ?? '') <= '23' && (parts[2] ?? '') <= '59' && (parts[3] ?? '') <= '59';
}

const DURATION_WORDS = /^(ns|nano.*|us|µs|micro.*|ms|milli.*|s|sec.*|m|min.*|h|hr|hour.*|d|day.*|w|wk|week.*)$/;

/** Go's notation, or a form like `3 days`. */
function isDuration(text: string): boolean {
  if (Duration.tryParse(text) !== undefined) return true;
  return [...text.matchAll(/\d+\s*([A-Za-zµ]+)/g)].some((part) => DURATION_WORDS.test((part[1] ?? '').toLowerCase()));
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text !== '';
}

function isIpv4(text: string): boolean {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((part) => /^(0|[1-9][0-9]{0,2})$/.test(part) && Number(part) <= 255);
}

function isIpv6(text: string): boolean {
  if (!text.includes(':')) return false;
  const halves = text.split('::');
  if (halves.length > 2) return false;
  const groups = halves.map((half) => (half === '' ? [] : half.split(':')));
  const all = groups.flat();
  const last = all.at(-1);
  const dotted = last !== undefined && last.includes('.');
  if (dotted && !isIpv4(last)) return false;
  const hex = dotted ? all.slice(0, -1) : all;
  const size = hex.length + (dotted ? 2 : 0);
  return hex.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group)) && (halves.length === 2 ? size <= 7 : size === 8);
}

function isCidr(text: string): boolean {
  const [address, length, extra] = text.split('/');
  if (address === undefined || length === undefined || extra !== undefined) return false;
  if (!/^(0|[1-9][0-9]{0,2})$/.test(length)) return false;
  return (isIpv4(address) && Number(length) <= 32) || (isIpv6(address) && Number(length) <= 128);
}

function isMac(text: string): boolean {
  const colons = /^[0-9a-fA-F]{2}(([:-])[0-9a-fA-F]{2})(\2[0-9a-fA-F]{2})*$/;
  const dots = /^[0-9a-fA-F]{4}(\.[0-9a-fA-F]{4})+$/;
  const bytes = text.replaceAll(/[:.-]/g, '').length / 2;
  return (colons.test(text) || dots.test(text)) && [6, 8, 20].includes(bytes);
}

function isRequestUri(text: string): boolean {
  return /^(\/|[a-zA-Z][a-zA-Z0-9+.-]*:)/.test(text) && !/[\s\u007F]|%(?![0-9a-fA-F]{2})/.test(text);
}

function isHostname(text: string): boolean {
  const label = '[a-zA-Z0-9\\p{S}\\p{L}]';
  const single = `${label}((-?${label}{0,62})?)`;
  const dotted = `(${label}(([a-zA-Z0-9\\-\\p{S}\\p{L}]{0,61}${label})?)(\\.)){1,}([a-zA-Z\\p{L}]){2,63}`;
  return (
    new RegExp(`^(${single}|${dotted})$`, 'u').test(text) &&
    text.length <= 255 &&
    text.split('.').every((part) => part.length <= 63)
  );
}

function isIsbn10(text: string): boolean {
  const digits = text.replaceAll(/[ -]/g, '');
  if (!/^[0-9]{9}[0-9X]$/.test(digits)) return false;
  const sum = Array.from(digits).reduce(
    (total, digit, index) => total + (digit === 'X' ? 10 : Number(digit)) * (index + 1),
    0,
  );
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replaceAll(/[ -]/g, '');
  if (!/^[0-9]{13}$/.test(digits)) return false;
  return (
    Array.from(digits).reduce((total, digit, index) => total + Number(digit) * (index % 2 === 0 ? 1 : 3), 0) % 10 === 0
  );
}

function isCreditCard(text: string): boolean {
  const digits = text.replaceAll(/[^0-9]+/g, '');
  const known =
    /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/;
  if (!known.test(digits)) return false;
  const sum = Array.from(digits)
    .reverse()
    .reduce((total, digit, index) => {
      const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
      return total + (value > 9 ? value - 9 : value);
    }, 0);
  return sum % 10 === 0;
}
