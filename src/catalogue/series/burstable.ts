/** Burstable: cheap at low load. Not available as spot instances. */
import { ARM, NO_DISK, series, type SkuSeries } from './skuSeriesRow.ts';

const BURSTABLE = { spot: false, ultra: false } as const;
const TO_16 = [2, 4, 8, 16];
const TO_32 = [...TO_16, 32];
const CACHE_30 = { kind: 'fixedCache', cacheGiB: 30, tempGiBPerCpu: 8 } as const;

export const burstableSeries: readonly SkuSeries[] = [
  series('B#s', 'standardBSFamily', [2], 2, { ...CACHE_30, tempGiBPerCpu: 4 }, BURSTABLE),
  series('B#ms', 'standardBSFamily', [2, 4, 8, 12, 16, 20], 4, CACHE_30, BURSTABLE),
  series('B#s_v2', 'standardBsv2Family', TO_32, 4, NO_DISK, BURSTABLE),
  series('B#ls_v2', 'standardBsv2Family', TO_32, 2, NO_DISK, BURSTABLE),
  series('B#as_v2', 'standardBasv2Family', TO_32, 4, NO_DISK, BURSTABLE),
  series('B#als_v2', 'standardBasv2Family', TO_32, 2, NO_DISK, BURSTABLE),
  series('B#ps_v2', 'standardBpsv2Family', TO_16, 4, NO_DISK, { ...BURSTABLE, ...ARM }),
  series('B#pls_v2', 'standardBpsv2Family', TO_16, 2, NO_DISK, { ...BURSTABLE, ...ARM }),
];
