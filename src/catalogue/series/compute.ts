/** Compute: fast cores, with two, four or eight GiB each, or 21 for `FX`. */
import { GENERATION_2, NO_DISK, NVME, TO_64, series, type SkuSeries } from './skuSeriesRow.ts';

const TO_72 = [...TO_64, 72];
const TO_80 = [...TO_64, 80];
const FX = [2, 4, 8, 12, 16, 24, 32, 48, 64, 96];
const FX_LAST = { memoryGiB: { 96: 1832 } };

export const computeSeries: readonly SkuSeries[] = [
  series('F#s_v2', 'standardFSv2Family', TO_72, 2, {
    kind: 'cache',
    cacheGiBPerCpu: 16,
    tempGiBPerCpu: 8,
    cacheGiB: { 72: 1520 },
  }),
  series('F#as_v6', 'standardFasv6Family', TO_64, 4, NO_DISK, GENERATION_2),
  series('F#als_v6', 'standardFalsv6Family', TO_64, 2, NO_DISK, GENERATION_2),
  series('F#ams_v6', 'standardFamsv6Family', TO_64, 8, NO_DISK, GENERATION_2),
  series('F#as_v7', 'standardFasv7Family', TO_80, 4, NO_DISK, GENERATION_2),
  series('F#ads_v7', 'standardFadsv7Family', TO_80, 4, NVME, GENERATION_2),
  series('F#als_v7', 'standardFalsv7Family', TO_80, 2, NO_DISK, GENERATION_2),
  series('F#alds_v7', 'standardFaldsv7Family', TO_80, 2, NVME, GENERATION_2),
  series('F#ams_v7', 'standardFamsv7Family', TO_80, 8, NO_DISK, GENERATION_2),
  series('F#amds_v7', 'standardFamdsv7Family', TO_80, 8, NVME, GENERATION_2),
  series('FX#ms_v2', 'standardFXMSv2Family', FX, 21, NO_DISK, { ...GENERATION_2, ...FX_LAST }),
  series('FX#mds_v2', 'standardFXMDSv2Family', FX, 21, NVME, { ...GENERATION_2, ...FX_LAST }),
];
