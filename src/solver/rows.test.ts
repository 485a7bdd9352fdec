import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addRow, floatAt, intAt, isWithin, itemAt, Rows } from './rows.ts';

describe('reading by index', () => {
  it('reads each kind of list', () => {
    expect(floatAt(Float64Array.of(1.5, 2.5), 1)).toBe(2.5);
    expect(intAt(Int32Array.of(4, 5), 0)).toBe(4);
    expect(itemAt(['a', 'b'], 1)).toBe('b');
  });
});

describe('Rows', () => {
  const rows = new Rows(3, Float64Array.of(1, 2, 3, 4, 5, 6));

  it('reads a cell, a view and a copy', () => {
    expect(rows.get(1, 2)).toBe(6);
    expect([...rows.row(1)]).toEqual([4, 5, 6]);
    const copy = rows.copy(0);
    copy[0] = 9;
    expect(rows.get(0, 0)).toBe(1);
    const own = Rows.empty(2, 2);
    own.row(1)[0] = 7;
    expect(own.get(1, 0)).toBe(7);
  });

  it('holds a load only when no column is exceeded', () => {
    expect(rows.holds(1, Float64Array.of(4, 5, 6))).toBe(true);
    expect(rows.holds(1, Float64Array.of(0, 0, 6.001))).toBe(false);
    expect(isWithin(Float64Array.of(1, 3), Float64Array.of(1, 2))).toBe(false);
  });

  it('counts how often a load is held', () => {
    expect(rows.timesHeld(1, Float64Array.of(2, 1, 0), 10)).toBe(2);
    expect(rows.timesHeld(1, Float64Array.of(0, 0, 0), 10)).toBe(10);
  });

  it('tells the share that a load takes of its scarcest column', () => {
    expect(rows.largestShare(1, Float64Array.of(1, 0, 3))).toBe(0.5);
  });

  it('adds, copies and values rows as vectors', () => {
    const amount = fc.integer({ min: -1000, max: 1000 });
    fc.assert(
      fc.property(fc.array(amount, { minLength: 2, maxLength: 6 }), amount, (cells, times) => {
        const one = new Rows(cells.length, Float64Array.from(cells));
        const target = Float64Array.from(cells, () => 1);
        one.addTo(target, 0, times);
        const other = Float64Array.from(cells, () => 1);
        addRow(other, one.row(0), times);
        expect([...target]).toEqual(cells.map((cell) => 1 + times * cell));
        expect([...other]).toEqual([...target]);
        const sum = cells.reduce((total, cell) => total + cell * times, 0);
        expect(
          one.valueOf(
            0,
            Float64Array.from(cells, () => times),
          ),
        ).toBe(sum);
        one.copyTo(target, 0);
        expect([...target]).toEqual(cells);
      }),
    );
  });
});
