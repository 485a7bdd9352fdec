import { ArmError, type ArmErrorDetail } from '../armError.ts';

/** A refusal of the container service: its errors come without the `error` around them. */
export function aksError(status: number, code: string, message: string, details?: readonly ArmErrorDetail[]): ArmError {
  return new ArmError(status, code, message, { flat: true, ...(details && { details }) });
}

export function aksNotFound(what: string, name: string): ArmError {
  return aksError(404, 'NotFound', `Could not find the ${what} '${name}'.`);
}
