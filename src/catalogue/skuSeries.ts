/**
 * The virtual machine series that Azure sells for AKS nodes, one row per series: in parts by what they are good at. In:
 * nothing. Out: `SKU_SERIES`, which skuCatalogue.ts expands into resource SKUs. Facts are those of the public size
 * documentation.
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
