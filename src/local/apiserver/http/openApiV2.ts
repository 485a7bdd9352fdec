/**
 * `/openapi/v2`, which kubectl still requests for unknown kinds: the schemas of all kinds in the older format, as JSON
 * or as protobuf, which clients prefer.
 */
import type { OpenApiSchema } from '../shape.ts';
import { message, type Value } from './protobufWriter.ts';

type Schema = OpenApiSchema & Readonly<Record<string, unknown>>;

/** Keywords that version 2 does not have. */
const DROPPED = new Set(['nullable', 'oneOf', 'anyOf', 'not', 'default', 'allOf', '$ref', 'example']);

/** Converts a schema to version 2: with other paths of references, without `allOf`, and strings for `oneOf`. */
function older(schema: Schema): Schema {
  const wrapped = schema.allOf?.length === 1 ? schema.allOf[0]?.$ref : undefined;
  const reference = schema.$ref ?? wrapped;
  const { properties, items, additionalProperties, ...rest } = schema;
  const kept = Object.entries(rest).filter(([name]) => !DROPPED.has(name));
  const members = properties && Object.entries(properties).map(([name, one]) => [name, older(one as Schema)] as const);
  return {
    ...(reference && { $ref: reference.replace('#/components/schemas/', '#/definitions/') }),
    ...Object.fromEntries(kept),
    ...(schema.oneOf !== undefined && schema.type === undefined && { type: 'string' }),
    ...(members && { properties: Object.fromEntries(members) }),
    ...(items && { items: older(items as Schema) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: older(additionalProperties as Schema) }),
  };
}

export interface OpenApiV2 {
  readonly json: string;
  readonly protobuf: Buffer;
}

export function openApiV2(schemas: Readonly<Record<string, OpenApiSchema>>, version: string): OpenApiV2 {
  const names = Object.keys(schemas).sort();
  const definitions = Object.fromEntries(names.map((name) => [name, older(schemas[name] as Schema)]));
  const info = { title: 'Kubernetes', version };
  return {
    json: JSON.stringify({ swagger: '2.0', info, paths: {}, definitions }),
    protobuf: message({
      1: '2.0',
      2: message({ 1: info.title, 2: info.version }),
      8: message({}),
      9: message({ 1: named(definitions) }),
    }),
  };
}

/** Encodes each schema as a message of its name and itself. */
function named(schemas: Readonly<Record<string, Schema>>): readonly Buffer[] {
  return Object.entries(schemas).map(([name, schema]) => message({ 1: name, 2: encode(schema) }));
}

function encode(schema: Schema): Buffer {
  const value = (name: string): Value => schema[name] as Value;
  const double = (name: string): Value => schema[name] !== undefined && { double: schema[name] as number };
  const { additionalProperties: values, items, properties, type } = schema;
  const allowed = (schema['enum'] as readonly unknown[] | undefined) ?? [];
  const extensions = Object.entries(schema).filter(([name]) => name.startsWith('x-'));
  return message({
    1: schema.$ref,
    2: schema.format,
    3: value('title'),
    4: schema.description,
    7: double('maximum'),
    8: value('exclusiveMaximum'),
    9: double('minimum'),
    10: value('exclusiveMinimum'),
    11: value('maxLength'),
    12: value('minLength'),
    13: value('pattern'),
    14: value('maxItems'),
    15: value('minItems'),
    16: value('uniqueItems'),
    19: schema.required,
    20: allowed.map(any),
    21: typeof values === 'object' ? message({ 1: encode(values as Schema) }) : undefined,
    22: type && message({ 1: type }),
    23: items && message({ 1: encode(items as Schema) }),
    25: properties && message({ 1: named(properties as Readonly<Record<string, Schema>>) }),
    31: extensions.map(([name, extension]) => message({ 1: name, 2: any(extension) })),
  });
}

/** Encodes a value as an Any message, whose YAML text may be JSON. */
const any = (value: unknown): Buffer => message({ 2: JSON.stringify(value) });
