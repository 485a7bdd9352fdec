/**
 * Upstream decodes into Go structs: fields without `omitempty` appear in every answer with their zero values (`{}`
 * stands for a struct, which has zero values of its own), and the others vanish when they are zero.
 */
import zeroValues from './schemas/zeroValues.json' with { type: 'json' };

interface TypeZeroes {
  readonly zero?: Readonly<Record<string, unknown>>;
  readonly omit?: readonly string[];
}

const types = zeroValues as Readonly<Record<string, TypeZeroes>>;

export function zeroFields(typeName: string): readonly (readonly [string, unknown])[] {
  return Object.entries(types[typeName]?.zero ?? {});
}

export function omittedFields(typeName: string): ReadonlySet<string> {
  return new Set(types[typeName]?.omit);
}
