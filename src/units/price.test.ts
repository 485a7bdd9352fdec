import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Price, PriceAdjustment } from './price.ts';
import { UnitError } from './unitError.ts';

describe('Price', () => {
  it.each([
    ['0', '0'],
    ['0.096', '0.096'],
    ['12.50', '12.5'],
    ['007', '7'],
    ['0.0000000015', '0.000000002'],
    ['0.0000000014', '0.000000001'],
  ])('reads %s as %s', (text, printed) => {
    expect(Price.parse(text).toString()).toBe(printed);
  });

  it.each(['', '-1', '+1', '.5', '1.', '1e3', 'free', '99999999', '1'.repeat(100)])('refuses %j', (text) => {
    expect(() => Price.parse(text)).toThrow(UnitError);
  });

  it('does not drift', () => {
    let total = Price.zero;
    for (let i = 0; i < 10; i += 1) total = total.add(Price.fromDollars(0.1));
    expect(total.toString()).toBe('1');
    expect(Price.parse('0.1').multiply(3).equals(Price.parse('0.3'))).toBe(true);
    expect(Price.parse('0.1').subtract(Price.parse('0.3')).toString()).toBe('-0.2');
    expect(() => Price.fromDollars(Number.POSITIVE_INFINITY)).toThrow(UnitError);
    expect(() => Price.parse('9000000').multiply(2)).toThrow(UnitError);
  });

  it('round-trips through its text, in order', () => {
    const amount = fc.nat({ max: Number.MAX_SAFE_INTEGER });
    fc.assert(
      fc.property(amount, amount, (left, right) => {
        const price = Price.fromNanodollars(left);
        expect(Price.parse(price.toString())).toEqual(price);
        expect(price.compare(Price.fromNanodollars(right))).toBe(Math.sign(left - right));
      }),
    );
  });

  it('reads doubles as the decimal they stand for', () => {
    fc.assert(
      fc.property(fc.nat({ max: 1_000_000_000 }), (micros) => {
        expect(Price.fromDollars(micros / 1_000_000).nanodollars).toBe(micros * 1000);
      }),
    );
  });
});

describe('PriceAdjustment', () => {
  it.each([
    ['2', '0.5', '0.5'],
    ['2', '+0.5', '2.5'],
    ['2', '-0.5', '1.5'],
    ['2', '-.5', '1.5'],
    ['2', '-3', '0'],
    ['2', '+10%', '2.2'],
    ['2', '-10%', '1.8'],
    ['2', '-12.5%', '1.75'],
    ['2', '+.5%', '2.01'],
    ['2', '-100%', '0'],
    ['0.000000001', '+50%', '0.000000002'],
    ['0.000000001', '-51%', '0'],
  ])('%s adjusted by %s is %s', (price, adjustment, expected) => {
    expect(PriceAdjustment.parse(adjustment).apply(Price.parse(price)).toString()).toBe(expected);
  });

  it.each(['', '+', '%', '10%', '-101%', '-100.5%', '1e3', '+-1', '1.'])('refuses %j', (text) => {
    expect(() => PriceAdjustment.parse(text)).toThrow(UnitError);
  });
});
