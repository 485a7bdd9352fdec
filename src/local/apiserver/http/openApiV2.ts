/**
 * `/openapi/v2`, which kubectl still asks for when it meets an unknown kind: the schemas of all kinds in the older
 * form, as JSON or in the protobuf form that clients prefer.
 */
import type { Fields } from '../fields.ts';
import type { OpenApiSchema } from '../shape.ts';
import { ProtobufWriter } from './protobufWriter.ts';

type Schema = OpenApiSchema & Readonly<Record<string, unknown>>;

/** Keywords that the older form does not have. */
const DROPPED = new Set(['nullable', 'oneOf', 'anyOf', 'not', 'default', 'allOf', '$ref', 'example']);

/** References point elsewhere, wrapped ones stand alone, and what may be one of several is a string. */
function older(schema: Schema): Schema {
  const wrapped = schema.allOf?.length === 1 ? schema.allOf[0]?.$ref : undefined;
  const reference = schema.$ref ?? wrapped;
  const { properties, items, additionalProperties, ...rest } = schema;
  const kept = Object.fromEntries(Object.entries(rest).filter(([name]) => !DROPPED.has(name)));
  const several = (schema as Fields)['oneOf'] !== undefined;
  return {
    ...(reference === undefined ? {} : { $ref: reference.replace('#/components/schemas/', '#/definitions/') }),
    ...kept,
    ...(several && schema.type === undefined ? { type: 'string' } : {}),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, property]) => [name, older(property as Schema)]),
          ),
        }),
    ...(items === undefined ? {} : { items: older(items as Schema) }),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: older(additionalProperties as Schema) }
      : {}),
  } as Schema;
}

export interface OpenApiV2 {
  readonly json: string;
  readonly protobuf: Buffer;
}

export function openApiV2(schemas: Readonly<Record<string, OpenApiSchema>>, version: string): OpenApiV2 {
  const names = Object.keys(schemas).sort();
  const definitions = names.map((name) => [name, older(schemas[name] as Schema)] as const);
  const info = { title: 'Kubernetes', version };
  const document = new ProtobufWriter()
    .text(1, '2.0')
    .message(2, new ProtobufWriter().text(1, info.title).text(2, info.version))
    .message(8, new ProtobufWriter());
  const all = new ProtobufWriter();
  for (const [name, schema] of definitions)
    all.message(1, new ProtobufWriter().text(1, name).message(2, encode(schema)));
  document.message(9, all);
  return {
    json: JSON.stringify({ swagger: '2.0', info, paths: {}, definitions: Object.fromEntries(definitions) }),
    protobuf: document.finish(),
  };
}

function encode(schema: Schema): ProtobufWriter {
  const text = (name: string): string | undefined => schema[name] as string | undefined;
  const number = (name: string): number | undefined => schema[name] as number | undefined;
  const writer = new ProtobufWriter()
    .text(1, schema.$ref)
    .text(2, schema.format)
    .text(3, text('title'))
    .text(4, schema.description)
    .double(7, number('maximum'))
    .flag(8, schema['exclusiveMaximum'] as boolean | undefined)
    .double(9, number('minimum'))
    .flag(10, schema['exclusiveMinimum'] as boolean | undefined)
    .integer(11, number('maxLength'))
    .integer(12, number('minLength'))
    .text(13, text('pattern'))
    .integer(14, number('maxItems'))
    .integer(15, number('minItems'))
    .flag(16, schema['uniqueItems'] as boolean | undefined)
    .texts(19, schema.required);
  for (const value of (schema['enum'] as readonly unknown[] | undefined) ?? []) writer.message(20, any(value));
  const { additionalProperties, items, properties, type } = schema;
  if (typeof additionalProperties === 'object') {
    writer.message(21, new ProtobufWriter().message(1, encode(additionalProperties as Schema)));
  }
  if (type !== undefined) writer.message(22, new ProtobufWriter().text(1, type));
  if (items !== undefined) writer.message(23, new ProtobufWriter().message(1, encode(items as Schema)));
  if (properties !== undefined) {
    const all = new ProtobufWriter();
    for (const [name, property] of Object.entries(properties)) {
      all.message(1, new ProtobufWriter().text(1, name).message(2, encode(property as Schema)));
    }
    writer.message(25, all);
  }
  for (const [name, value] of Object.entries(schema)) {
    if (name.startsWith('x-')) writer.message(31, new ProtobufWriter().text(1, name).message(2, any(value)));
  }
  return writer;
}

/** JSON is YAML. */
function any(value: unknown): ProtobufWriter {
  return new ProtobufWriter().text(2, JSON.stringify(value));
}
