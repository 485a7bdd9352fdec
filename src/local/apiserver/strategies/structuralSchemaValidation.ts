/**
 * Field errors for what makes the schema of a CRD non-structural: missing types, defaults that do not fit, lists
 * without keys, rules that do not compile.
 */
import { compileCel } from '../../../api/schema/celLibrary.ts';
import { fieldErrorBody } from '../../../api/schema/fieldError.ts';
import type { StructuralSchema } from '../../../api/schema/structuralSchema.ts';
import { validate } from '../../../api/schema/validate.ts';
import { fieldsAt, isFields, listAt, textAt, type Fields } from '../fields.ts';
import { forbiddenChange, invalidValue, required, type FieldError } from '../status.ts';
import { goStruct } from './goNames.ts';

export function checkStructuralSchema(schema: Fields, path: string): FieldError[] {
  const errors = [...checkFields(schema, path), ...checkTypes(schema, path, true)];
  return errors;
}

function childrenOf(schema: Fields, path: string): [Fields, string][] {
  const children: [Fields, string][] = Object.entries(fieldsAt(schema, 'properties') ?? {}).flatMap(([name, child]) =>
    isFields(child) ? [[child, `${path}.properties[${name}]`]] : [],
  );
  const items = fieldsAt(schema, 'items');
  if (items !== undefined) children.push([items, `${path}.items`]);
  const values = fieldsAt(schema, 'additionalProperties');
  if (values !== undefined) children.push([values, `${path}.additionalProperties`]);
  return children;
}

const isUntyped = (schema: Fields): boolean =>
  schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true;

/** Every level says what it is. */
function checkTypes(schema: Fields, path: string, isRoot: boolean): FieldError[] {
  const errors = childrenOf(schema, path).flatMap(([child, place]) => checkTypes(child, place, false));
  if ((textAt(schema, 'type') ?? '') === '' && !isUntyped(schema)) {
    const why = isRoot ? 'must not be empty at the root' : 'must not be empty for specified object fields';
    errors.push(required(`${path}.type`, why));
  }
  return errors;
}

function checkFields(schema: Fields, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (schema['$ref'] !== undefined) errors.push(forbiddenChange(`${path}.$ref`, '$ref is not supported'));
  if (schema['uniqueItems'] === true) {
    const why = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    errors.push(forbiddenChange(`${path}.uniqueItems`, why));
  }
  const listType = textAt(schema, 'x-kubernetes-list-type');
  if (listType === 'map' && listAt(schema, 'x-kubernetes-list-map-keys').length === 0) {
    const why = 'must not be empty if x-kubernetes-list-type is map';
    errors.push(required(`${path}.x-kubernetes-list-map-keys`, why));
  }
  if (schema['default'] !== undefined) {
    const problems = validate(schema as StructuralSchema, schema['default'], undefined);
    errors.push(
      ...problems.map((error) => ({
        field: `${path}.default`,
        message: fieldErrorBody(error),
        reason: error.type,
      })),
    );
  }
  listAt(schema, 'x-kubernetes-validations').forEach((rule, index) => {
    const problem = compileProblem(textAt(rule, 'rule') ?? '');
    if (problem === undefined) return;
    const shown = goStruct(rule, {
      Rule: '',
      Message: '',
      MessageExpression: '',
      Reason: null,
      FieldPath: '',
      OptionalOldSelf: null,
    });
    errors.push(
      invalidValue(`${path}.x-kubernetes-validations[${index}].rule`, shown, `compilation failed: ${problem}`),
    );
  });
  return [...errors, ...childrenOf(schema, path).flatMap(([child, place]) => checkFields(child, place))];
}

function compileProblem(rule: string): string | undefined {
  try {
    compileCel(rule);
    return undefined;
  } catch (error) {
    return error instanceof Error ? `ERROR: ${error.message}` : String(error);
  }
}
