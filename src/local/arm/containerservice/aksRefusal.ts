/** The errors with which AKS refuses requests; their bodies have no `error` around the code. */
import type { ArmError } from '../armError.ts';
import { asText } from '../jsonPath.ts';
import { refusalsFrom } from '../refusal.ts';
import refusals from './refusals.json' with { type: 'json' };

export const aksRefusal = refusalsFrom(refusals, { flat: true });

/** Returns AKS's usual error for an invalid value; `details` is a sentence. */
export function invalidParameter(parameter: string, details?: string): ArmError {
  return aksRefusal('InvalidParameter', { parameter, details: details && ` Error details: ${details}` });
}

export function notOneOf(parameter: string, value: unknown, allowed: readonly string[]): ArmError {
  return invalidParameter(parameter, `'${asText(value)}' is not one of [${allowed.join(', ')}].`);
}
