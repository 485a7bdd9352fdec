/**
 * Checks a value against the types, bounds, patterns and enums of its schema, with the API server's messages and order
 * of checks. Nearly every value is valid, so the path without errors allocates nothing.
 */
import type { Correlation } from './correlation.ts';
import type { FieldError, FieldErrorType } from './fieldError.ts';
import { formatCheck } from './formats.ts';
import { asInteger, isJsonObject, JsonFloat, jsonEqual } from './json.ts';
import { floatOf, isWhole, validateNumber } from './numberValidation.ts';
import { matchesPattern } from './pattern.ts';
import type { StructuralSchema } from './structuralSchema.ts';

type Kind = 'null' | 'boolean' | 'string' | 'integer' | 'number' | 'array' | 'object';

const NONE: readonly FieldError[] = [];

/** `value` replaces the old value in `correlation`, if there is one. */
export function validateValue(
  schema: StructuralSchema,
  path: string,
  value: unknown,
  correlation?: Correlation,
): readonly FieldError[] {
  const errors = check(schema, path, value, correlation);
  return errors.length > 0 && correlation?.unchanged() === true ? NONE : errors;
}

function check(
  schema: StructuralSchema,
  path: string,
  value: unknown,
  correlation?: Correlation,
): readonly FieldError[] {
  const kind = kindOf(value);
  let errors = checkType(schema, path, kind, value);
  if (kind === 'null') return joined(errors, checkEnum(schema, path, value));
  errors = joined(errors, checkCombinations(schema, path, value));
  if (typeof value === 'string') {
    errors = joined(errors, checkString(schema, path, value));
    errors = joined(errors, checkFormat(schema, path, value));
  }
  if (kind === 'integer' || kind === 'number') errors = joined(errors, validateNumber(schema, path, value));
  if (Array.isArray(value)) errors = joined(errors, checkArray(schema, path, value, correlation));
  errors = joined(errors, checkEnum(schema, path, value));
  return isJsonObject(value) ? joined(errors, checkObject(schema, path, value, correlation)) : errors;
}

function joined(left: readonly FieldError[], right: readonly FieldError[]): readonly FieldError[] {
  if (left.length === 0) return right;
  return right.length === 0 ? left : [...left, ...right];
}

function kindOf(value: unknown): Kind {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  if (asInteger(value) !== undefined) return 'integer';
  if (typeof value === 'number' || value instanceof JsonFloat) return 'number';
  if (typeof value === 'string') return 'string';
  return typeof value === 'boolean' ? 'boolean' : 'object';
}

function typesOf(schema: StructuralSchema): string[] {
  if (schema['x-kubernetes-int-or-string'] === true) return ['integer', 'string'];
  return schema.type === undefined ? [] : [schema.type];
}

/** Formats are only checked where the API server supports them for the type. */
function effectiveFormat(schema: StructuralSchema): string {
  const { format } = schema;
  if (format === undefined) return '';
  if (schema['x-kubernetes-int-or-string'] === true) return '';
  if (schema.type === undefined || schema.type === 'string') return formatCheck(format) === undefined ? '' : format;
  return NUMBER_FORMATS[schema.type]?.includes(format) === true ? format : '';
}

const NUMBER_FORMATS: Readonly<Partial<Record<string, readonly string[]>>> = {
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
};

const VALUE_FORMATS: Readonly<Partial<Record<Kind, string>>> = { integer: 'int64', number: 'float64' };

