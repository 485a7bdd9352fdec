/**
 * Decodes Kubernetes' protobuf format, in which `kubectl` sends typed objects, to JSON. Responses are always JSON, which
 * such clients accept too.
 */
import { goPackage } from '../apiVersion.ts';
import { isFields, type Fields } from '../fields.ts';
import { isZero } from '../normalise.ts';
import table from '../schemas/protobuf.json' with { type: 'json' };
import { badRequest } from '../status.ts';

/** Name, type, form, and the JSON tag: `omit` drops zero values, `inline` merges the value into its parent. */
type FieldRow = readonly [name: string, type: string, form: string, tag?: string];

const messages = table as unknown as Readonly<Record<string, Readonly<Record<string, FieldRow>>>>;
const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);
const MAX_DEPTH = 100;

interface Wire {
  readonly number: number;
  readonly varint: bigint;
  readonly bytes: Buffer;
}

/** Yields the fields of a message in order. */
function* wireFields(buffer: Buffer): Generator<Wire> {
  let offset = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = buffer[offset++];
      if (byte === undefined) throw badRequest('the protobuf body ends in the middle of a number');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw badRequest('a number in the protobuf body is too long');
  };
  const take = (length: number): Buffer => {
    if (offset + length > buffer.length) throw badRequest('the protobuf body ends in the middle of a field');
    offset += length;
    return buffer.subarray(offset - length, offset);
  };
  while (offset < buffer.length) {
    const tag = Number(varint());
    const number = tag >>> 3;
    switch (tag & 7) {
      case 0:
        yield { number, varint: varint(), bytes: Buffer.alloc(0) };
        break;
      case 2:
        yield { number, varint: 0n, bytes: take(Number(varint())) };
        break;
      // No kind has fields of fixed-size wire types.
      default:
        throw badRequest('the protobuf body uses an unknown wire type');
    }
  }
}

function field(buffer: Buffer, number: number): Wire | undefined {
  let found: Wire | undefined;
  for (const wire of wireFields(buffer)) if (wire.number === number) found = wire;
  return found;
}

const signed = (value: bigint): number => Number(BigInt.asIntN(64, value));

function timeText(buffer: Buffer, micro: boolean): string | undefined {
  const seconds = field(buffer, 1);
  if (seconds === undefined) return undefined;
  const nanos = signed(field(buffer, 2)?.varint ?? 0n);
  const base = new Date(signed(seconds.varint) * 1000).toISOString().slice(0, 19);
  return micro ? `${base}.${String(Math.trunc(nanos / 1000)).padStart(6, '0')}Z` : `${base}Z`;
}

const SPECIAL: Readonly<Record<string, (buffer: Buffer) => unknown>> = {
  Quantity: (buffer) => field(buffer, 1)?.bytes.toString('utf8') ?? '0',
  IntOrString: (buffer) =>
    field(buffer, 1)?.varint === 1n
      ? (field(buffer, 3)?.bytes.toString('utf8') ?? '')
      : signed(field(buffer, 2)?.varint ?? 0n),
  Time: (buffer) => timeText(buffer, false),
  MicroTime: (buffer) => timeText(buffer, true),
  RawExtension: (buffer) => parseJson(field(buffer, 1)?.bytes),
  FieldsV1: (buffer) => parseJson(field(buffer, 1)?.bytes),
  ExtraValue: (buffer) => [...wireFields(buffer)].map((wire) => wire.bytes.toString('utf8')),
};

function parseJson(bytes: Buffer | undefined): unknown {
  return bytes === undefined || bytes.length === 0 ? undefined : (JSON.parse(bytes.toString('utf8')) as unknown);
}

function decodeValue(type: string, wire: Wire, depth: number): unknown {
  switch (type) {
    case 'string':
      return wire.bytes.toString('utf8');
    case 'bytes':
      return wire.bytes.toString('base64');
    case 'bool':
      return wire.varint !== 0n;
    case 'int32':
    case 'int64':
    case 'uint32':
    case 'uint64':
      return signed(wire.varint);
    default: {
      const special = SPECIAL[type.slice(type.lastIndexOf('.') + 1)];
      return special === undefined ? decodeMessage(type, wire.bytes, depth + 1) : special(wire.bytes);
    }
  }
}

function decodeMessage(type: string, buffer: Buffer, depth: number): Fields {
  const rows = messages[type];
  if (rows === undefined) throw badRequest(`protobuf is not accepted for ${type}; send JSON`);
  if (depth > MAX_DEPTH) throw badRequest('the protobuf body is nested too deeply');
  const result: Fields = {};
  for (const wire of wireFields(buffer)) {
    const row = rows[wire.number];
    if (row === undefined) continue;
    const [name, valueType, form, tag] = row;
    if (form === 'map') {
      const key = field(wire.bytes, 1)?.bytes.toString('utf8') ?? '';
      const entry = field(wire.bytes, 2);
      const known = result[name];
      const map: Fields = isFields(known) ? known : {};
      map[key] = entry === undefined ? '' : decodeValue(valueType, entry, depth);
      result[name] = map;
      continue;
    }
    const value = decodeValue(valueType, wire, depth);
    if (value === undefined || (tag === 'omit' && form === 'one' && isZero(value))) continue;
    if (tag === 'inline' && isFields(value)) Object.assign(result, value);
    else if (form === 'list') {
      const known = result[name];
      if (Array.isArray(known)) known.push(value);
      else result[name] = [value];
    } else result[name] = value;
  }
  return result;
}

/** Returns the type of a kind, such as `io.k8s.api.apps.v1.Deployment`. */
function typeName(apiVersion: string, kind: string): string {
  if (kind === 'DeleteOptions') return 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions';
  const [version = '', group = ''] = apiVersion.split('/').toReversed();
  return `io.k8s.api.${goPackage(group)}.${version}.${kind}`;
}

/** Decodes an object from its envelope, which has its apiVersion and kind. */
export function decodeProtobuf(body: Buffer): Fields {
  try {
    return decodeEnvelope(body);
  } catch (error) {
    // Times out of range, incomplete numbers, and invalid JSON in the body.
    if (error instanceof RangeError || error instanceof SyntaxError) throw badRequest(`protobuf: ${error.message}`);
    throw error;
  }
}

function decodeEnvelope(body: Buffer): Fields {
  if (!body.subarray(0, MAGIC.length).equals(MAGIC)) throw badRequest('the body is not a Kubernetes protobuf object');
  const envelope = body.subarray(MAGIC.length);
  const meta = field(envelope, 1)?.bytes ?? Buffer.alloc(0);
  const apiVersion = field(meta, 1)?.bytes.toString('utf8') ?? '';
  const kind = field(meta, 2)?.bytes.toString('utf8') ?? '';
  const raw = field(envelope, 2)?.bytes ?? Buffer.alloc(0);
  return { apiVersion, kind, ...decodeMessage(typeName(apiVersion, kind), raw, 0) };
}
