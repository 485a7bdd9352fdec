/** Additional checks for kinds with a scale subresource. */
import type { FieldError } from './fieldError.ts';
import { asInteger, isJsonObject } from './json.ts';

const MAX_INT32 = 2_147_483_647n;

/** Both counts must be integers as written (`3.0` is none), and fit 32 bits. */
export function validateScale(
  paths: { readonly specReplicasPath: string; readonly statusReplicasPath: string },
  object: unknown,
): FieldError[] {
  return [paths.specReplicasPath, paths.statusReplicasPath].flatMap((path) => validateCount(path, object));
}

function validateCount(path: string, object: unknown): FieldError[] {
  let value = object;
  for (const name of path.replace(/^\./, '').split('.')) {
    if (value === undefined) return [];
    if (!isJsonObject(value)) return [invalid(path, 0, `${path} accessor error: ${name} is not below an object`)];
    value = value[name];
  }
  if (value === undefined) return [];
  const count = asInteger(value);
  if (count === undefined) return [invalid(path, 0, `${path} accessor error: the value is not a 64-bit integer`)];
  if (count < 0n) return [invalid(path, count, 'should be a non-negative integer')];
  if (count > MAX_INT32) return [invalid(path, count, `should be less than or equal to ${MAX_INT32}`)];
  return [];
}

function invalid(field: string, value: unknown, detail: string): FieldError {
  return { type: 'FieldValueInvalid', field, value, detail };
}
