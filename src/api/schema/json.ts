/**
 * JSON as an API server reads it. Preserves two things that JavaScript numbers lose: `10.0` is a float although 10 is
 * not, and 64-bit integers are exact.
 */

/** A number written with a fraction or an exponent whose value is an integer, such as `10.0` or `1e3`. */
export class JsonFloat {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }

  /** Stored form: a whole float prints like an integer. */
  toJSON(): number {
    return this.value;
  }
}

export type JsonObject = Record<string, unknown>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonFloat);
}

const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);

/** Text without a match has no special number; a match inside a string only costs time. */
const SUSPICIOUS = /[0-9][.eE]|[0-9]{16}/;
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/g;

/** Placeholder for a special number during parsing; a string that begins with it is escaped by a quote. */
const MARK = '\u0000#';

/** Throws SyntaxError like `JSON.parse`. */
export function decodeJson(text: string): unknown {
  const plain: unknown = JSON.parse(text);
  if (!SUSPICIOUS.test(text)) return plain;
  // The text is valid JSON at this point, so it can safely be parsed again with marked numbers.
  const specials: unknown[] = [];
  const marked = text.replace(TOKEN, (token: string, quoted: string | undefined, colon: string | undefined) => {
    if (quoted !== undefined) return colon === undefined ? protectMark(quoted) : token;
    const special = specialNumber(token);
    if (special === undefined) return token;
    specials.push(special);
    return JSON.stringify(`${MARK}${specials.length - 1}`);
  });
  if (specials.length === 0) return plain;
  return JSON.parse(marked, (_key, value: unknown) => {
    if (typeof value !== 'string' || !value.startsWith(MARK)) return value;
    const rest = value.slice(MARK.length);
    return rest.startsWith('"') ? MARK + rest.slice(1) : specials[Number(rest)];
  });
}

function protectMark(quoted: string): string {
  if (!quoted.startsWith('"\\u0000')) return quoted;
  const text = JSON.parse(quoted) as string;
  return text.startsWith(MARK) ? JSON.stringify(`${MARK}"${text.slice(MARK.length)}`) : quoted;
}

function specialNumber(token: string): JsonFloat | bigint | undefined {
  if (/[.eE]/.test(token)) {
    const value = Number(token);
    return Number.isInteger(value) ? new JsonFloat(value) : undefined;
  }
  const value = Number(token);
  if (Number.isSafeInteger(value)) return undefined;
  const exact = BigInt(token);
  return exact > MAX_INT64 || exact < MIN_INT64 ? new JsonFloat(value) : exact;
}

/** The text to store or send: the counterpart of `decodeJson`, with whole floats printed like integers. */
export function encodeJson(value: unknown): string {
  if (value instanceof JsonFloat) return JSON.stringify(value.value);
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map((item: unknown) => encodeJson(item)).join(',')}]`;
  if (isJsonObject(value)) {
    const members = Object.entries(value).filter(([, inner]) => inner !== undefined);
    return `{${members.map(([key, inner]) => `${JSON.stringify(key)}:${encodeJson(inner)}`).join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}

/** As after being stored and read again: whole floats become integers. */
export function settleNumbers<T>(value: T): T;
export function settleNumbers(value: unknown): unknown {
  if (value instanceof JsonFloat) return value.value;
  if (Array.isArray(value)) return value.map((item: unknown) => settleNumbers(item));
  if (isJsonObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, settleNumbers(inner)]));
  }
  return value;
}

/** Equality of decoded JSON, in which 10 and 10.0 differ. */
export function jsonEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (left instanceof JsonFloat || right instanceof JsonFloat) {
    return left instanceof JsonFloat && right instanceof JsonFloat && left.value === right.value;
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => jsonEqual(item, right[index]));
  }
  if (isJsonObject(left) && isJsonObject(right)) {
    const keys = Object.keys(left);
    return (
      keys.length === Object.keys(right).length &&
      keys.every((key) => Object.hasOwn(right, key) && jsonEqual(left[key], right[key]))
    );
  }
  return false;
}

/** A decoded number as an integer, if it was written as one and fits 64 bits. */
export function asInteger(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value !== 'number' || !Number.isInteger(value)) return undefined;
  const exact = BigInt(value);
  return exact > MAX_INT64 || exact < MIN_INT64 ? undefined : exact;
}
