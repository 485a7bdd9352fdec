/**
 * What Azure says when it refuses a request. `refusals.json` has its words: by code (where one code is used in several
 * ways, a dot and which one), the status and the message, with `{name}` in the place of a value.
 */
import { ArmError, type ArmErrorOptions } from './armError.ts';
import refusals from './refusals.json' with { type: 'json' };

type Value = string | number | undefined;

interface Refusal extends Pick<ArmErrorOptions, 'target' | 'details'> {
  readonly status: number;
  readonly message: string;
}

/** Makes the refusals of a table; all of them have what `always` says. */
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
