/**
 * Decodes a list from its bytes: one call per item, then the list's metadata. A large list is never completely in
 * memory as objects: each item can be freed before the next one is parsed, which is faster than `JSON.parse` of
 * everything and keeps the heap small. `metadata.managedFields`, often half of the bytes, is left empty, unless it
 * contains a placement hint of ours.
 */
import { FieldManagers } from '../api/labels.ts';
import type { KubeList, KubeObject } from '../api/object.ts';

export type ListMetadata = KubeList<KubeObject>['metadata'];

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_MAP = 0x7b;
const CLOSE_MAP = 0x7d;
const SPACE = 0x20;

const ITEMS = Buffer.from('"items"');
const METADATA = Buffer.from('"metadata"');
const MANAGED_FIELDS = Buffer.from('"managedFields"');
const HINT_MANAGER = Buffer.from(`"${FieldManagers.placementHints}"`);

export function decodeList<T>(bytes: Buffer, visit: (item: T) => void): ListMetadata {
  const items = findMember(bytes, skipSpace(bytes, 0), ITEMS);
  const end = forEachElement(bytes, items, (start, stop) => visit(decodeItem<T>(bytes, start, stop)));
  const envelope = JSON.parse(withoutPart(bytes, 0, bytes.length, items, end)) as Partial<KubeList<KubeObject>>;
  return envelope.metadata ?? {};
}

function decodeItem<T>(bytes: Buffer, start: number, end: number): T {
  const metadata = findMember(bytes, start, METADATA);
  const managedFields = findMember(bytes, metadata, MANAGED_FIELDS);
  const text =
    bytes[managedFields] === OPEN_LIST
      ? withoutManagers(bytes, start, end, managedFields)
      : bytes.toString('utf8', start, end);
  return JSON.parse(text) as T;
}

function withoutManagers(bytes: Buffer, start: number, end: number, managedFields: number): string {
  const stop = skipValue(bytes, managedFields);
  const isHinted = bytes.subarray(managedFields, stop).includes(HINT_MANAGER);
  return isHinted ? bytes.toString('utf8', start, end) : withoutPart(bytes, start, end, managedFields, stop);
}

/** The text between `start` and `end`, with the part from `from` to `to` replaced by an empty list. */
function withoutPart(bytes: Buffer, start: number, end: number, from: number, to: number): string {
  if (from === to) return bytes.toString('utf8', start, end);
  return `${bytes.toString('utf8', start, from)}[]${bytes.toString('utf8', to, end)}`;
}

/** Start of the value of a key in the map at `start`; -1 if there is no such key or no map. */
function findMember(bytes: Buffer, start: number, key: Buffer): number {
  if (bytes[start] !== OPEN_MAP) return -1;
  let position = skipSpace(bytes, start + 1);
  while (bytes[position] === QUOTE) {
    const keyEnd = skipString(bytes, position);
    const colon = skipSpace(bytes, keyEnd);
    if (bytes[colon] !== COLON) break;
    const value = skipSpace(bytes, colon + 1);
    const sameLength = keyEnd - position === key.length;
    if (sameLength && bytes.compare(key, 0, key.length, position, keyEnd) === 0) return value;
    position = skipSpace(bytes, skipValue(bytes, value));
    if (bytes[position] === COMMA) position = skipSpace(bytes, position + 1);
  }
  return -1;
}

/** Visits the elements of the list at `list` and returns its end; `list` itself when there is no list. */
function forEachElement(bytes: Buffer, list: number, visit: (start: number, end: number) => void): number {
  if (bytes[list] !== OPEN_LIST) return list;
  let start = skipSpace(bytes, list + 1);
  while (start < bytes.length && bytes[start] !== CLOSE_LIST) {
    const end = skipValue(bytes, start);
    if (end === start) throw new SyntaxError(`unexpected byte ${bytes[start]} in a list, at ${start}`);
    visit(start, end);
    start = skipSpace(bytes, end);
    if (bytes[start] === COMMA) start = skipSpace(bytes, start + 1);
  }
  return Math.min(start + 1, bytes.length);
}

function skipSpace(bytes: Buffer, start: number): number {
  let position = start;
  while (position < bytes.length && (bytes[position] ?? 0) <= SPACE) position++;
  return position;
}

/** End of the string that starts at `start`. */
function skipString(bytes: Buffer, start: number): number {
  const { length } = bytes;
  let position = start + 1;
  for (; position < length; position++) {
    const byte = bytes[position];
    if (byte === QUOTE) return position + 1;
    if (byte === BACKSLASH) position++;
  }
  return length;
}

/** End of the value that starts at `start`. */
function skipValue(bytes: Buffer, start: number): number {
  const { length } = bytes;
  const first = bytes[start];
  if (first === QUOTE) return skipString(bytes, start);
  if (first !== OPEN_MAP && first !== OPEN_LIST) return skipScalar(bytes, start);
  let depth = 0;
  for (let position = start; position < length; position++) {
    const byte = bytes[position];
    if (byte === QUOTE) {
      // Inlined for speed: most bytes of a list are in strings.
      for (position++; position < length && bytes[position] !== QUOTE; position++) {
        if (bytes[position] === BACKSLASH) position++;
      }
    } else if (byte === OPEN_MAP || byte === OPEN_LIST) depth++;
    else if ((byte === CLOSE_MAP || byte === CLOSE_LIST) && --depth === 0) return position + 1;
  }
  return length;
}

function skipScalar(bytes: Buffer, start: number): number {
  let position = start;
  for (; position < bytes.length; position++) {
    const byte = bytes[position] ?? 0;
    if (byte <= SPACE || byte === COMMA || byte === CLOSE_LIST || byte === CLOSE_MAP) break;
  }
  return position;
}
