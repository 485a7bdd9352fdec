/** Checks ranges, multiples and integrality of numbers. */
import type { FieldError } from './fieldError.ts';
import { asInteger, JsonFloat } from './json.ts';
import type { StructuralSchema } from './structuralSchema.ts';

const MAX_INT32 = 2 ** 31 - 1;
const MIN_INT32 = -(2 ** 31);

export function validateNumber(schema: StructuralSchema, path: string, value: unknown): FieldError[] {
  const exact = asInteger(value);
  const number = exact === undefined ? floatOf(value) : Number(exact);
  const errors: FieldError[] = [];
  const wrong = (detail: string) =>
    errors.push({ type: 'FieldValueInvalid', field: path === '' ? '<nil>' : path, value, detail: `${path} ${detail}` });

  const range = rangeError(schema, exact, number);
  if (range !== undefined) {
    errors.push({
      type: 'FieldValueInvalid',
      field: '<nil>',
      value: '',
      detail: `Checked value must be of type ${range} in ${path}`,
    });
  }
  const { minimum, maximum, multipleOf } = schema;
  if (multipleOf !== undefined && !isWhole(multipleOf < 1 ? (1 / multipleOf) * number : number / multipleOf)) {
    wrong(`in body should be a multiple of ${multipleOf}`);
  }
  if (minimum !== undefined && (schema.exclusiveMinimum === true ? number <= minimum : number < minimum)) {
    wrong(`in body should be greater than ${schema.exclusiveMinimum === true ? '' : 'or equal to '}${minimum}`);
  }
  if (maximum !== undefined && (schema.exclusiveMaximum === true ? number >= maximum : number > maximum)) {
    wrong(`in body should be less than ${schema.exclusiveMaximum === true ? '' : 'or equal to '}${maximum}`);
  }
  return errors;
}

/** The type whose range the value exceeds, if any. */
function rangeError(schema: StructuralSchema, exact: bigint | undefined, number: number): string | undefined {
  if (schema.type === 'integer') {
    const digitsOnly = exact !== undefined || Number.isInteger(number);
    const limit = schema.format === 'int32' ? number <= MAX_INT32 && number >= MIN_INT32 : Math.abs(number) < 2 ** 63;
    if (digitsOnly && (exact !== undefined && schema.format !== 'int32' ? true : limit)) return undefined;
    const { format } = schema;
    return format === 'int32' || format === 'int64' ? `integer with format ${format}` : 'integer (default format)';
  }
  if (schema.type === 'number' && schema.format === 'float' && !Number.isFinite(Math.fround(number))) {
    return 'number with format float';
  }
  return undefined;
}

export function floatOf(value: unknown): number {
  return value instanceof JsonFloat ? value.value : Number(value);
}

const TOLERANCE = 1e-9;

/** Integral within the server's rounding tolerance. */
export function isWhole(number: number): boolean {
  if (!Number.isFinite(number) || Math.abs(number) > Number.MAX_SAFE_INTEGER) return false;
  if (Number.isInteger(number)) return true;
  // Only for positive numbers: the server rounds towards an unsigned integer.
  if (number <= 0) return false;
  const whole = Math.trunc(number);
  return whole !== 0 && (number - whole) / (number + whole) < TOLERANCE;
}
