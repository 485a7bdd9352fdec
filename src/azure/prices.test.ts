import { describe, expect, it } from 'vitest';
import { listPrices } from '../catalogue/skuCatalogue.ts';
import { readPrices } from './prices.ts';

describe('reading the price list', () => {
  const item = (skuName: string, retailPrice: number, productName = 'Virtual Machines Dsv5 Series') => ({
    armSkuName: 'Standard_D2s_v5',
    skuName,
    productName,
    meterName: skuName,
    retailPrice,
  });

  it('tells spot from on-demand and leaves out what is for other systems', () => {
    const { onDemand, spot } = readPrices([
      item('D2s v5', 0.096),
      item('D2s v5', 0.188, 'Virtual Machines Dsv5 Series Windows'),
      item('D2s v5 Spot', 0.02),
      item('D2s v5 Low Priority', 0.01),
      item('D2s v5', 0.05, 'Dsv5 Series CloudServices'),
    ]);
    expect([...onDemand]).toEqual([['Standard_D2s_v5', 0.096]]);
    expect([...spot]).toEqual([['Standard_D2s_v5', 0.02]]);
  });

  it('does not depend on the order of several meters of one size', () => {
    const items = [item('D2s v5', 0.1), item('D2s v5', 0.096), item('D2s v5', 0)];
    expect(readPrices(items)).toEqual(readPrices(items.toReversed()));
    expect(readPrices(items).onDemand.get('Standard_D2s_v5')).toBe(0.096);
  });
});

describe('list prices', () => {
  it('know every generation that can be a node, also those that the local Azure does not sell', () => {
    const prices = listPrices('southcentralus');
    expect(prices.get('Standard_A2_v2')).toBe(0.0903);
    expect(prices.get('Standard_D14_v2')).toBe(1.33);
    expect(prices.get('Standard_D128nls_v6')).toBe(8.709);
  });

  it('are those of eastus in a region that the table does not have', () => {
    expect(listPrices('chinaeast3')).toEqual(listPrices('eastus'));
  });
});
