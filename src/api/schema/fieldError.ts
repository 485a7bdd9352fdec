/** An error in one field, with Kubernetes' text. */
import { JsonFloat } from './json.ts';

const TITLES = {
  FieldValueRequired: 'Required value',
  FieldValueInvalid: 'Invalid value',
  FieldValueTypeInvalid: 'Invalid value',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueDuplicate: 'Duplicate value',
  FieldValueForbidden: 'Forbidden',
  FieldValueTooLong: 'Too long',
  FieldValueTooMany: 'Too many',
} as const;

export type FieldErrorType = keyof typeof TITLES;

export interface FieldError {
  readonly type: FieldErrorType;
  /** `spec.template.spec.requirements[2].values` */
  readonly field: string;
  /** The offending value; absent where printing it would not help. */
  readonly value?: unknown;
  readonly detail: string;
}

const WITHOUT_VALUE: ReadonlySet<FieldErrorType> = new Set([
  'FieldValueRequired',
  'FieldValueForbidden',
  'FieldValueTooLong',
]);

/** `spec.weight: Invalid value: 0: spec.weight in body should be greater than or equal to 1` */
export function fieldErrorText(error: FieldError): string {
  const shown = WITHOUT_VALUE.has(error.type) || !('value' in error) ? '' : `: ${valueText(error.value)}`;
  const detail = error.detail === '' ? '' : `: ${error.detail}`;
  return `${error.field}: ${TITLES[error.type]}${shown}${detail}`;
}

/** Text in the `causes` of a rejection by the API server. */
export function fieldErrorBody(error: FieldError): string {
  return fieldErrorText(error).slice(error.field.length + 2);
}

function valueText(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof JsonFloat) return String(value.value);
  return JSON.stringify(value) ?? 'null';
}

export function childPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

/** Map keys, unlike field names, are written in brackets. */
export function keyPath(path: string, key: string): string {
  return `${path}[${key}]`;
}

export function indexPath(path: string, index: number): string {
  return `${path}[${index}]`;
}
