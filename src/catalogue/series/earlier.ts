/**
 * Sizes of an earlier generation that clients still request: the Azure CLI up to 2.6x creates clusters with
 * `Standard_DS2_v2`. Current sizes are cheaper in every respect, so no plan would choose these.
 */
import { series, type LocalDisk, type SkuSeries } from './skuSeriesRow.ts';

const DISK: LocalDisk = { kind: 'cache', cacheGiBPerCpu: 43, tempGiBPerCpu: 7 };
const ds = (size: number, cpus: number): SkuSeries =>
  series(`DS${size}_v2`, 'standardDSv2Family', [cpus], 3.5, DISK, { ultra: false });

export const earlierSeries: readonly SkuSeries[] = [ds(2, 2), ds(3, 4), ds(4, 8), ds(5, 16)];
