import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Quantity, type QuantityFormat } from './quantity.ts';
import { UnitError } from './unitError.ts';

// Expected texts were recorded from k8s.io/apimachinery's resource.Quantity.
const canonicalTexts: readonly (readonly [string, string])[] = [
  ['0', '0'],
  ['0Ki', '0'],
  ['-0.0', '0'],
  ['100m', '100m'],
  ['1000m', '1'],
  ['0.5', '500m'],
  ['.5', '500m'],
  ['1.', '1'],
  ['+5', '5'],
  ['1500', '1500'],
  ['1000', '1k'],
  ['1234567', '1234567'],
  ['1024Mi', '1Gi'],
  ['1.5Gi', '1536Mi'],
  ['1.1Ki', '1126400m'],
  ['0.5Ki', '512'],
  ['1023Ki', '1023Ki'],
  ['-2048', '-2048'],
  ['-2Ki', '-2Ki'],
  ['100n', '100n'],
  ['1.25u', '1250n'],
  ['0.0000000001', '1n'],
  ['-0.0000000001', '-1n'],
  ['1.0000000001', '1000000001n'],
  ['1e3', '1e3'],
  ['1E3', '1e3'],
  ['12e-4', '1200e-6'],
  ['1e-12', '1e-9'],
  ['1E', '1E'],
  ['1e30', '1e30'],
  ['12345678901234567890', '12345678901234567890'],
  ['9223372036854775807Ki', '9223372036854775807'],
  ['-100Ei', '-9223372036854775807'],
  [' 2 ', '2'],
];

const formats: readonly QuantityFormat[] = ['DecimalSI', 'BinarySI', 'DecimalExponent'];
const smallNano = fc.bigInt({ min: -(10n ** 13n), max: 10n ** 13n });
const wideNano = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n });
/** Round amounts are the ones that get suffixes. */
const roundNano = fc
  .tuple(fc.bigInt({ min: -5000n, max: 5000n }), fc.constantFrom(10n, 1000n, 1024n), fc.integer({ min: 0, max: 7 }))
  .map(([count, base, power]) => count * base ** BigInt(power) * 1_000_000n);
const edgeNano = fc
  .tuple(fc.constantFrom(-1n, 1n), fc.bigInt({ min: -3n, max: 3n }), fc.bigInt({ min: 0n, max: 10n ** 9n }))
  .map(([sign, offset, rest]) => sign * ((2n ** 53n + offset) * 10n ** 9n + rest));
const nano = fc.oneof(smallNano, wideNano, roundNano, edgeNano);
const quantity = fc.tuple(nano, fc.constantFrom(...formats)).map(([value, format]) => Quantity.fromNano(value, format));

