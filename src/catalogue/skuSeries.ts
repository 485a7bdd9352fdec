/**
 * The VM series that Azure sells for AKS nodes, one row per series; skuCatalogue.ts expands them into SKUs. Data from
 * Azure's public documentation of sizes.
 */
import { acceleratedSeries } from './series/accelerated.ts';
import { burstableSeries } from './series/burstable.ts';
import { computeSeries } from './series/compute.ts';
import { generalSeries } from './series/general.ts';
import { memorySeries } from './series/memory.ts';
import { storageSeries } from './series/storage.ts';
import type { SkuSeries } from './series/skuSeriesRow.ts';

export const SKU_SERIES: readonly SkuSeries[] = [
  ...generalSeries,
  ...burstableSeries,
  ...memorySeries,
  ...computeSeries,
  ...storageSeries,
  ...acceleratedSeries,
];
