/**
 * Decodes the JSON of a request by the shape of its kind, to a copy with known fields only, as the server stores them
 * (canonical quantities, no nulls), and the paths of unknown fields.
 */
import { Quantity } from '../../units/quantity.ts';
import { copyJson, isFields, joinPath, jsonType, type Fields } from './fields.ts';
import { OBJECT_META, shapeNamed } from './kubernetesTypes.ts';
import type { Shape } from './shape.ts';

export interface NormaliseOptions {
  /**
   * Built-in kinds are decoded to Go structs: wrong types throw, and empty collections are dropped. Custom resources
   * keep both for schema validation, except in metadata, which has the same type for all kinds.
   */
  readonly typed: boolean;
  /** For applied configurations: does not add the zero values of the type. */
  readonly partial?: boolean;
}

export interface Normalised {
  readonly value: Fields;
  /** Paths of fields in the request that are not in the schema, such as `spec.containers[0].imag`. */
  readonly unknown: readonly string[];
}

export class WrongType extends Error {
  /** The message of upstream's converter, which strategic merge patches use. */
  readonly restoring: string;

  constructor(message: string, restoring = `error decoding from json: ${message}`) {
    super(message);
    this.restoring = restoring;
  }
}

/** `expected`: a Go type. */
function wrongType(owner: string, path: string, value: unknown, expected: string): WrongType {
  // Go shows the numbers that do not fit an integer type.
  const literal = typeof value === 'number' && expected.startsWith('int') ? `number ${value}` : jsonType(value);
  const field = `${owner}.${path.replaceAll(/\[\d+\]/g, '')}`;
  const message = `json: cannot unmarshal ${literal} into Go struct field ${field} of type ${expected}`;
  const found = Array.isArray(value) ? 'slice' : isFields(value) ? 'map' : jsonType(value);
  if (expected.startsWith('[]')) return new WrongType(message, `cannot restore slice from ${found}`);
  if (expected.startsWith('map[')) return new WrongType(message, `cannot restore map from ${found}`);
  const isStruct = expected.includes('.');
  return new WrongType(message, isStruct ? `cannot restore struct from: ${found}` : `unrecognized type: ${expected}`);
}

export function normalise(shape: Shape, value: Fields, options: NormaliseOptions): Normalised {
  const { typed, partial = false } = options;
  const walk = new Walk(typed, !partial);
  if (typed || value['metadata'] === undefined) return { value: walk.struct(shape, value, ''), unknown: walk.unknown };
  const { metadata, ...rest } = value;
  const result = walk.struct(shape, rest, '');
  const inMetadata = new Walk(true, !partial);
  if (metadata !== null) result['metadata'] = inMetadata.root(shapeNamed(OBJECT_META), metadata);
  const unknown = inMetadata.unknown.map((path) => `metadata.${path}`);
  return { value: result, unknown: [...unknown, ...walk.unknown] };
}

/** Adds the fields that Go always writes to a struct. Zero values are copied, because drafts are changed in place. */
function addZeroes(shape: Shape, target: Fields): void {
  for (const [name, zero] of shape.zeroes) {
    if (target[name] === undefined) target[name] = isFields(zero) ? copyJson(shape.field(name)?.zero ?? {}) : zero;
  }
}

/** Adds the fields that Go always writes to a draft and everything in it, in place. */
export function fillZeroes(shape: Shape, value: unknown): void {
  if (Array.isArray(value)) {
    if (shape.form === 'list') for (const item of value) fillZeroes(shape.items, item);
    return;
  }
  if (!isFields(value) || Object.isFrozen(value)) return;
  if (shape.form === 'map') for (const member of Object.values(value)) fillZeroes(shape.items, member);
  if (shape.form !== 'struct') return;
  for (const name of Object.keys(value)) {
    const child = shape.field(name);
    if (child !== undefined) fillZeroes(child, value[name]);
  }
  addZeroes(shape, value);
}

class Walk {
  readonly unknown: string[] = [];
  private readonly typed: boolean;
  private readonly fills: boolean;

  constructor(typed: boolean, isWhole: boolean) {
    this.typed = typed;
    this.fills = typed && isWhole;
  }

  root(shape: Shape, value: unknown): Fields {
    if (isFields(value)) return this.struct(shape, value, '');
    throw new WrongType(`json: cannot unmarshal ${jsonType(value)} into Go value of type ${goType(shape)}`);
  }

  struct(shape: Shape, value: Fields, path: string): Fields {
    const result: Fields = {};
    for (const name of Object.keys(value)) {
      const member = value[name];
      if (member === undefined) continue;
      const child = shape.field(name);
      if (child === undefined) {
        this.unknown.push(joinPath(path, name));
        continue;
      }
      const kept = this.value(child, member, joinPath(path, name), this.keepsEmpty(shape, name), shape.typeName);
      if (this.fills && isZero(kept) && shape.omits.has(name)) continue;
      if (kept !== undefined) result[name] = kept;
    }
    if (this.fills) addZeroes(shape, result);
    return result;
  }

