/**
 * Decodes a list from its bytes: a call per item, then the list's metadata. A large list is never a tree in memory as a
 * whole: each item is garbage before the next one is made, which costs less time than `JSON.parse` of everything and
 * keeps the heap small. `metadata.managedFields`, often half of the bytes, comes out empty, unless a placement hint of
 * ours is among them.
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

/** The text between `start` and `end`, with an empty list in place of what is between `from` and `to`. */
function withoutPart(bytes: Buffer, start: number, end: number, from: number, to: number): string {
  if (from === to) return bytes.toString('utf8', start, end);
  return `${bytes.toString('utf8', start, from)}[]${bytes.toString('utf8', to, end)}`;
}

/** Where the value of a key starts, in the map that starts at `start`; -1 if it has none or is no map. */
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

/** Visits the elements of the list at `list`, and returns where it ends; `list` itself when there is no list. */
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

/** Just behind the string that starts at `start`. */
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

/** Just behind the value that starts at `start`. */
function skipValue(bytes: Buffer, start: number): number {
  const { length } = bytes;
  const first = bytes[start];
  if (first === QUOTE) return skipString(bytes, start);
  if (first !== OPEN_MAP && first !== OPEN_LIST) return skipScalar(bytes, start);
  let depth = 0;
  for (let position = start; position < length; position++) {
    const byte = bytes[position];
    if (byte === QUOTE) {
      // In place rather than by a call: most bytes of a list are in strings.
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
