/**
 * The errors with which Azure refuses requests. `refusals.json` has status and message by code (a code with several
 * messages has a suffix after a dot); `{name}` stands for a value.
 */
import { ArmError, type ArmErrorOptions } from './armError.ts';
import refusals from './refusals.json' with { type: 'json' };

type Value = string | number | undefined;

interface Refusal extends Pick<ArmErrorOptions, 'target' | 'details'> {
  readonly status: number;
  readonly message: string;
}

/** Returns a function that makes the errors of a table; all of them have the options in `always`. */
export function refusalsFrom<Key extends string>(table: Readonly<Record<Key, Refusal>>, always: ArmErrorOptions = {}) {
  return (
    key: Key,
    values: Readonly<Record<string, Value>> = {},
    options: Omit<ArmErrorOptions, 'target' | 'flat'> = {},
  ): ArmError => {
    const filled = (text: string): string =>
      text.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => String(values[name] ?? ''));
    const { status, message, target, ...fixed } = table[key];
    const where = target === undefined ? {} : { target: filled(target) };
    return new ArmError(status, key.split('.')[0] ?? '', filled(message), {
      ...always,
      ...fixed,
      ...where,
      ...options,
    });
  };
}

export const refusal = refusalsFrom(refusals);
