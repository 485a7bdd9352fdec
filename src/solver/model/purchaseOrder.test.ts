import { describe, expect, it } from 'vitest';
import { testPool, testType, withRegional } from '../../../test/fixtures/solver/testObjects.ts';
import { compilePool } from './compiledPool.ts';
import { PurchaseOrder } from './purchaseOrder.ts';
import { ResourceTable } from './resourceTable.ts';

/** At one price in z1, z2 and no zone; the second type costs twice as much. */
function evenly(name: string, price: number) {
  const type = testType(name, 2, 8, price, ['z1', 'z2']);
  const regional = withRegional(type);
  const onDemand = regional.offerings.filter(({ capacityType }) => capacityType === 'on-demand');
  return { ...regional, offerings: onDemand.map((offering) => ({ ...offering, price })) };
}

const pool = compilePool(
  { pool: testPool('default'), instanceTypes: [evenly('a', 0.1), evenly('b', 0.2)], used: {} },
  0,
  [],
  ResourceTable.of([]),
);

const orderFor = (zone: string): string[] => {
  const purchases = PurchaseOrder.in(pool);
  return Array.from(purchases.of(0, pool.offerings, zone), (each) => {
    const { instanceType, zone: own } = purchases.alternative(each);
    return `${instanceType} ${own}`;
  });
};

describe('the order of purchase', () => {
  it.each([
    ['z1', ['a z1', 'a z2', 'a 0', 'b z1', 'b z2', 'b 0']],
    ['z2', ['a z2', 'a z1', 'a 0', 'b z2', 'b z1', 'b 0']],
    ['0', ['a 0', 'a z1', 'a z2', 'b 0', 'b z1', 'b z2']],
  ])('is by price, then %s, other zones, no zone', (zone, expected) => {
    expect(orderFor(zone)).toEqual(expected);
  });

  it('names an offering by one object', () => {
    const purchases = PurchaseOrder.in(pool);
    expect(purchases.alternative(0)).toBe(purchases.alternative(0));
  });
});