describe('Quantity', () => {
  it.each(canonicalTexts)('prints %s as %s', (text, canonical) => {
    expect(Quantity.parse(text).toString()).toBe(canonical);
    expect(JSON.stringify({ amount: Quantity.parse(text) })).toBe(`{"amount":"${canonical}"}`);
  });

  it.each(['', ' ', 'm', 'Ki', '.', '-', '1x', '1 Gi', '1K', '1mi', '1e', '1e1.5', '--1', '0x10', '1_000', 'NaN'])(
    'refuses %j',
    (text) => {
      expect(() => Quantity.parse(text)).toThrow(UnitError);
      expect(Quantity.tryParse(text)).toBeUndefined();
    },
  );

  it('refuses texts that would allocate without bound, and rounds tiny amounts up', () => {
    expect(Quantity.tryParse('1e1000000000')).toBeUndefined();
    expect(Quantity.tryParse('1'.repeat(5000))).toBeUndefined();
    expect(Quantity.parse('1e-1000000000').toString()).toBe('1e-9');
    expect(Quantity.parse('0e-1000000000').isZero()).toBe(true);
  });

  it('takes numbers as JSON has them', () => {
    expect(Quantity.parse(2).toString()).toBe('2');
    expect(Quantity.parse(0.25).toString()).toBe('250m');
    expect(Quantity.parse(1e21).value()).toBe(1e21);
    expect(() => Quantity.parse(Number.NaN)).toThrow(UnitError);
    expect(() => Quantity.parse(Number.POSITIVE_INFINITY)).toThrow(UnitError);
  });

  it('rounds thousandths and units away from zero', () => {
    expect(Quantity.parse('1n').milliValue()).toBe(1);
    expect(Quantity.parse('-1n').milliValue()).toBe(-1);
    expect(Quantity.parse('1.0005').milliValue()).toBe(1001);
    expect(Quantity.parse('-1.0005').milliValue()).toBe(-1001);
    expect(Quantity.parse('1m').value()).toBe(1);
    expect(Quantity.parse('-1m').value()).toBe(-1);
    expect(Quantity.parse('1Gi').value()).toBe(1_073_741_824);
  });

  it('keeps the format of the first operand unless that is zero', () => {
    expect(Quantity.parse('1Gi').add(Quantity.parse('1073741824')).toString()).toBe('2Gi');
    expect(Quantity.zero.add(Quantity.parse('1Gi')).toString()).toBe('1Gi');
    expect(Quantity.parse('1e3').subtract(Quantity.parse('1')).toString()).toBe('999');
    expect(Quantity.zero.subtract(Quantity.parse('2Ki')).toString()).toBe('-2Ki');
  });

  it('prints what it parses back to the same text and amount', () => {
    fc.assert(
      fc.property(quantity, (original) => {
        const text = original.toString();
        // Binary texts are capped at int64 when read, so larger sums have no text of their own.
        fc.pre(!text.endsWith('i') || Math.abs(original.value()) < 2 ** 62);
        const again = Quantity.parse(text);
        expect(again.equals(original)).toBe(true);
        // Text without a suffix reads as DecimalSI; the others keep their format and so their text.
        fc.pre(again.format === original.format);
        expect(again.toString()).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  it('agrees with integer arithmetic in billionths', () => {
    fc.assert(
      fc.property(nano, nano, fc.integer({ min: -100_000, max: 100_000 }), (left, right, count) => {
        const a = Quantity.fromNano(left);
        const b = Quantity.fromNano(right);
        expect(a.nanoValue()).toBe(left);
        expect(a.add(b).nanoValue()).toBe(left + right);
        expect(a.subtract(b).nanoValue()).toBe(left - right);
        expect(a.negate().nanoValue()).toBe(-left);
        expect(a.multiply(count).nanoValue()).toBe(left * BigInt(count));
        expect(a.compare(b)).toBe(left === right ? 0 : left < right ? -1 : 1);
        expect(a.equals(b)).toBe(left === right);
        expect(a.sign()).toBe(left === 0n ? 0 : left < 0n ? -1 : 1);
        expect(a.isZero()).toBe(left === 0n);
        expect(a.add(b).subtract(b).equals(a)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('holds one representation per amount, so that structural equality is equality', () => {
    fc.assert(
      fc.property(nano, nano, (left, right) => {
        expect(Quantity.fromNano(left).add(Quantity.fromNano(right))).toEqual(Quantity.fromNano(left + right));
      }),
      { numRuns: 200 },
    );
  });

  it('reads decimal text exactly', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[0-9]{1,20}$/),
        fc.stringMatching(/^[0-9]{0,9}$/),
        fc.constantFrom('', '-'),
        (integer, fraction, sign) => {
          const expected = BigInt(integer) * 10n ** 9n + BigInt(fraction.padEnd(9, '0'));
          const parsed = Quantity.parse(`${sign}${integer}.${fraction}`);
          expect(parsed.nanoValue()).toBe(sign === '-' ? -expected : expected);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('builds from thousandths', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (milli) => {
        expect(Quantity.fromMilli(milli).nanoValue()).toBe(BigInt(milli) * 1_000_000n);
        expect(Quantity.fromMilli(BigInt(milli))).toEqual(Quantity.fromMilli(milli));
        expect(Quantity.fromValue(milli).nanoValue()).toBe(BigInt(milli) * 10n ** 9n);
      }),
    );
  });
});