function checkType(schema: StructuralSchema, path: string, kind: Kind, value: unknown): readonly FieldError[] {
  if (schema.type === kind && schema.format === undefined) return NONE;
  const types = typesOf(schema);
  const format = effectiveFormat(schema);
  if (types.length === 0 && format === '') return NONE;
  if (kind === 'null') {
    return types.length > 0 && schema.nullable !== true ? [typeError(path, types.join(','), 'null')] : NONE;
  }
  const numeric = types.includes('number') || types.includes('integer');
  const fits =
    types.includes(kind) ||
    (kind === 'integer' && types.includes('number')) ||
    (kind === 'number' && types.includes('integer') && isWhole(floatOf(value)));
  if (kind !== 'string' && kind !== 'array' && format !== '' && !fits) {
    return [typeError(path, format, VALUE_FORMATS[kind] ?? '')];
  }
  // In place of a formatted string, the server leaves a list to the format check, which ignores it.
  if (!numeric && format !== '' && (kind === 'string' || kind === 'array')) return NONE;
  return fits ? NONE : [typeError(path, types.join(','), kind)];
}

function typeError(path: string, expected: string, found: string): FieldError {
  return {
    type: 'FieldValueTypeInvalid',
    field: pathOrNil(path),
    value: found,
    detail: `${path} in body must be of type ${expected}: ${JSON.stringify(found)}`,
  };
}

function pathOrNil(path: string): string {
  return path === '' ? '<nil>' : path.replace(/^\./, '');
}

function invalid(type: FieldErrorType, path: string, value: unknown, detail: string): FieldError {
  return { type, field: pathOrNil(path), value, detail };
}

function checkString(schema: StructuralSchema, path: string, value: string): readonly FieldError[] {
  const { minLength, maxLength, pattern } = schema;
  if (minLength === undefined && maxLength === undefined && pattern === undefined) return NONE;
  const length = Array.from(value).length;
  if (maxLength !== undefined && length > maxLength) {
    return [
      {
        type: 'FieldValueTooLong',
        field: pathOrNil(path),
        detail: `may not be more than ${maxLength} byte${plural(maxLength)}`,
      },
    ];
  }
  if (minLength !== undefined && length < minLength) {
    const detail = `${path} in body should be at least ${minLength} chars long`;
    return [invalid('FieldValueInvalid', path, value, detail)];
  }
  if (pattern !== undefined && pattern !== '' && !matchesPattern(pattern, value)) {
    return [invalid('FieldValueInvalid', path, value, `${path} in body should match '${pattern}'`)];
  }
  return NONE;
}

function checkFormat(schema: StructuralSchema, path: string, value: string): readonly FieldError[] {
  const format = effectiveFormat(schema);
  const test = schema.type === 'string' || schema.type === undefined ? formatCheck(format) : undefined;
  if (format === '' || test === undefined || test(value)) return NONE;
  const detail = `${path} in body must be of type ${format}: ${JSON.stringify(value)}`;
  return [invalid('FieldValueTypeInvalid', path, value, detail)];
}

function checkEnum(schema: StructuralSchema, path: string, value: unknown): readonly FieldError[] {
  const allowed = schema.enum;
  if (allowed === undefined || allowed.length === 0) return NONE;
  const plain = value instanceof JsonFloat ? value.value : value;
  if (allowed.some((candidate) => jsonEqual(candidate, plain))) return NONE;
  const names = allowed.map((each) => JSON.stringify(typeof each === 'string' ? each : JSON.stringify(each)));
  return [invalid('FieldValueNotSupported', path, value ?? null, `supported values: ${names.join(', ')}`)];
}

function checkArray(
  schema: StructuralSchema,
  path: string,
  value: readonly unknown[],
  correlation?: Correlation,
): FieldError[] {
  const { items, minItems, maxItems } = schema;
  const errors: FieldError[] = [];
  if (items !== undefined) {
    value.forEach((item, at) => errors.push(...validateValue(items, `${path}[${at}]`, item, correlation?.index(at))));
  }
  if (minItems !== undefined && value.length < minItems) {
    const detail = `${path} in body should have at least ${minItems} items`;
    errors.push(invalid('FieldValueInvalid', path, value.length, detail));
  }
  if (maxItems !== undefined && value.length > maxItems) {
    errors.push(
      invalid('FieldValueTooMany', path, value.length, `must have at most ${maxItems} item${plural(maxItems)}`),
    );
  }
  if (schema.uniqueItems === true && hasDuplicates(value)) {
    errors.push(invalid('FieldValueInvalid', path, '', `${path} in body shouldn't contain duplicates`));
  }
  return errors;
}

