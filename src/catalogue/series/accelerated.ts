/** Accelerated: GPU sizes for which AKS node images have drivers. */
import { GENERATION_2, series, type SkuSeries } from './skuSeriesRow.ts';

export const acceleratedSeries: readonly SkuSeries[] = [
  series(
    'NC#as_T4_v3',
    'Standard NCASv3_T4 Family',
    [4, 8, 16, 64],
    7,
    { kind: 'cache', cacheGiBPerCpu: 9, tempGiBPerCpu: 22 },
    { memoryGiB: { 16: 110, 64: 440 }, gpus: { 4: 1, 8: 1, 16: 1, 64: 4 } },
  ),
  series(
    'NC#ads_A100_v4',
    'StandardNCADSA100v4Family',
    [24, 48, 96],
    220 / 24,
    { kind: 'fixedCache', cacheGiB: 256, tempGiBPerCpu: 64 / 24 },
    { ...GENERATION_2, gpus: { 24: 1, 48: 2, 96: 4 }, zones: ['1', '3'] },
  ),
  series(
    'NC#ads_H100_v5',
    'StandardNCadsH100v5Family',
    [40],
    8,
    { kind: 'fixedCache', cacheGiB: 256, tempGiBPerCpu: 3.2 },
    { ...GENERATION_2, gpus: { 40: 1 }, zones: ['1', '2'] },
  ),
  series(
    'NC#adis_H100_v5',
    'StandardNCadsH100v5Family',
    [80],
    8,
    { kind: 'fixedCache', cacheGiB: 256, tempGiBPerCpu: 3.2 },
    { ...GENERATION_2, gpus: { 80: 2 }, zones: ['1', '2'] },
  ),
  series(
    'NV#ads_A10_v5',
    'StandardNVADSA10v5Family',
    [6, 12, 18, 36, 72],
    55 / 6,
    { kind: 'fixedCache', cacheGiB: 128, tempGiBPerCpu: 20 },
    // Azure also reports one device for a fraction of a GPU.
    { ...GENERATION_2, memoryGiB: { 18: 220, 36: 440, 72: 880 }, gpus: { 6: 1, 12: 1, 18: 1, 36: 1, 72: 2 } },
  ),
  series(
    'NV#ads_V710_v5',
    'StandardNVadsV710v5Family',
    [4, 8, 12, 24],
    4,
    { kind: 'temp', tempGiBPerCpu: 20, nvmeGiBPerCpu: 0 },
    { ...GENERATION_2, memoryGiB: { 12: 64, 24: 128 }, gpus: { 4: 1, 8: 1, 12: 1, 24: 1 }, zones: ['1'] },
  ),
  series(
    'ND#asr_v4',
    'standardNDASv4_A100Family',
    [96],
    900 / 96,
    { kind: 'fixedCache', cacheGiB: 256, tempGiBPerCpu: 62.5 },
    { ...GENERATION_2, gpus: { 96: 8 }, zones: ['1'] },
  ),
  series(
    'ND#amsr_A100_v4',
    'standardNDAMSv4_A100Family',
    [96],
    1900 / 96,
    { kind: 'fixedCache', cacheGiB: 256, tempGiBPerCpu: 66 },
    { ...GENERATION_2, gpus: { 96: 8 }, zones: ['1'] },
  ),
  series(
    'ND#isr_H100_v5',
    'standardNDSH100v5Family',
    [96],
    1900 / 96,
    { kind: 'fixedCache', cacheGiB: 256, tempGiBPerCpu: 1000 / 96 },
    { ...GENERATION_2, gpus: { 96: 8 }, zones: ['1'] },
  ),
];
