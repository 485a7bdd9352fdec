/**
 * US dollars per hour, exact to the billionth: prices add, multiply and compare without drift. Also the adjustments
 * that NodeOverlays make to them.
 */
import { UnitError } from './unitError.ts';

const NANODOLLARS = 1_000_000_000;
const PRICE_SHAPE = /^(\d+)(?:\.(\d+))?$/;
const ADJUSTMENT_SHAPE = /^([+-]?)(\d*)(?:\.(\d+))?(%?)$/;
const MAX_DIGITS = 64;

export class Price {
  static readonly zero = new Price(0);

  /** A safe integer; may be negative in differences. */
  readonly nanodollars: number;

  private constructor(nanodollars: number) {
    this.nanodollars = nanodollars;
  }

  /** "0.096": digits with an optional fraction; finer than a billionth rounds half up. */
  static parse(text: string): Price {
    const match = text.length > MAX_DIGITS ? null : PRICE_SHAPE.exec(text);
    if (match === null) throw invalid(text, 'write dollars per hour as a plain decimal such as 0.096.');
    return fromScaled(BigInt(`${match[1]}${match[2] ?? ''}`), match[2]?.length ?? 0);
  }

  /** Rounds to the nearest billionth, which undoes the error of a double. */
  static fromDollars(dollars: number): Price {
    return Price.fromNanodollars(Math.round(dollars * NANODOLLARS));
  }

  static fromNanodollars(nanodollars: number): Price {
    if (!Number.isSafeInteger(nanodollars)) {
      throw invalid(String(nanodollars), 'it is not a finite amount below nine million dollars per hour.');
    }
    return new Price(nanodollars + 0);
  }

  get dollars(): number {
    return this.nanodollars / NANODOLLARS;
  }

  add(other: Price): Price {
    return Price.fromNanodollars(this.nanodollars + other.nanodollars);
  }

  subtract(other: Price): Price {
    return Price.fromNanodollars(this.nanodollars - other.nanodollars);
  }

  /** This price `count` times; `count` is an integer. */
  multiply(count: number): Price {
    return Price.fromNanodollars(this.nanodollars * count);
  }

  compare(other: Price): -1 | 0 | 1 {
    if (this.nanodollars === other.nanodollars) return 0;
    return this.nanodollars < other.nanodollars ? -1 : 1;
  }

  equals(other: Price): boolean {
    return this.nanodollars === other.nanodollars;
  }

  /** The shortest decimal: "0.096", "12". */
  toString(): string {
    const absolute = Math.abs(this.nanodollars);
    const rest = absolute % NANODOLLARS;
    const fraction = String(rest).padStart(9, '0').replace(/0+$/, '');
    const sign = this.nanodollars < 0 ? '-' : '';
    const whole = String((absolute - rest) / NANODOLLARS);
    return fraction === '' ? sign + whole : `${sign}${whole}.${fraction}`;
  }

  toJSON(): string {
    return this.toString();
  }
}

/** What an overlay does to a price: replace it ("0.5"), shift it ("+0.1", "-0.1") or scale it ("+10%", "-10%"). */
export class PriceAdjustment {
  readonly text: string;
  readonly kind: 'replace' | 'shift' | 'scale';
  /** Signed; dollars, or per cent for `scale`, as `digits / 10^places`. */
  private readonly digits: bigint;
  private readonly places: number;

  private constructor(text: string, kind: PriceAdjustment['kind'], digits: bigint, places: number) {
    this.text = text;
    this.kind = kind;
    this.digits = digits;
    this.places = places;
  }

  static parse(text: string): PriceAdjustment {
    const match = text.length > MAX_DIGITS ? null : ADJUSTMENT_SHAPE.exec(text);
    const [, sign, integer = '', fraction = '', percent] = match ?? [];
    if (match === null || integer + fraction === '' || (percent === '%' && sign === '')) {
      throw invalid(
        text,
        'write a price such as 0.5, a change such as +0.1 or -0.1, or a signed per cent such as -10%.',
      );
    }
    const digits = BigInt(integer + fraction) * (sign === '-' ? -1n : 1n);
    const kind = percent === '%' ? 'scale' : sign === '' ? 'replace' : 'shift';
    if (kind === 'scale' && digits < -100n * 10n ** BigInt(fraction.length)) {
      throw invalid(text, 'a price cannot fall by more than 100%.');
    }
    return new PriceAdjustment(text, kind, digits, fraction.length);
  }

  /** Never below zero; rounds half up to the billionth. */
  apply(price: Price): Price {
    const adjusted = this.adjusted(price);
    return adjusted.nanodollars < 0 ? Price.zero : adjusted;
  }

  private adjusted(price: Price): Price {
    if (this.kind === 'scale') {
      const hundred = 100n * 10n ** BigInt(this.places);
      return fromScaled(BigInt(price.nanodollars) * (hundred + this.digits), this.places + 2 + 9);
    }
    const amount = fromScaled(this.digits, this.places);
    return this.kind === 'replace' ? amount : price.add(amount);
  }

  toString(): string {
    return this.text;
  }
}

/** `digits / 10^places` dollars, half a billionth rounded up. */
function fromScaled(digits: bigint, places: number): Price {
  if (places <= 9) return Price.fromNanodollars(Number(digits * 10n ** BigInt(9 - places)));
  const divisor = 10n ** BigInt(places - 9);
  const doubled = 2n * digits + divisor;
  const quotient = doubled / (2n * divisor);
  const floor = doubled < 0n && quotient * 2n * divisor !== doubled ? quotient - 1n : quotient;
  return Price.fromNanodollars(Number(floor));
}

function invalid(text: string, reason: string): UnitError {
  return new UnitError('InvalidPrice', text, `"${text}" is not a price: ${reason}`);
}
