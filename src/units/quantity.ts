/**
 * An exact amount of a resource, from Kubernetes quantity text ("100m", "1Gi", "2e3") or a number. Compared and added
 * without rounding, printed as Kubernetes prints it.
 */
import { UnitError } from './unitError.ts';

export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

const NANO = 1_000_000_000;
const NANO_BIG = 1_000_000_000n;
const MAX_INT64 = 9_223_372_036_854_775_807n;
/** Digits that a double holds without loss. */
const SAFE_DIGITS = 15;
/** No real amount comes near 10^512; more would only let a short text allocate without bound. */
const MAX_EXPONENT = 512;
const MAX_DIGITS = 1024;
const PARSE_CACHE_LIMIT = 8192;
const MAX_CACHED_LENGTH = 32;

const SHAPE = /^([+-]?)(\d*)(\.\d*)?([numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?$/;

const DECIMAL_EXPONENTS: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const BINARY_EXPONENTS: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };
const DECIMAL_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** Cache: the same texts occur hundreds of thousands of times, and quantities are immutable. */
const parsed = new Map<string, Quantity>();

export class Quantity {
  static readonly zero = new Quantity(0, 0, undefined, 'DecimalSI');

  readonly format: QuantityFormat;
  /** Largest integer ≤ the amount; meaningless when `big` is set. */
  private readonly whole: number;
  /** The rest, in billionths: 0 ≤ nano < 10^9. */
  private readonly nano: number;
  /** The whole amount in billionths, only when `whole` would not be a safe integer. */
  private readonly big: bigint | undefined;

  private constructor(whole: number, nano: number, big: bigint | undefined, format: QuantityFormat) {
    this.whole = whole;
    this.nano = nano;
    this.big = big;
    this.format = format;
  }

  /** Throws a `UnitError` with the problem. Precision below nano is rounded away from zero, as in Kubernetes. */
  static parse(text: string | number): Quantity {
    if (typeof text === 'number') {
      if (Number.isSafeInteger(text)) return Quantity.fromParts(text, 0, 'DecimalSI');
      return Quantity.parseText(String(text));
    }
    const known = parsed.get(text);
    if (known !== undefined) return known;
    const quantity = Quantity.parseText(text);
    if (text.length <= MAX_CACHED_LENGTH) {
      if (parsed.size >= PARSE_CACHE_LIMIT) parsed.clear();
      parsed.set(text, quantity);
    }
    return quantity;
  }

  /** `undefined` where `parse` would throw. */
  static tryParse(text: string | number): Quantity | undefined {
    try {
      return Quantity.parse(text);
    } catch (error) {
      if (error instanceof UnitError) return undefined;
      throw error;
    }
  }

  /** An integral amount. */
  static fromValue(value: number | bigint, format: QuantityFormat = 'DecimalSI'): Quantity {
    if (typeof value === 'number' && Number.isSafeInteger(value)) return Quantity.fromParts(value, 0, format);
    return Quantity.fromNano(BigInt(value) * NANO_BIG, format);
  }

  /** An integral number of thousandths (millicores). */
  static fromMilli(milli: number | bigint, format: QuantityFormat = 'DecimalSI'): Quantity {
    if (typeof milli === 'number' && Number.isSafeInteger(milli)) {
      const whole = Math.floor(milli / 1000);
      return Quantity.fromParts(whole, (milli - whole * 1000) * 1_000_000, format);
    }
    return Quantity.fromNano(BigInt(milli) * 1_000_000n, format);
  }

  /** An integral number of billionths. */
  static fromNano(nano: bigint, format: QuantityFormat = 'DecimalSI'): Quantity {
    let whole = nano / NANO_BIG;
    let rest = nano - whole * NANO_BIG;
    if (rest < 0n) {
      whole -= 1n;
      rest += NANO_BIG;
    }
    const wholeNumber = Number(whole);
    if (Number.isSafeInteger(wholeNumber)) return Quantity.fromParts(wholeNumber, Number(rest), format);
    return new Quantity(0, 0, nano, format);
  }

  /** `whole` must be a safe integer and 0 ≤ nano < 10^9. */
  private static fromParts(whole: number, nano: number, format: QuantityFormat): Quantity {
    // Adding zero turns -0 into 0.
    return new Quantity(whole + 0, nano, undefined, format);
  }

  private static parseText(text: string): Quantity {
    const match = SHAPE.exec(text.trim());
    if (match === null) {
      throw invalid(text, 'write a decimal number and an optional suffix such as m, k, M, Ki, Mi, Gi or e3.');
    }
    const [, sign, integer = '', fraction = '', suffix = ''] = match;
    const digits = integer + fraction.slice(1);
    if (digits === '') throw invalid(text, 'it has no digits.');
    if (digits.length > MAX_DIGITS) throw invalid(text, `it has more than ${MAX_DIGITS} digits.`);
    const binaryExponent = BINARY_EXPONENTS[suffix];
    const decimalSuffix = suffix === '' ? 0 : DECIMAL_EXPONENTS[suffix];
    const isExponent = binaryExponent === undefined && decimalSuffix === undefined;
    const exponent = (isExponent ? Number(suffix.slice(1)) : (decimalSuffix ?? 0)) - Math.max(fraction.length - 1, 0);
    if (exponent > MAX_EXPONENT) throw invalid(text, `the exponent is above ${MAX_EXPONENT}.`);
    const negative = sign === '-';
    const format = isExponent ? 'DecimalExponent' : 'DecimalSI';
    if (binaryExponent === undefined) {
      return (
        Quantity.fromShortDecimal(digits, exponent, negative, format) ??
        Quantity.fromLong(digits, exponent, 0, negative, format)
      );
    }
    const whole = fraction === '' && digits.length <= SAFE_DIGITS ? Number(digits) * 2 ** binaryExponent : Number.NaN;
    if (Number.isSafeInteger(whole)) return Quantity.fromParts(negative ? -whole : whole, 0, 'BinarySI');
    return Quantity.fromLong(digits, exponent, binaryExponent, negative, 'BinarySI');
  }

  /** Plain double arithmetic, where it is exact. */
  private static fromShortDecimal(
    digits: string,
    exponent: number,
    negative: boolean,
    format: QuantityFormat,
  ): Quantity | undefined {
    if (digits.length > SAFE_DIGITS || exponent < -9 || exponent > SAFE_DIGITS) return undefined;
    const value = Number(digits);
    if (exponent >= 0) {
      const whole = value * 10 ** exponent;
      return Number.isSafeInteger(whole) ? Quantity.fromParts(negative ? -whole : whole, 0, format) : undefined;
    }
    const divisor = 10 ** -exponent;
    const rest = value % divisor;
    const quantity = Quantity.fromParts((value - rest) / divisor, rest * 10 ** (9 + exponent), format);
    return negative ? quantity.negate() : quantity;
  }

  private static fromLong(
    digits: string,
    decimalExponent: number,
    binaryExponent: number,
    negative: boolean,
    format: QuantityFormat,
  ): Quantity {
    const nano = absoluteNano(digits, decimalExponent, binaryExponent);
    const kept = format === 'BinarySI' && nano > 0n && nano < NANO_BIG ? 'DecimalSI' : format;
    return Quantity.fromNano(negative ? -nano : nano, kept);
  }

  add(other: Quantity): Quantity {
    const format = this.isZero() ? other.format : this.format;
    if (this.big === undefined && other.big === undefined) {
      const whole = this.whole + other.whole;
      const nano = this.nano + other.nano;
      if (hasRoomForCarry(whole)) {
        return nano < NANO
          ? Quantity.fromParts(whole, nano, format)
          : Quantity.fromParts(whole + 1, nano - NANO, format);
      }
    }
    return Quantity.fromNano(this.nanoValue() + other.nanoValue(), format);
  }

  subtract(other: Quantity): Quantity {
    const format = this.isZero() ? other.format : this.format;
    if (this.big === undefined && other.big === undefined) {
      const whole = this.whole - other.whole;
      const nano = this.nano - other.nano;
      if (hasRoomForCarry(whole)) {
        return nano >= 0 ? Quantity.fromParts(whole, nano, format) : Quantity.fromParts(whole - 1, nano + NANO, format);
      }
    }
    return Quantity.fromNano(this.nanoValue() - other.nanoValue(), format);
  }

  negate(): Quantity {
    if (this.big !== undefined) return Quantity.fromNano(-this.big, this.format);
    if (this.nano === 0) return Quantity.fromParts(-this.whole, 0, this.format);
    return Quantity.fromParts(-this.whole - 1, NANO - this.nano, this.format);
  }

  /** This amount `count` times; `count` is an integer. */
  multiply(count: number): Quantity {
    if (this.big === undefined) {
      const nano = this.nano * count;
      const carry = Math.floor(nano / NANO);
      const whole = this.whole * count + carry;
      if (Number.isSafeInteger(nano) && Number.isSafeInteger(this.whole * count) && Number.isSafeInteger(whole)) {
        return Quantity.fromParts(whole, nano - carry * NANO, this.format);
      }
    }
    return Quantity.fromNano(this.nanoValue() * BigInt(count), this.format);
  }

  /** Negative, zero or positive, as for `Array.sort`. Ignores the format. */
  compare(other: Quantity): -1 | 0 | 1 {
    if (this.big === undefined && other.big === undefined) {
      if (this.whole !== other.whole) return this.whole < other.whole ? -1 : 1;
      if (this.nano !== other.nano) return this.nano < other.nano ? -1 : 1;
      return 0;
    }
    const left = this.nanoValue();
    const right = other.nanoValue();
    if (left === right) return 0;
    return left < right ? -1 : 1;
  }

  equals(other: Quantity): boolean {
    return this.compare(other) === 0;
  }

  isZero(): boolean {
    return this.whole === 0 && this.nano === 0 && this.big === undefined;
  }

  sign(): -1 | 0 | 1 {
    if (this.big !== undefined) return this.big < 0n ? -1 : 1;
    if (this.whole < 0) return -1;
    return this.isZero() ? 0 : 1;
  }

  /** Thousandths, rounded away from zero; the nearest double beyond 2^53. */
  milliValue(): number {
    if (this.big !== undefined) return Number(divideAwayFromZero(this.big, 1_000_000n));
    const rest = this.nano / 1_000_000;
    return this.whole * 1000 + (this.whole < 0 ? Math.floor(rest) : Math.ceil(rest));
  }

  /** Units, rounded away from zero; the nearest double beyond 2^53. */
  value(): number {
    if (this.big !== undefined) return Number(divideAwayFromZero(this.big, NANO_BIG));
    return this.whole < 0 || this.nano === 0 ? this.whole : this.whole + 1;
  }

  /** Thousandths, rounded down. */
  milliFloor(): number {
    if (this.big !== undefined) return Number(divideDown(this.big, 1_000_000n));
    return this.whole * 1000 + Math.floor(this.nano / 1_000_000);
  }

  /** Units, rounded down. */
  floor(): number {
    return this.big === undefined ? this.whole : Number(divideDown(this.big, NANO_BIG));
  }

  /** The exact amount in billionths. */
  nanoValue(): bigint {
    return this.big ?? BigInt(this.whole) * NANO_BIG + BigInt(this.nano);
  }

  /** Canonical text: no fraction digits, the largest suffix that keeps the amount exact. */
  toString(): string {
    if (this.isZero()) return '0';
    if (this.format === 'BinarySI') {
      const text = this.binaryText();
      if (text !== undefined) return text;
    }
    return this.decimalText();
  }

  toJSON(): string {
    return this.toString();
  }

  /** `undefined` for small or fractional amounts, which Kubernetes prints in decimal. */
  private binaryText(): string | undefined {
    const nano = this.nanoValue();
    if (nano % NANO_BIG !== 0n) return undefined;
    let value = nano / NANO_BIG;
    if (value > -1024n && value < 1024n) return undefined;
    let power = 0;
    while (power < BINARY_SUFFIXES.length - 1 && value % 1024n === 0n) {
      value /= 1024n;
      power += 1;
    }
    return `${value}${BINARY_SUFFIXES[power] ?? ''}`;
  }

  private decimalText(): string {
    let value = this.nanoValue();
    let step = 0;
    const last = this.format === 'DecimalExponent' ? Number.POSITIVE_INFINITY : DECIMAL_SUFFIXES.length - 1;
    while (step < last && value % 1000n === 0n) {
      value /= 1000n;
      step += 1;
    }
    if (this.format !== 'DecimalExponent') return `${value}${DECIMAL_SUFFIXES[step] ?? ''}`;
    const exponent = step * 3 - 9;
    return exponent === 0 ? `${value}` : `${value}e${exponent}`;
  }
}

/** The absolute amount in billionths, rounded up, capped at the largest int64 for binary suffixes as Kubernetes does. */
function absoluteNano(digits: string, decimalExponent: number, binaryExponent: number): bigint {
  const shift = decimalExponent + 9;
  const scaled = BigInt(digits) << BigInt(binaryExponent);
  if (scaled === 0n) return 0n;
  if (shift >= 0) {
    const nano = scaled * 10n ** BigInt(shift);
    return binaryExponent > 0 && nano > MAX_INT64 * NANO_BIG ? MAX_INT64 * NANO_BIG : nano;
  }
  // Less than one billionth whatever the digits: rounding up gives one.
  if (-shift > MAX_DIGITS + 20) return 1n;
  const nano = divideAwayFromZero(scaled, 10n ** BigInt(-shift));
  return binaryExponent > 0 && nano > MAX_INT64 * NANO_BIG ? MAX_INT64 * NANO_BIG : nano;
}

/** A sum at the edge may have been rounded into the safe range. */
function hasRoomForCarry(whole: number): boolean {
  return whole < Number.MAX_SAFE_INTEGER && whole > Number.MIN_SAFE_INTEGER;
}

function divideAwayFromZero(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  if (quotient * divisor === value) return quotient;
  return value < 0n ? quotient - 1n : quotient + 1n;
}

function divideDown(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  return value < 0n && quotient * divisor !== value ? quotient - 1n : quotient;
}

function invalid(text: string, reason: string): UnitError {
  const shown = text.length > 64 ? `${text.slice(0, 64)}…` : text;
  return new UnitError('InvalidQuantity', text, `"${shown}" is not a quantity: ${reason}`);
}
