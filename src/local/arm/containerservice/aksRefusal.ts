/** What AKS says when it refuses a request. Its errors come without the `error` around them. */
import type { ArmError } from '../armError.ts';
import { asText } from '../jsonPath.ts';
import { refusalsFrom } from '../refusal.ts';
import refusals from './refusals.json' with { type: 'json' };

export const aksRefusal = refusalsFrom(refusals, { flat: true });

/** A value that AKS does not take, in its usual words; `details` is a sentence. */
export function invalidParameter(parameter: string, details?: string): ArmError {
  return aksRefusal('InvalidParameter', { parameter, details: details && ` Error details: ${details}` });
}

export function notOneOf(parameter: string, value: unknown, allowed: readonly string[]): ArmError {
  return invalidParameter(parameter, `'${asText(value)}' is not one of [${allowed.join(', ')}].`);
}
