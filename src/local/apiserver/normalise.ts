/**
 * Decoding. In: the JSON of a request and the shape of its kind. Out: a private copy that holds only what the kind has,
 * in the spelling in which the server keeps it (quantities canonical, nulls gone), and the paths of unknown fields.
 */
import { Quantity } from '../../units/quantity.ts';
import { copyJson, isFields, joinPath, type Fields } from './fields.ts';
import type { Shape } from './shape.ts';

export interface NormaliseOptions {
  /**
   * Built-in kinds are decoded into typed structures: a wrong type fails and empty collections vanish. Custom resources
   * keep both for schema validation to judge.
   */
  readonly typed: boolean;
}

export interface Normalised {
  readonly value: Fields;
  /** `spec.contaners`, `spec.containers[0].imag`: present in the request, absent in the schema. */
  readonly unknown: readonly string[];
}

export class WrongType extends Error {
  constructor(owner: string, path: string, value: unknown, expected: string) {
    const field = `${owner}.${path.replaceAll(/\[\d+\]/g, '')}`;
    super(`json: cannot unmarshal ${jsonType(value)} into Go struct field ${field} of type ${expected}`);
  }
}

export function normalise(shape: Shape, value: Fields, options: NormaliseOptions): Normalised {
  const walk = new Walk(options.typed);
  return { value: walk.struct(shape, value, ''), unknown: walk.unknown };
}

class Walk {
  readonly unknown: string[] = [];
  private readonly typed: boolean;

  constructor(typed: boolean) {
    this.typed = typed;
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
      const kept = this.value(child, member, joinPath(path, name), shape.isRequired(name), shape.typeName);
      if (kept !== undefined) result[name] = kept;
    }
    return result;
  }

  private value(shape: Shape, value: unknown, path: string, isRequired: boolean, owner: string): unknown {
    if (value === null) return shape.nullable ? value : undefined;
    switch (shape.form) {
      case 'open':
        return copyJson(value);
      case 'scalar':
        return this.scalar(shape, value, path, owner);
      case 'struct':
        return isFields(value) ? this.struct(shape, value, path) : this.wrong(owner, path, value, shape.typeName);
      case 'map': {
        if (!isFields(value)) return this.wrong(owner, path, value, 'map');
        const names = Object.keys(value);
        if (this.typed && names.length === 0 && !isRequired) return undefined;
        const result: Fields = {};
        for (const name of names) {
          const kept = this.value(shape.items, value[name], joinPath(path, name), true, owner);
          if (kept !== undefined) result[name] = kept;
          else if (this.typed && shape.items.form === 'scalar' && shape.items.scalar === 'string') result[name] = '';
        }
        return result;
      }
      case 'list': {
        if (!Array.isArray(value)) return this.wrong(owner, path, value, 'slice');
        if (this.typed && value.length === 0 && !isRequired) return undefined;
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
        if (quantity === undefined) {
          throw new WrongType(
            owner,
            path,
            value,
            "Quantity: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
          );
        }
        return quantity.toString();
      }
      case 'string':
        return typeof value === 'string' ? value : this.wrong(owner, path, value, 'string');
      case 'boolean':
        return typeof value === 'boolean' ? value : this.wrong(owner, path, value, 'bool');
      case 'integer':
        return Number.isInteger(value)
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
    if (this.typed) throw new WrongType(owner, path, value, expected);
    return copyJson(value);
  }
}

function jsonType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
