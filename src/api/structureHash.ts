/**
 * The hash that Karpenter stores on its objects to detect changes of a template: the same 64-bit number, in decimal,
 * that Go's hashstructure (format 2, lists as sets, zero values ignored) computes over the decoded structure. So a
 * cluster can be taken over without drifting its nodes.
 */
import { Duration } from '../units/duration.ts';

/** How a field is declared in Go. Pointers may be nil; plain values are left out when they are zero. */
export type GoType =
  | 'string'
  | 'pointer-to-string'
  | 'pointer-to-bool'
  | 'pointer-to-int32'
  | 'pointer-to-int64'
  | 'pointer-to-time'
  | 'duration'
  | 'pointer-to-duration'
  | 'nillable-duration'
  | { readonly mapOfStrings: true }
  | { readonly listOf: GoType }
  | { readonly struct: GoStruct; readonly pointer?: boolean };

export interface GoStruct {
  readonly name: string;
  /** In order of declaration, which the hash depends on. */
  readonly fields: readonly GoField[];
}

export interface GoField {
  readonly name: string;
  readonly json: string;
  readonly type: GoType;
}

const OFFSET = 14_695_981_039_346_656_037n;
const PRIME = 1_099_511_628_211n;
const MASK = (1n << 64n) - 1n;

/** FNV-1, 64 bits: multiply, then xor. */
function fnv(bytes: Iterable<number>): bigint {
  let hash = OFFSET;
  for (const byte of bytes) hash = ((hash * PRIME) & MASK) ^ BigInt(byte);
  return hash;
}

const ENCODER = new TextEncoder();

function hashText(text: string): bigint {
  return fnv(ENCODER.encode(text));
}

function littleEndian(value: bigint, size: number): number[] {
  const unsigned = BigInt.asUintN(size * 8, value);
  return Array.from({ length: size }, (_, at) => Number((unsigned >> BigInt(8 * at)) & 0xffn));
}

function hashInteger(value: bigint, size: number): bigint {
  return fnv(littleEndian(value, size));
}

function ordered(left: bigint, right: bigint): bigint {
  return fnv([...littleEndian(left, 8), ...littleEndian(right, 8)]);
}

function finish(hash: bigint): bigint {
  return hashInteger(hash, 8);
}

/** The decimal hash of a JSON object that decodes into `struct`. */
export function structureHash(struct: GoStruct, value: unknown): string {
  return String(hashStruct(struct, asObject(value)));
}

/** The hash of a plain string, with which Karpenter shortens names. */
export function stringHash(text: string): bigint {
  return hashText(text);
}

type JsonObject = Readonly<Record<string, unknown>>;

function hashStruct(struct: GoStruct, value: JsonObject): bigint {
  let hash = hashText(struct.name);
  for (const field of struct.fields) {
    const inner = value[field.json];
    if (isZero(field.type, inner)) continue;
    hash = finish(hash ^ ordered(hashText(field.name), hashValue(field.type, inner)));
  }
  return hash;
}

/** An existing empty map or list is not zero. */
function isZero(type: GoType, value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (type === 'string') return value === '';
  if (type === 'nillable-duration') return value === 'Never';
  if (type === 'duration') return Duration.parse(asText(value)).nanoseconds === 0n;
  if (typeof type === 'object' && 'struct' in type && type.pointer !== true) {
    const object = asObject(value);
    return type.struct.fields.every((field) => isZero(field.type, object[field.json]));
  }
  return false;
}

function hashValue(type: GoType, value: unknown): bigint {
  if (typeof type === 'object') {
    if ('struct' in type) return hashStruct(type.struct, asObject(value));
    if ('listOf' in type) return hashList(type.listOf, value);
    return hashMap(asObject(value));
  }
  switch (type) {
    case 'string':
    case 'pointer-to-string':
      return hashText(asText(value));
    case 'pointer-to-bool':
      return hashInteger(value === true ? 1n : 0n, 1);
    case 'pointer-to-int32':
      return hashInteger(BigInt(Number(value)), 4);
    case 'pointer-to-int64':
      return hashInteger(BigInt(Number(value)), 8);
    case 'duration':
    case 'pointer-to-duration':
      return hashDuration('Duration', asText(value));
    case 'nillable-duration':
      return hashDuration('NillableDuration', asText(value));
    case 'pointer-to-time':
      return hashTime(asText(value));
  }
}

/** Equal duplicates cancel each other out. */
function hashList(items: GoType, value: unknown): bigint {
  if (!Array.isArray(value)) throw new TypeError('a list was expected');
  return value.reduce((hash: bigint, item: unknown) => hash ^ hashValue(items, item), 0n);
}

function hashMap(value: JsonObject): bigint {
  const entries = Object.entries(value).map(([key, inner]) => ordered(hashText(key), hashText(asText(inner))));
  return finish(entries.reduce((hash, entry) => hash ^ entry, 0n));
}

/** A structure around nanoseconds; zero is left out except behind a pointer. */
function hashDuration(struct: 'Duration' | 'NillableDuration', text: string): bigint {
  const { nanoseconds } = Duration.parse(text);
  if (nanoseconds === 0n && struct === 'Duration') return hashText(struct);
  return finish(hashText(struct) ^ ordered(hashText('Duration'), hashInteger(nanoseconds, 8)));
}

/** Seconds from the year 1 to the Unix epoch. */
const EPOCH_SECONDS = 62_135_596_800n;

/** A structure around Go's binary form of a time, as read on a machine whose zone is UTC. */
function hashTime(text: string): bigint {
  const milliseconds = Date.parse(text);
  if (Number.isNaN(milliseconds)) throw new RangeError(`"${text}" is not a time`);
  const fraction = (/\.([0-9]+)/.exec(text)?.[1] ?? '').padEnd(9, '0').slice(0, 9);
  const seconds = BigInt(Math.floor(milliseconds / 1000)) + EPOCH_SECONDS;
  const bytes = [1, ...littleEndian(seconds, 8).reverse(), ...littleEndian(BigInt(fraction), 4).reverse(), 0, 0];
  return finish(hashText('Time') ^ ordered(hashText('Time'), fnv(bytes)));
}

function asObject(value: unknown): JsonObject {
  if (typeof value !== 'object' || value === null) throw new TypeError('an object was expected');
  return value as JsonObject;
}

function asText(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('a string was expected');
  return value;
}