function plural(count: number): string {
  return count === 1 ? '' : 's';
}

function hasDuplicates(values: readonly unknown[]): boolean {
  return values.some((value, at) => values.slice(0, at).some((earlier) => jsonEqual(earlier, value)));
}

function checkObject(
  schema: StructuralSchema,
  path: string,
  value: Readonly<Record<string, unknown>>,
  correlation?: Correlation,
): FieldError[] {
  const errors: FieldError[] = [];
  const names = Object.keys(value);
  const properties = schema.properties ?? {};
  const { minProperties, maxProperties, additionalProperties } = schema;
  if (minProperties !== undefined && names.length < minProperties) {
    const detail = `${path} in body should have at least ${minProperties} properties`;
    errors.push(invalid('FieldValueInvalid', path, names.length, detail));
  }
  if (maxProperties !== undefined && names.length > maxProperties) {
    const detail = `must have at most ${maxProperties} item${plural(maxProperties)}`;
    errors.push(invalid('FieldValueTooMany', path, names.length, detail));
  }
  for (const name of names) {
    if (Object.hasOwn(properties, name)) continue;
    if (additionalProperties === false) {
      errors.push(invalid('FieldValueInvalid', path, name, `${path}.${name} in body is a forbidden property`));
    } else if (typeof additionalProperties === 'object') {
      errors.push(...validateValue(additionalProperties, `${path}.${name}`, value[name], correlation?.key(name)));
    }
  }
  for (const name in properties) {
    const property = properties[name];
    if (property === undefined || !Object.hasOwn(value, name)) continue;
    const inner = path === '' ? name : `${path}.${name}`;
    const typeMeta = path === '' && (name === 'apiVersion' || name === 'kind');
    errors.push(...validateValue(property, inner, value[name], typeMeta ? undefined : correlation?.key(name)));
  }
  for (const name of schema.required ?? []) {
    if (Object.hasOwn(value, name)) continue;
    errors.push({ type: 'FieldValueRequired', field: pathOrNil(`${path}.${name}`), detail: '' });
  }
  return errors;
}

function checkCombinations(schema: StructuralSchema, path: string, value: unknown): readonly FieldError[] {
  const { anyOf, oneOf, allOf, not } = schema;
  if (anyOf === undefined && oneOf === undefined && allOf === undefined && not === undefined) return NONE;
  const errors: FieldError[] = [];
  const combined = (detail: string) =>
    errors.push(invalid('FieldValueInvalid', '', '', `${JSON.stringify(path)} ${detail}`));
  const attempts = (schemas: readonly StructuralSchema[]) => schemas.map((each) => validateValue(each, path, value));

  const any = attempts(anyOf ?? []);
  if (any.length > 0 && any.every((found) => found.length > 0)) {
    combined('must validate at least one schema (anyOf)');
    errors.push(...(any[0] ?? []));
  }
  const one = attempts(oneOf ?? []);
  const valid = one.filter((found) => found.length === 0).length;
  if (one.length > 0 && valid !== 1) {
    const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
    combined(`must validate one and only one schema (oneOf). ${found}`);
    if (valid === 0) errors.push(...(one[0] ?? []));
  }
  const all = attempts(allOf ?? []);
  errors.push(...all.flat());
  if (all.some((found) => found.length > 0)) {
    combined(
      `must validate all the schemas (allOf)${all.every((found) => found.length > 0) ? '. None validated' : ''}`,
    );
  }
  if (not !== undefined && validateValue(not, path, value).length === 0) {
    combined('must not validate the schema (not)');
  }
  return errors;
}
