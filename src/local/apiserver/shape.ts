/**
 * The structure of a kind, from the OpenAPI schema of a built-in type or a CRD, as a tree of `Shape`s that pruning,
 * strategic merge and server-side apply walk together with a value.
 */
import { InvariantError } from '../../errors/invariantError.ts';
import { deepFreeze, isFields, type Fields } from './fields.ts';
import zeroValues from './schemas/zeroValues.json' with { type: 'json' };

/** The fields of an OpenAPI schema that the server reads; others are only copied to `/openapi/v3`. */
export interface OpenApiSchema {
  readonly $ref?: string;
  readonly allOf?: readonly OpenApiSchema[];
  readonly oneOf?: readonly OpenApiSchema[];
  readonly type?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly additionalProperties?: OpenApiSchema | boolean;
  readonly items?: OpenApiSchema;
  readonly required?: readonly string[];
  readonly nullable?: boolean;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: string;
  readonly 'x-kubernetes-patch-strategy'?: string;
  readonly 'x-kubernetes-patch-merge-key'?: string;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
}

export type ResolveReference = (name: string) => OpenApiSchema;

export type ScalarType = 'string' | 'integer' | 'number' | 'boolean' | 'quantity' | 'intOrString' | 'any';

/** `struct`: named fields; `map`: any names, values of one shape; `open`: unknown structure, all fields kept. */
export type Form = 'scalar' | 'struct' | 'map' | 'list' | 'open';

const PREFIX = '#/components/schemas/';

/**
 * Upstream decodes to Go structs: fields without `omitempty` appear in every response, with their zero value if not set
 * (`{}` stands for a struct with its own zero values); the others (`omit`) are dropped when they are zero.
 */
interface TypeZeroes {
  readonly zero?: Readonly<Record<string, unknown>>;
  readonly omit?: readonly string[];
}

const types = zeroValues as Readonly<Record<string, TypeZeroes>>;

export class Shape {
  readonly form: Form;
  readonly scalar: ScalarType;
  /** `int32`, `date-time`, …; empty without one in the schema. */
  readonly format: string;
  /** Whether server-side apply owns and replaces it as one value. */
  readonly atomic: boolean;
  readonly listType: 'atomic' | 'set' | 'map';
  readonly listKeys: readonly string[];
  /** Whether strategic merge merges the list, by `mergeKey` if its items are objects. */
  readonly mergesList: boolean;
  readonly mergeKey: string | undefined;
  readonly keepsUnknown: boolean;
  /** Whether null is a value, as some CRD fields declare; otherwise null means absent. */
  readonly nullable: boolean;
  /** The default in the schema; for structs it marks a field that is always present. */
  readonly defaultValue: unknown;
  readonly typeName: string;
  /** The name in OpenAPI; empty for an unnamed type. */
  readonly fullName: string;
  /** Fields that are dropped when they are zero. */
  readonly omits: ReadonlySet<string>;
  /** Whether upstream decodes it to a Go struct, in which fields that are not pointers are always present. */
  readonly typed: boolean;
  /** Fields that are always present, with their zero values; `{}` for a struct. */
  readonly zeroes: readonly (readonly [string, unknown])[];
  private zeroObject: Fields | undefined;
  private readonly schema: OpenApiSchema;
  private readonly resolve: ResolveReference;
  private readonly children = new Map<string, Shape>();
  private element: Shape | undefined;

  constructor(outer: OpenApiSchema, resolve: ResolveReference, typed: boolean) {
    this.resolve = resolve;
    this.typed = typed;
    const reference = outer.$ref ?? outer.allOf?.find((part) => part.$ref !== undefined)?.$ref;
    const name = reference?.slice(PREFIX.length);
    this.schema = name === undefined ? outer : { ...resolve(name), ...withoutReference(outer) };
    const schema = this.schema;
    this.typeName = name?.split('.').at(-1) ?? schema.type ?? 'object';
    this.fullName = name ?? '';
    const { zero = {}, omit = [] } = (typed && types[this.fullName]) || {};
    this.zeroes = Object.entries(zero);
    this.omits = new Set(omit);
    this.scalar = scalarOf(schema, name);
    this.format = schema.format ?? '';
    this.form = formOf(schema, this.scalar);
    // Upstream deduces the structure of open parts of CRDs; in built-in types they are one value.
    this.atomic = schema['x-kubernetes-map-type'] === 'atomic' || (typed && this.form === 'open');
    const listType = schema['x-kubernetes-list-type'];
    this.listKeys = schema['x-kubernetes-list-map-keys'] ?? [];
    this.mergesList = (schema['x-kubernetes-patch-strategy'] ?? '').split(',').includes('merge');
    this.mergeKey = schema['x-kubernetes-patch-merge-key'];
    this.listType = listType === 'set' || listType === 'map' ? listType : 'atomic';
    this.keepsUnknown = schema['x-kubernetes-preserve-unknown-fields'] === true;
    this.nullable = schema.nullable === true;
    this.defaultValue = schema.default;
  }

  /** Returns the shape of a member of a struct or map; undefined for an unknown field. */
  field(name: string): Shape | undefined {
    if (this.form === 'map') return this.items;
    if (this.form === 'open') return OPEN;
    const known = this.children.get(name);
    if (known !== undefined) return known;
    const properties = this.schema.properties;
    const schema = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (schema === undefined) return this.keepsUnknown || this.isEmbedded(name) ? OPEN : undefined;
    const made = new Shape(schema, this.resolve, this.typed);
    this.children.set(name, made);
    return made;
  }

  /** The shape of the items of a list or the values of a map. */
  get items(): Shape {
    if (this.element === undefined) {
      const schema = this.form === 'list' ? this.schema.items : this.schema.additionalProperties;
      this.element = isFields(schema) ? new Shape(schema as OpenApiSchema, this.resolve, this.typed) : OPEN;
    }
    return this.element;
  }

  /** Whether a field is one of an embedded resource that need not be declared: kind, apiVersion or metadata. */
  private isEmbedded(name: string): boolean {
    return this.schema['x-kubernetes-embedded-resource'] === true && EMBEDDED.has(name);
  }

  /** The zero value of a struct, frozen. */
  get zero(): Fields {
    this.zeroObject ??= deepFreeze(
      Object.fromEntries(
        this.zeroes.map(([name, zero]) => [name, isFields(zero) ? (this.field(name)?.zero ?? {}) : zero]),
      ),
    );
    return this.zeroObject;
  }
}

function withoutReference(schema: OpenApiSchema): OpenApiSchema {
  const { $ref: _reference, allOf: _all, ...rest } = schema;
  return rest;
}

function scalarOf(schema: OpenApiSchema, name: string | undefined): ScalarType {
  if (name?.endsWith('.resource.Quantity')) return 'quantity';
  if (schema['x-kubernetes-int-or-string'] === true || schema.format === 'int-or-string') return 'intOrString';
  const { type = '' } = schema;
  switch (type) {
    case 'string':
    case 'integer':
    case 'number':
    case 'boolean':
      return type;
    default:
      return 'any';
  }
}

function formOf(schema: OpenApiSchema, scalar: ScalarType): Form {
  if (schema.type === 'array') return 'list';
  if (scalar !== 'any') return 'scalar';
  if (schema.properties !== undefined) return 'struct';
  if (isFields(schema.additionalProperties)) return 'map';
  return 'open';
}

const EMBEDDED = new Set(['apiVersion', 'kind', 'metadata']);

const OPEN = new Shape(
  {},
  () => {
    throw new InvariantError('a schema without structure has no references');
  },
  false,
);
