/** The basic kinds of option values: how each is parsed and described. */
import { Duration } from '../units/duration.ts';
import { Quantity } from '../units/quantity.ts';
import { UnitError } from '../units/unitError.ts';
import type { OptionKind, OptionSource, ParseFailure, ParseOutcome } from './optionDefinition.ts';

/** The spellings of Go's ParseBool, because existing deployments use them in their environment. */
const ENVIRONMENT_BOOLEANS: Readonly<Record<string, boolean>> = {
  '1': true,
  t: true,
  T: true,
  true: true,
  TRUE: true,
  True: true,
  '0': false,
  f: false,
  F: false,
  false: false,
  FALSE: false,
  False: false,
};

export function parseBoolean(text: string): boolean | undefined {
  return Object.hasOwn(ENVIRONMENT_BOOLEANS, text) ? ENVIRONMENT_BOOLEANS[text] : undefined;
}

function fail(...problems: string[]): ParseFailure {
  return { problems };
}

export const flagSwitch: OptionKind<boolean> = {
  placeholder: 'true|false',
  allowed: 'true or false',
  emptyIsValue: false,
  isSwitch: true,
  parse(text: string, source: OptionSource) {
    if (text === 'true') return { value: true };
    if (text === 'false') return { value: false };
    const value = source === 'environment' ? parseBoolean(text.trim()) : undefined;
    return value === undefined ? fail('is not a yes-or-no value') : { value };
  },
};

export const plainText: OptionKind<string> = {
  placeholder: 'text',
  allowed: 'any text',
  emptyIsValue: true,
  parse: (text) => ({ value: text.trim() }),
};

/** Text that is not empty: for required names and secrets. */
export const nonEmptyText: OptionKind<string> = {
  placeholder: 'text',
  allowed: 'any text that is not empty',
  emptyIsValue: false,
  parse: (text) => (text.trim() === '' ? fail('is empty') : { value: text.trim() }),
};

export function integer(range: { placeholder?: string; minimum?: number; maximum?: number } = {}): OptionKind<number> {
  const { placeholder = 'number', minimum, maximum } = range;
  const allowed = `a whole number${rangeText(minimum, maximum)}`;
  return {
    placeholder,
    allowed,
    emptyIsValue: false,
    parse(text) {
      if (!/^[+-]?\d{1,15}$/.test(text.trim())) return fail('is not a whole number');
      return inRange(Number(text), minimum, maximum);
    },
  };
}

export function decimalNumber(range: { minimum?: number; maximum?: number } = {}): OptionKind<number> {
  return {
    placeholder: 'number',
    allowed: `a number${rangeText(range.minimum, range.maximum)}`,
    emptyIsValue: false,
    parse(text) {
      if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?$/.test(text.trim())) return fail('is not a number');
      return inRange(Number(text), range.minimum, range.maximum);
    },
  };
}

export const port: OptionKind<number> = {
  ...integer({ placeholder: 'port', minimum: 0, maximum: 65_535 }),
  allowed: 'a port from 1 to 65535, or 0 for any free one',
};

/** Bytes, as a plain number or a Kubernetes quantity; zero or less means no limit. */
export const byteLimit: OptionKind<number | undefined> = {
  placeholder: 'quantity',
  allowed: 'a number of bytes or a quantity such as 1Gi; -1 for no limit',
  emptyIsValue: false,
  parse(text) {
    return guarded(() => {
      const bytes = Quantity.parse(text.trim()).value();
      return { value: bytes > 0 ? bytes : undefined };
    });
  },
};

export function duration(range: { minimum?: string } = {}): OptionKind<Duration> {
  const minimum = Duration.parse(range.minimum ?? '0s');
  return {
    placeholder: 'duration',
    allowed: `a duration such as 300ms, 10s or 1m30s, at least ${minimum.toString()}`,
    emptyIsValue: false,
    parse(text) {
      return guarded(() => {
        const value = Duration.parse(text.trim());
        return value.compare(minimum) < 0 ? fail('is too short') : { value };
      });
    },
  };
}

export function oneOf<const T extends string>(...values: readonly T[]): OptionKind<T> {
  return {
    placeholder: values.map((value) => (value === '' ? '""' : value)).join('|'),
    allowed: values.map((value) => (value === '' ? 'empty' : value)).join(', '),
    emptyIsValue: values.some((value) => value === ''),
    parse(text) {
      const value = values.find((candidate) => candidate === text.trim());
      return value === undefined ? fail('is not one of the choices') : { value };
    },
  };
}

export const commaList: OptionKind<readonly string[]> = {
  placeholder: 'list',
  allowed: 'items separated by commas',
  emptyIsValue: true,
  parse: (text) => ({
    value: text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  }),
};

export function matching(rule: {
  placeholder: string;
  allowed: string;
  pattern: RegExp;
  problem: string;
}): OptionKind<string> {
  return {
    placeholder: rule.placeholder,
    allowed: rule.allowed,
    emptyIsValue: false,
    parse: (text) => (rule.pattern.test(text.trim()) ? { value: text.trim() } : fail(rule.problem)),
  };
}

/** A list with at least one item. */
export const nonEmptyList: OptionKind<readonly string[]> = {
  ...commaList,
  allowed: 'one or more items separated by commas',
  emptyIsValue: false,
  parse(text, source) {
    const outcome = commaList.parse(text, source);
    return 'value' in outcome && outcome.value.length === 0 ? fail('names nothing') : outcome;
  },
};

/** The same kind, where an empty text means "not set". */
export function optional<T>(kind: OptionKind<T>): OptionKind<T | undefined> {
  return {
    placeholder: kind.placeholder,
    allowed: `${kind.allowed}, or empty`,
    emptyIsValue: true,
    parse: (text, source) => (text.trim() === '' ? { value: undefined } : kind.parse(text, source)),
  };
}

function inRange(value: number, minimum: number | undefined, maximum: number | undefined): ParseOutcome<number> {
  if (minimum !== undefined && value < minimum) return fail('is too small');
  if (maximum !== undefined && value > maximum) return fail('is too large');
  return { value };
}

function rangeText(minimum: number | undefined, maximum: number | undefined): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return ` of at least ${minimum}`;
  return maximum === undefined ? '' : ` of at most ${maximum}`;
}

function guarded<T>(read: () => ParseOutcome<T>): ParseOutcome<T> {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnitError) return fail('cannot be read');
    throw error;
  }
}
