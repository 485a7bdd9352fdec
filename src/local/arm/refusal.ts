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

const TABLE: Readonly<Record<keyof typeof refusals, Refusal>> = refusals;

export function refusal(
  key: keyof typeof refusals,
  values: Readonly<Record<string, Value>> = {},
  options: ArmErrorOptions = {},
): ArmError {
  const { status, message, ...fixed } = TABLE[key];
  const [code = ''] = key.split('.');
  const text = message.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => String(values[name] ?? ''));
  return new ArmError(status, code, text, { ...fixed, ...options });
}
