/**
 * Functions to define our kinds. A definition yields its structural schema as JSON and, by inference, the TypeScript
 * type of the object as stored by the API server (fields with a default always exist).
 */
import type { StructuralSchema, ValidationRule } from './structuralSchema.ts';

/** Whether a stored object always has the field. */
type Presence = 'optional' | 'present';

export interface Schema<T, P extends Presence = 'optional'> {
  readonly json: StructuralSchema;
  readonly presence: P;
  /** True when the schema itself requires the field, apart from any default. */
  readonly isRequired: boolean;
  /** Never present at run time: carries `T`. */
  readonly __type?: T;
}

type AnySchema = Schema<unknown, Presence>;

/** The TypeScript type that a schema describes. */
export type Infer<S> = S extends Schema<infer T, Presence> ? T : never;

type PresentKeys<P> = { [K in keyof P]: P[K] extends Schema<unknown, 'present'> ? K : never }[keyof P];

type Simplify<T> = { [K in keyof T]: T[K] };

type ObjectOf<P> = Simplify<
  { [K in PresentKeys<P>]: Infer<P[K]> } & { [K in Exclude<keyof P, PresentKeys<P>>]?: Infer<P[K]> }
>;

interface Common {
  readonly description?: string;
  readonly rules?: readonly ValidationRule[];
}

function node<T>(common: Common, rest: StructuralSchema): Schema<T> {
  const json: StructuralSchema = {
    ...(common.description === undefined ? {} : { description: common.description }),
    ...rest,
    ...(common.rules === undefined ? {} : { 'x-kubernetes-validations': common.rules }),
  };
  return { json, presence: 'optional', isRequired: false };
}

interface StringOptions extends Common, Pick<StructuralSchema, 'pattern' | 'minLength' | 'maxLength' | 'format'> {}

export function string(options: StringOptions = {}): Schema<string> {
  const { description, rules, ...rest } = options;
  return node(
    { ...(description === undefined ? {} : { description }), ...(rules === undefined ? {} : { rules }) },
    {
      type: 'string',
      ...rest,
    },
  );
}

export function oneOf<const V extends readonly string[]>(values: V, options: Common = {}): Schema<V[number]> {
  return node(options, { type: 'string', enum: values });
}

interface IntegerOptions extends Common {
  readonly format?: 'int32' | 'int64';
  readonly minimum?: number;
  readonly maximum?: number;
}

export function integer(options: IntegerOptions = {}): Schema<number> {
  const { description, rules, ...rest } = options;
  return node(
    { ...(description === undefined ? {} : { description }), ...(rules === undefined ? {} : { rules }) },
    {
      type: 'integer',
      ...rest,
    },
  );
}

export function boolean(options: Common = {}): Schema<boolean> {
  return node(options, { type: 'boolean' });
}

interface ObjectOptions extends Common {
  /** Set on the object itself rather than on its parent's list of required fields. */
  readonly extra?: StructuralSchema;
}

export function object<P extends Readonly<Record<string, AnySchema>>>(
  properties: P,
  options: ObjectOptions = {},
): Schema<ObjectOf<P>> {
  const required = Object.keys(properties).filter((name) => properties[name]?.isRequired === true);
  return node(options, {
    type: 'object',
    properties: Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, schema.json])),
    ...(required.length === 0 ? {} : { required }),
    ...options.extra,
  });
}

interface MapOptions extends Common {
  readonly maxProperties?: number;
  readonly mapType?: 'atomic' | 'granular';
}

export function map<T>(values: Schema<T>, options: MapOptions = {}): Schema<Record<string, T>> {
  return node(options, {
    type: 'object',
    additionalProperties: values.json,
    ...(options.maxProperties === undefined ? {} : { maxProperties: options.maxProperties }),
    ...(options.mapType === undefined ? {} : { 'x-kubernetes-map-type': options.mapType }),
  });
}

interface ListOptions extends Common {
  readonly maxItems?: number;
  readonly listType?: 'atomic' | 'set' | { readonly mapKeys: readonly string[] };
  /** Keywords that upstream sets on the array, where they have no effect; kept so that the schemas are equal. */
  readonly extra?: StructuralSchema;
}

export function list<T>(items: Schema<T>, options: ListOptions = {}): Schema<T[]> {
  const { listType } = options;
  return node(options, {
    type: 'array',
    items: items.json,
    ...(options.maxItems === undefined ? {} : { maxItems: options.maxItems }),
    ...(listType === undefined
      ? {}
      : typeof listType === 'string'
        ? { 'x-kubernetes-list-type': listType }
        : { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': listType.mapKeys }),
    ...options.extra,
  });
}

const QUANTITY_PATTERN =
  '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$';

/** A resource list: `{cpu: "2", memory: 4Gi}`; small whole numbers may be written without quotes. */
export function quantities(options: Common = {}): Schema<Record<string, string | number>> {
  return map(
    node<string | number>(
      {},
      {
        anyOf: [{ type: 'integer' }, { type: 'string' }],
        pattern: QUANTITY_PATTERN,
        'x-kubernetes-int-or-string': true,
      },
    ),
    options,
  );
}

/** The user must set the field (or it has a default). */
export function required<T>(schema: Schema<T, Presence>): Schema<T, 'present'> {
  return { json: schema.json, presence: 'present', isRequired: true };
}

/** A default may omit what nested defaults fill in. */
type Default<T> = T extends readonly (infer Item)[]
  ? readonly Default<Item>[]
  : T extends object
    ? { readonly [K in keyof T]?: Default<T[K]> }
    : T;

/** The API server sets the default, so readers always find the field. */
export function defaulted<T>(schema: Schema<T, Presence>, value: Default<T>): Schema<T, 'present'> {
  return { json: { ...schema.json, default: value }, presence: 'present', isRequired: schema.isRequired };
}