  /** Go drops empty collections of fields with `omitempty`; an applied configuration keeps them. */
  private keepsEmpty(shape: Shape, name: string): boolean {
    return (this.typed && !this.fills) || shape.zeroes.some(([field]) => field === name);
  }

  private value(shape: Shape, value: unknown, path: string, keepsEmpty: boolean, owner: string): unknown {
    if (value === null) return shape.nullable ? value : undefined;
    switch (shape.form) {
      case 'open':
        return copyJson(value);
      case 'scalar':
        return this.scalar(shape, value, path, owner);
      case 'struct':
        return isFields(value) ? this.struct(shape, value, path) : this.wrong(owner, path, value, goType(shape));
      case 'map': {
        if (!isFields(value)) return this.wrong(owner, path, value, goType(shape));
        const names = Object.keys(value);
        if (this.typed && names.length === 0 && !keepsEmpty) return undefined;
        const result: Fields = {};
        for (const name of names) {
          const kept = this.value(shape.items, value[name], path, true, owner);
          if (kept !== undefined) result[name] = kept;
          else if (this.typed && shape.items.form === 'scalar' && shape.items.scalar === 'string') result[name] = '';
        }
        return result;
      }
      case 'list': {
        if (!Array.isArray(value)) return this.wrong(owner, path, value, goType(shape));
        if (this.typed && value.length === 0 && !keepsEmpty) return undefined;
        return value.map(
          (item: unknown, index) => this.value(shape.items, item, `${path}[${index}]`, true, owner) ?? item,
        );
      }
    }
  }

  private scalar(shape: Shape, value: unknown, path: string, owner: string): unknown {
    switch (shape.scalar) {
      case 'quantity': {
        if (typeof value !== 'string' && typeof value !== 'number') return this.wrong(owner, path, value, 'Quantity');
        const quantity = Quantity.tryParse(value);
        if (quantity === undefined) throw new WrongType(NO_QUANTITY, `cannot restore struct from: ${jsonType(value)}`);
        return quantity.toString();
      }
      case 'string':
        if (typeof value !== 'string') {
          return this.wrong(owner, path, value, path.endsWith('uid') ? 'types.UID' : 'string');
        }
        if (this.typed && shape.format === 'byte') checkBase64(value);
        if (this.typed && shape.format === 'date-time') checkTime(value);
        return value;
      case 'boolean':
        return typeof value === 'boolean' ? value : this.wrong(owner, path, value, 'bool');
      case 'integer':
        return Number.isInteger(value) && (shape.format !== 'int32' || (value as number) === ((value as number) | 0))
          ? value
          : this.wrong(owner, path, value, shape.format === 'int32' ? 'int32' : 'int64');
      case 'number':
        return typeof value === 'number' ? value : this.wrong(owner, path, value, 'float64');
      case 'intOrString':
        return typeof value === 'string' || Number.isInteger(value)
          ? value
          : this.wrong(owner, path, value, 'IntOrString');
      case 'any':
        return copyJson(value);
    }
  }

  private wrong(owner: string, path: string, value: unknown, expected: string): unknown {
    if (this.typed) throw wrongType(owner, path, value, expected);
    return copyJson(value);
  }
}

/** Whether Go drops the value of a field with `omitempty`. */
export function isZero(value: unknown): boolean {
  return value === '' || value === 0 || value === false;
}

/** Returns the Go type of a shape, for error messages. */
function goType(shape: Shape): string {
  switch (shape.form) {
    case 'list':
      return `[]${goType(shape.items)}`;
    case 'map':
      return `map[string]${goType(shape.items)}`;
    case 'struct':
      return `${shape.fullName.split('.').at(-2) ?? ''}.${shape.typeName}`;
    case 'scalar':
      return shape.scalar === 'integer' ? shape.format || 'int64' : shape.scalar === 'boolean' ? 'bool' : shape.scalar;
    case 'open':
      return 'interface {}';
  }
}

const NO_QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

function checkBase64(value: string): void {
  const text = value.replaceAll(/[\r\n]/g, '');
  const wrong = text.search(/[^A-Za-z0-9+/=]/);
  if (wrong < 0 && BASE64.test(text) && text.length % 4 === 0) return;
  throw new WrongType(`illegal base64 data at input byte ${wrong < 0 ? text.length - (text.length % 4) : wrong}`);
}

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

function checkTime(value: string): void {
  if (value === '' || RFC3339.test(value)) return;
  const shown = JSON.stringify(value);
  const year = /^\d{4}/.test(value) ? '-' : '2006';
  const rest = year === '-' ? JSON.stringify(value.slice(4)) : shown;
  throw new WrongType(`parsing time ${shown} as "2006-01-02T15:04:05Z07:00": cannot parse ${rest} as "${year}"`);
}
