import { ArmError, type ArmErrorOptions } from '../armError.ts';

/** A refusal of the container service: its errors come without the `error` around them. */
export function aksError(
  status: number,
  code: string,
  message: string,
  options: Pick<ArmErrorOptions, 'details' | 'target'> = {},
): ArmError {
  return new ArmError(status, code, message, { flat: true, ...options });
}

export function aksNotFound(what: string, name: string): ArmError {
  return aksError(404, 'NotFound', `Could not find the ${what} '${name}'.`);
}

/** A value that AKS does not take, in its usual words; `details` is a sentence. */
export function invalidParameter(parameter: string, details?: string): ArmError {
  const why = details === undefined ? '' : ` Error details: ${details}`;
  return aksError(
    400,
    'InvalidParameter',
    `The value of parameter ${parameter} is invalid.${why} Please see https://aka.ms/aks-naming-rules for more details.`,
    { target: parameter },
  );
}
