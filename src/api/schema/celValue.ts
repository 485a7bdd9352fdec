/**
 * Converts decoded JSON to CEL values by its schema: whole numbers to ints, formatted strings to times, and property
 * names to the spelling that rules use.
 */
import { EvaluationError } from './evaluationError.ts';
import { celDuration, celTimestamp } from './celLibrary.ts';
import { asInteger, isJsonObject, JsonFloat } from './json.ts';
import type { StructuralSchema } from './structuralSchema.ts';

/**
 * A float where the schema requires an integer. No operator accepts it, so a rule that reads it fails, and other rules
 * are unaffected.
 */
class MistypedNumber {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

export function celValue(schema: StructuralSchema | undefined, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return value.map((item: unknown) => celValue(schema?.items, item));
  if (isJsonObject(value)) return celObject(schema, value);
  if (typeof value === 'string') return celString(schema, value);
  if (typeof value === 'boolean') return value;
  return celNumber(schema, value);
}

function celNumber(schema: StructuralSchema | undefined, value: unknown): unknown {
  const integer = asInteger(value);
  const float = value instanceof JsonFloat ? value.value : Number(value);
  if (schema?.type === 'number') return float;
  if (schema?.type === 'integer' || schema?.['x-kubernetes-int-or-string'] === true) {
    return integer ?? new MistypedNumber(float);
  }
  return integer ?? float;
}

function celString(schema: StructuralSchema | undefined, value: string): unknown {
  if (schema?.type !== 'string') return value;
  if (schema.format === 'date-time') return celTimestamp(value);
  if (schema.format === 'date') return celTimestamp(`${value}T00:00:00Z`);
  return schema.format === 'duration' ? celDuration(value) : value;
}

/** A map keeps its keys; an object only has its declared fields, unless it is free-form. */
function celObject(schema: StructuralSchema | undefined, value: Readonly<Record<string, unknown>>): unknown {
  const properties = schema?.properties;
  const result = new Map<string, unknown>();
  for (const [name, inner] of Object.entries(value)) {
    if (properties === undefined || schema?.['x-kubernetes-embedded-resource'] === true) {
      const values =
        typeof schema?.additionalProperties === 'object' ? schema.additionalProperties : properties?.[name];
      result.set(name, celValue(values, inner));
    } else if (Object.hasOwn(properties, name)) {
      const escaped = escapeName(name);
      if (escaped !== undefined) result.set(escaped, celValue(properties[name], inner));
    }
  }
  return properties === undefined ? guarded(result) : result;
}

/**
 * A map, unlike an object with fields, converts a value on every access, so that even `in` fails for a mistyped one.
 * The library identifies maps by their class, so the instance is changed instead of extending the class.
 */
function guarded(map: Map<string, unknown>): Map<string, unknown> {
  if (![...map.values()].some((value) => value instanceof MistypedNumber)) return map;
  const get = (key: string): unknown => {
    const value = Map.prototype.get.call(map, key) as unknown;
    if (value instanceof MistypedNumber) throw new EvaluationError('invalid data, expected a string or integer');
    return value;
  };
  return Object.defineProperty(map, 'get', { value: get });
}

const RESERVED: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

const ESCAPES: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};

/** Undefined for names that rules cannot use. */
function escapeName(name: string): string | undefined {
  if (name === '' || /^[0-9]/.test(name) || /[^a-zA-Z0-9\-./_]/.test(name)) return undefined;
  if (RESERVED.has(name)) return `__${name}__`;
  return name.replaceAll(/__|[-./]/g, (part) => ESCAPES[part] ?? part);
}
