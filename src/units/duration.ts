/**
 * Spans of time as Go writes them ("1h30m", "300ms", "-1.5h"), printed exactly as Go prints them. `NillableDuration`
 * adds "Never" and remembers the text it was read from.
 */
import { UnitError } from './unitError.ts';

const SECOND = 1_000_000_000n;
const MINUTE = 60n * SECOND;
const HOUR = 60n * MINUTE;
const LIMIT = 1n << 63n;

const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  // The same letter by its other code point, as Go accepts both.
  μs: 1000n,
  ms: 1_000_000n,
  s: SECOND,
  m: MINUTE,
  h: HOUR,
};

const COMPONENT = /(\d*)(\.\d*)?([^\d.]+)/y;

export class Duration {
  static readonly zero = new Duration(0n);

  readonly nanoseconds: bigint;

  private constructor(nanoseconds: bigint) {
    this.nanoseconds = nanoseconds;
  }

  static parse(text: string): Duration {
    return new Duration(parseNanoseconds(text));
  }

  /** `undefined` where `parse` would throw. */
  static tryParse(text: string): Duration | undefined {
    try {
      return Duration.parse(text);
    } catch (error) {
      if (error instanceof UnitError) return undefined;
      throw error;
    }
  }

  static fromMilliseconds(milliseconds: number): Duration {
    const nanoseconds = BigInt(Math.round(milliseconds * 1_000_000));
    if (nanoseconds >= LIMIT || nanoseconds < -LIMIT) throw tooLong(`${milliseconds}ms`);
    return new Duration(nanoseconds);
  }

  /** May have a fraction for spans finer than a millisecond. */
  get milliseconds(): number {
    return Number(this.nanoseconds) / 1_000_000;
  }

  compare(other: Duration): -1 | 0 | 1 {
    if (this.nanoseconds === other.nanoseconds) return 0;
    return this.nanoseconds < other.nanoseconds ? -1 : 1;
  }

  equals(other: Duration): boolean {
    return this.nanoseconds === other.nanoseconds;
  }

  /** "1h30m0s", "1.5s", "300ms", "0s": as Go's Duration.String. */
  toString(): string {
    if (this.nanoseconds === 0n) return '0s';
    const sign = this.nanoseconds < 0n ? '-' : '';
    const absolute = this.nanoseconds < 0n ? -this.nanoseconds : this.nanoseconds;
    if (absolute < SECOND) return sign + subSecondText(absolute);
    const seconds = decimal(absolute % MINUTE, 9);
    const minutes = (absolute / MINUTE) % 60n;
    const hours = absolute / HOUR;
    if (hours > 0n) return `${sign}${hours}h${minutes}m${seconds}s`;
    return minutes > 0n ? `${sign}${minutes}m${seconds}s` : `${sign}${seconds}s`;
  }

  toJSON(): string {
    return this.toString();
  }
}

/** A duration or "Never". The text is kept, so that "1h" is not rewritten as "1h0m0s". */
export class NillableDuration {
  /** `undefined` means never. */
  readonly duration: Duration | undefined;
  readonly text: string;

  private constructor(duration: Duration | undefined, text: string) {
    this.duration = duration;
    this.text = text;
  }

  static parse(text: string): NillableDuration {
    return new NillableDuration(text === 'Never' ? undefined : Duration.parse(text), text);
  }

  get isNever(): boolean {
    return this.duration === undefined;
  }

  /** `undefined` means never. */
  get milliseconds(): number | undefined {
    return this.duration?.milliseconds;
  }

  toString(): string {
    return this.text;
  }

  toJSON(): string {
    return this.text;
  }
}

function parseNanoseconds(text: string): bigint {
  const negative = text.startsWith('-');
  const body = negative || text.startsWith('+') ? text.slice(1) : text;
  if (body === '0') return 0n;
  if (body === '') throw invalid(text, 'it is empty.');
  let total = 0n;
  COMPONENT.lastIndex = 0;
  while (COMPONENT.lastIndex < body.length) {
    const match = COMPONENT.exec(body);
    if (match === null) throw invalid(text, 'write numbers with units, such as 1h30m or 300ms.');
    total += componentNanoseconds(text, match[1] ?? '', match[2] ?? '', match[3] ?? '');
    if (total > LIMIT) throw tooLong(text);
  }
  if (total === LIMIT && !negative) throw tooLong(text);
  return negative ? -total : total;
}

function componentNanoseconds(text: string, integer: string, fraction: string, unitName: string): bigint {
  const unit = Object.hasOwn(UNITS, unitName) ? UNITS[unitName] : undefined;
  if (unit === undefined) throw invalid(text, `"${unitName}" is not a unit; use h, m, s, ms, us or ns.`);
  if (integer === '' && fraction.length <= 1) throw invalid(text, 'a number is missing before its unit.');
  return BigInt(integer === '' ? 0 : integer) * unit + fractionNanoseconds(fraction.slice(1), unit);
}

/** Go multiplies the fraction in floating point and truncates; the same operations give the same nanoseconds. */
function fractionNanoseconds(digits: string, unit: bigint): bigint {
  let fraction = 0n;
  let scale = 1;
  for (const digit of digits) {
    const next = fraction * 10n + BigInt(digit);
    if (next > LIMIT) break;
    fraction = next;
    scale *= 10;
  }
  return BigInt(Math.trunc(Number(fraction) * (Number(unit) / scale)));
}

function subSecondText(nanoseconds: bigint): string {
  if (nanoseconds < 1000n) return `${nanoseconds}ns`;
  return nanoseconds < 1_000_000n ? `${decimal(nanoseconds, 3)}µs` : `${decimal(nanoseconds, 6)}ms`;
}

/** `value / 10^places` without trailing zeros. */
function decimal(value: bigint, places: number): string {
  const divisor = 10n ** BigInt(places);
  const fraction = (value % divisor).toString().padStart(places, '0').replace(/0+$/, '');
  return fraction === '' ? `${value / divisor}` : `${value / divisor}.${fraction}`;
}

function tooLong(text: string): UnitError {
  return invalid(text, 'it is longer than about 292 years.');
}

function invalid(text: string, reason: string): UnitError {
  return new UnitError('InvalidDuration', text, `"${text}" is not a duration: ${reason}`);
}
