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

export function notAllowed(why: string): ArmError {
  return aksError(400, 'OperationNotAllowed', why);
}

/** A change of what stays as it was made. */
export function changeNotAllowed(property: string): ArmError {
  const why = `Changing property '${property}' is not allowed.`;
  return aksError(400, 'PropertyChangeNotAllowed', why, { target: property });
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
