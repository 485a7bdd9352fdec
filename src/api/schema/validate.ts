/**
 * Validates an object, after defaulting and pruning, as the API server would; on an update also against the stored
 * object. No errors means that it is accepted.
 */
import { Correlation } from './correlation.ts';
import type { FieldError, FieldErrorType } from './fieldError.ts';
import { validateListTypes } from './listTypes.ts';
import { hasRules, validateRules } from './rules.ts';
import type { StructuralSchema } from './structuralSchema.ts';
import { validateValue } from './valueValidation.ts';

/** After such errors the object's shape may be wrong for rules, so they are not run. */
const BLOCKING: ReadonlySet<FieldErrorType> = new Set<FieldErrorType>([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

export function validate(schema: StructuralSchema, value: unknown, old?: unknown): FieldError[] {
  const correlation = old === undefined ? undefined : new Correlation(schema, value, old);
  const errors = [...validateValue(schema, '', value, correlation)];
  // Lists that already had duplicates may keep them.
  if (old === undefined || validateListTypes(schema, '', old).length === 0) {
    errors.push(...validateListTypes(schema, '', value));
  }
  if (hasRules(schema) && errors.some((error) => BLOCKING.has(error.type))) {
    return [
      ...errors,
      {
        type: 'FieldValueInvalid',
        field: '<nil>',
        value: null,
        detail:
          'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
      },
    ];
  }
  return [...errors, ...validateRules(schema, value, old)];
}
