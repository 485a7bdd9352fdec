/** Encodes the part of the protobuf wire format that OpenAPI documents need. */
const VARINT = 0;
const DOUBLE = 1;
const BYTES = 2;

/** A string, a nested message, a boolean, an integer, a double, or a list of these. */
export type Value = string | Buffer | boolean | number | { readonly double: number } | undefined | readonly Value[];

/** Encodes a message from values by field number; undefined and zero values are omitted. */
export function message(fields: Readonly<Record<number, Value>>): Buffer {
  return Buffer.concat(Object.entries(fields).flatMap(([number, value]) => encoded(Number(number), value)));
}

function encoded(number: number, value: Value): readonly Buffer[] {
  const tagged = (type: number, ...bytes: readonly Buffer[]): readonly Buffer[] => [
    varint(number * 8 + type),
    ...bytes,
  ];
  if (typeof value === 'string') return value === '' ? [] : encoded(number, Buffer.from(value, 'utf8'));
  if (typeof value === 'number') return value > 0 ? tagged(VARINT, varint(value)) : [];
  if (typeof value !== 'object') return value === true ? tagged(VARINT, varint(1)) : [];
  if (Buffer.isBuffer(value)) return tagged(BYTES, varint(value.length), value);
  if (!('double' in value)) return value.flatMap((each) => encoded(number, each));
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value.double);
  return value.double === 0 ? [] : tagged(DOUBLE, bytes);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
  return Buffer.from(bytes);
}
