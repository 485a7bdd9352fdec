/** The functions of ARM templates that depend on their arguments alone. */
import { createHash } from 'node:crypto';
import { asText, objectAt } from '../jsonPath.ts';
import { refusal } from '../refusal.ts';

export type TemplateFunction = (args: readonly unknown[]) => unknown;

const UNIQUE_LETTERS = 'abcdefghijklmnopqrstuvwxyz234567';
const UNIQUE_LENGTH = 13;

const text = (value: unknown): string => asText(value);
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as readonly unknown[]) : []);
const number = (value: unknown): number => Number(value);
const isSame = (left: unknown, right: unknown): boolean => JSON.stringify(left) === JSON.stringify(right);
const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || isSame(value, []) || isSame(value, {});
const sized = (value: unknown): readonly unknown[] | string =>
  typeof value === 'string' ? value : Array.isArray(value) ? list(value) : Object.keys(objectAt(value));

export const TEMPLATE_FUNCTIONS: Readonly<Record<string, TemplateFunction>> = {
  add: ([a, b]) => number(a) + number(b),
  and: (args) => args.every(Boolean),
  array: ([value]) => (Array.isArray(value) ? list(value) : [value]),
  base64: ([value]) => Buffer.from(text(value)).toString('base64'),
  base64tostring: ([value]) => Buffer.from(text(value), 'base64').toString('utf8'),
  bool: ([value]) => value === true || value === 1 || text(value).toLowerCase() === 'true',
  coalesce: (args) => args.find((each) => each !== null && each !== undefined) ?? null,
  concat: (args) => (args.some(Array.isArray) ? args.flatMap((each) => each) : args.map(text).join('')),
  contains: ([whole, part]) => contains(whole, part),
  createarray: (args) => args,
  createobject: (args) =>
    Object.fromEntries(args.flatMap((key, index) => (index % 2 === 0 ? [[text(key), args[index + 1]]] : []))),
  div: ([a, b]) => Math.trunc(number(a) / number(b)),
  empty: ([value]) => isEmpty(value),
  endswith: ([whole, part]) => text(whole).toLowerCase().endsWith(text(part).toLowerCase()),
  equals: ([a, b]) => isSame(a, b),
  false: () => false,
  first: ([value]) => sized(value)[0] ?? null,
  format: ([pattern, ...values]) =>
    text(pattern).replace(/\{(\d+)(?::[^}]*)?\}/g, (_, index: string) => text(values[Number(index)])),
  greater: ([a, b]) => (a as number) > (b as number),
  greaterorequals: ([a, b]) => (a as number) >= (b as number),
  guid: (args) => guidOf(args.map(text).join('-')),
  indexof: ([whole, part]) => text(whole).toLowerCase().indexOf(text(part).toLowerCase()),
  int: ([value]) => Math.trunc(number(value)),
  intersection: ([first, ...rest]) =>
    list(first).filter((each) => rest.every((other) => list(other).some((one) => isSame(one, each)))),
  items: ([value]) =>
    Object.entries(objectAt(value))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => ({ key, value: each })),
  join: ([values, separator]) => list(values).map(text).join(text(separator)),
  json: ([value]) => parseJson(text(value)),
  last: ([value]) => sized(value).at(-1) ?? null,
  length: ([value]) => sized(value).length,
  less: ([a, b]) => (a as number) < (b as number),
  lessorequals: ([a, b]) => (a as number) <= (b as number),
  max: (args) => Math.max(...args.flatMap((each) => each as number)),
  min: (args) => Math.min(...args.flatMap((each) => each as number)),
  mod: ([a, b]) => number(a) % number(b),
  mul: ([a, b]) => number(a) * number(b),
  not: ([value]) => value !== true,
  null: () => null,
  or: (args) => args.some(Boolean),
  padleft: ([value, length, filler = ' ']) => text(value).padStart(number(length), text(filler)),
  range: ([start, count]) => Array.from({ length: number(count) }, (_, index) => number(start) + index),
  replace: ([whole, part, other]) => text(whole).replaceAll(text(part), text(other)),
  skip: ([value, count]) => sized(value).slice(number(count)),
  split: ([whole, separator]) => {
    const letters = list(separator).map(text).join('');
    if (letters === '') return text(whole).split(text(separator));
    return text(whole).split(new RegExp(`[${letters.replace(/[\]\\^-]/g, '\\$&')}]`));
  },
  startswith: ([whole, part]) => text(whole).toLowerCase().startsWith(text(part).toLowerCase()),
  string: ([value]) => text(value),
  sub: ([a, b]) => number(a) - number(b),
  substring: ([whole, start, length]) =>
    text(whole).slice(number(start), length === undefined ? undefined : number(start) + number(length)),
  take: ([value, count]) => sized(value).slice(0, number(count)),
  tolower: ([value]) => text(value).toLowerCase(),
  toupper: ([value]) => text(value).toUpperCase(),
  trim: ([value]) => text(value).trim(),
  true: () => true,
  union: (args) =>
    args.some(Array.isArray)
      ? args.flatMap(list).filter((each, index, all) => all.findIndex((other) => isSame(other, each)) === index)
      : Object.fromEntries(args.flatMap((each) => Object.entries(objectAt(each)))),
  uniquestring: (args) => uniqueString(args.map(text).join('-')),
  uri: ([base, relative]) => new URL(text(relative), text(base)).toString(),
  uricomponent: ([value]) => encodeURIComponent(text(value)),
};

function contains(whole: unknown, part: unknown): boolean {
  if (typeof whole === 'string') return whole.toLowerCase().includes(text(part).toLowerCase());
  if (Array.isArray(whole)) return list(whole).some((each) => isSame(each, part));
  return Object.keys(objectAt(whole)).some((key) => key.toLowerCase() === text(part).toLowerCase());
}

/** Returns 13 letters and digits that follow from the text; Azure computes others. */
function uniqueString(seed: string): string {
  const bytes = createHash('sha256').update(seed).digest();
  return Array.from({ length: UNIQUE_LENGTH }, (_, index) => UNIQUE_LETTERS[(bytes[index] ?? 0) % 32]).join('');
}

function guidOf(seed: string): string {
  const hex = createHash('sha256').update(seed).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function parseJson(value: string): unknown {
  try {
    return JSON.parse(value) as unknown;
  } catch {
    throw refusal('InvalidTemplate.json', { value });
  }
}
