/** Memory: eight GiB per vCPU, and the large `M` sizes with more. */
import {
  ARM,
  ARM_5,
  CACHED,
  CACHED_SMALL,
  GENERATION_2,
  NO_DISK,
  NO_PREMIUM,
  NVME,
  SCRATCH,
  TO_128,
  TO_160,
  TO_96,
  UNCACHED,
  series,
  type LocalDisk,
  type SkuSeries,
} from './skuSeriesRow.ts';

const WITH_20_TO_64 = [2, 4, 8, 16, 20, 32, 48, 64];
const WITH_20_TO_96 = [...WITH_20_TO_64, 96];
const WITH_20_TO_128 = [...WITH_20_TO_96, 128];
const ARM_TO_32 = [2, 4, 8, 16, 20, 32];

/** In many series the largest size has less memory than the rule gives. */
const LAST_3 = { memoryGiB: { 64: 432 } };
const LAST_4 = { memoryGiB: { 64: 504 } };
const LAST_5 = { memoryGiB: { 96: 672 } };
const LAST_ARM = { memoryGiB: { 32: 208 } };

const M_CACHE: LocalDisk = { kind: 'cache', cacheGiBPerCpu: 99.125, tempGiBPerCpu: 32 };

export const memorySeries: readonly SkuSeries[] = [
  series('E#_v3', 'standardEv3Family', WITH_20_TO_64, 8, SCRATCH, { ...NO_PREMIUM, ...LAST_3, generations: 'V1' }),
  series('E#s_v3', 'standardESv3Family', WITH_20_TO_64, 8, CACHED_SMALL, LAST_3),

  series('E#_v4', 'standardEv4Family', WITH_20_TO_64, 8, NO_DISK, { ...NO_PREMIUM, ...LAST_4 }),
  series('E#s_v4', 'standardESv4Family', WITH_20_TO_64, 8, NO_DISK, LAST_4),
  series('E#d_v4', 'standardEDv4Family', WITH_20_TO_64, 8, UNCACHED, { ...NO_PREMIUM, ...LAST_4 }),
  series('E#ds_v4', 'standardEDSv4Family', WITH_20_TO_64, 8, CACHED, LAST_4),
  series('E#a_v4', 'standardEAv4Family', WITH_20_TO_96, 8, SCRATCH, { ...NO_PREMIUM, ...LAST_5, generations: 'V1' }),
  series('E#as_v4', 'standardEASv4Family', WITH_20_TO_96, 8, CACHED_SMALL, LAST_5),

  series('E#_v5', 'standardEv5Family', WITH_20_TO_96, 8, NO_DISK, { ...NO_PREMIUM, ...LAST_5 }),
  series('E#s_v5', 'standardESv5Family', WITH_20_TO_96, 8, NO_DISK, LAST_5),
  series('E#d_v5', 'standardEDv5Family', WITH_20_TO_96, 8, UNCACHED, { ...NO_PREMIUM, ...LAST_5 }),
  series('E#ds_v5', 'standardEDSv5Family', WITH_20_TO_96, 8, CACHED, LAST_5),
  series('E#as_v5', 'standardEASv5Family', WITH_20_TO_96, 8, NO_DISK, LAST_5),
  series('E#ads_v5', 'standardEADSv5Family', WITH_20_TO_96, 8, CACHED, LAST_5),
  series('E#bs_v5', 'standardEBSv5Family', TO_96, 8, NO_DISK, LAST_5),
  series('E#bds_v5', 'standardEBDSv5Family', TO_96, 8, CACHED, LAST_5),
  series('E#ps_v5', 'standardEPSv5Family', ARM_TO_32, 8, NO_DISK, { ...ARM_5, ...LAST_ARM }),
  series('E#pds_v5', 'standardEPDSv5Family', ARM_TO_32, 8, CACHED, { ...ARM_5, ...LAST_ARM }),

  series('E#s_v6', 'StandardEsv6Family', WITH_20_TO_128, 8, NO_DISK, GENERATION_2),
  series('E#ds_v6', 'StandardEdsv6Family', WITH_20_TO_128, 8, NVME, GENERATION_2),
  series('E#bs_v6', 'StandardEbsv6Family', TO_128, 8, NO_DISK, GENERATION_2),
  series('E#bds_v6', 'StandardEbdsv6Family', TO_128, 8, NVME, GENERATION_2),
  series('E#as_v6', 'standardEav6Family', WITH_20_TO_96, 8, NO_DISK, { ...GENERATION_2, ...LAST_5 }),
  series('E#ads_v6', 'standardEadv6Family', WITH_20_TO_96, 8, NVME, { ...GENERATION_2, ...LAST_5 }),
  series('E#ps_v6', 'StandardEpsv6Family', TO_96, 8, NO_DISK, { ...ARM, ...LAST_5 }),
  series('E#pds_v6', 'StandardEpdsv6Family', TO_96, 8, NVME, { ...ARM, ...LAST_5 }),

  series('E#s_v7', 'StandardEsv7Family', WITH_20_TO_128, 8, NO_DISK, GENERATION_2),
  series('E#ds_v7', 'StandardEdsv7Family', WITH_20_TO_128, 8, NVME, GENERATION_2),
  series('E#as_v7', 'standardEav7Family', TO_160, 8, NO_DISK, GENERATION_2),
  series('E#ads_v7', 'standardEadv7Family', TO_160, 8, NVME, GENERATION_2),

  series('M#ms', 'standardMSFamily', [8, 16, 32, 64, 128], 27.34375, M_CACHE, {
    memoryGiB: { 8: 218.75, 16: 437.5, 32: 875, 64: 1792, 128: 3892 },
  }),
  series('M#ls', 'standardMSFamily', [32, 64], 8, M_CACHE),
  series('M#s', 'standardMSFamily', [64, 128], 16, M_CACHE),
  series('M#s_v2', 'standardMSMediumMemoryv2Family', [64, 128], 16, NO_DISK),
  series('M#s_v3', 'standardMSv3MedMemFamily', [12, 24], 20, NO_DISK, GENERATION_2),
  series('M#s_1_v3', 'standardMSv3MedMemFamily', [48, 96], 974 / 48, NO_DISK, {
    ...GENERATION_2,
    memoryGiB: { 48: 974, 96: 974 },
  }),
  series('M#bs_v3', 'standardMBSv3Family', [16, 32, 48, 64, 96, 128], 8, NO_DISK, GENERATION_2),
];
