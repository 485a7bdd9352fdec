/**
 * Validates that the schema of a CRD is structural: reports missing types, invalid defaults, lists without keys, and
 * rules that do not compile.
 */
import { compileCel } from '../../../api/schema/celLibrary.ts';
import { fieldErrorBody } from '../../../api/schema/fieldError.ts';
import type { StructuralSchema } from '../../../api/schema/structuralSchema.ts';
import { validate } from '../../../api/schema/validate.ts';
import { fieldsAt, isFields } from '../fields.ts';
import { Check } from './check.ts';
import { goStruct } from './goNames.ts';

export function checkStructuralSchema(schema: Check): void {
  checkFields(schema);
  checkTypes(schema, 'must not be empty at the root');
}

function childrenOf(schema: Check): readonly Check[] {
  const properties = Object.entries(fieldsAt(schema.value, 'properties') ?? {}).map(
    ([name, child]) => new Check(child, schema.place(`properties[${name}]`), schema.errors),
  );
  return [...properties, schema.at('items'), schema.at('additionalProperties')].filter(({ value }) => isFields(value));
}

/** Reports schemas without type, at any level. */
function checkTypes(schema: Check, why: string): void {
  for (const child of childrenOf(schema)) checkTypes(child, 'must not be empty for specified object fields');
  const isUntyped = ['int-or-string', 'preserve-unknown-fields'].some(
    (one) => schema.get(`x-kubernetes-${one}`) === true,
  );
  if (!isUntyped) schema.require('type', why);
}

const RULE_FIELDS = {
  Rule: '',
  Message: '',
  MessageExpression: '',
  Reason: null,
  FieldPath: '',
  OptionalOldSelf: null,
};

function checkFields(schema: Check): void {
  if (schema.get('$ref') !== undefined) schema.forbidden('$ref', '$ref is not supported');
  if (schema.get('uniqueItems') === true) {
    const why = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    schema.forbidden('uniqueItems', why);
  }
  const keys = 'x-kubernetes-list-map-keys';
  if (schema.text('x-kubernetes-list-type') === 'map' && schema.list(keys).length === 0) {
    schema.missing(keys, 'must not be empty if x-kubernetes-list-type is map');
  }
  const value = schema.get('default');
  for (const error of value === undefined ? [] : validate(schema.value as StructuralSchema, value, undefined)) {
    schema.errors.push({ field: schema.place('default'), message: fieldErrorBody(error), reason: error.type });
  }
  schema.each('x-kubernetes-validations', (rule) => {
    const problem = compileProblem(rule.text('rule'));
    if (problem === undefined) return;
    rule.invalid('rule', goStruct(rule.value, RULE_FIELDS), `compilation failed: ${problem}`);
  });
  for (const child of childrenOf(schema)) checkFields(child);
}

function compileProblem(rule: string): string | undefined {
  try {
    compileCel(rule);
    return undefined;
  } catch (error) {
    return error instanceof Error ? `ERROR: ${error.message}` : String(error);
  }
}
