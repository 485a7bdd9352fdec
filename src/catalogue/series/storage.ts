/** Storage: large local NVMe disks. */
import { GENERATION_2, series, type SkuSeries } from './skuSeriesRow.ts';

const DISKS = { kind: 'temp', tempGiBPerCpu: 10, nvmeGiBPerCpu: 223.5 } as const;
const DISKS_4 = { kind: 'temp', tempGiBPerCpu: 0, nvmeGiBPerCpu: 223.5 } as const;
const GENERATION_3 = [8, 16, 32, 48, 64, 80];
const GENERATION_4 = [2, 4, 8, 16, 32, 48, 64, 80, 96];

export const storageSeries: readonly SkuSeries[] = [
  series('L#s_v3', 'standardLSv3Family', GENERATION_3, 8, DISKS),
  series('L#as_v3', 'standardLASv3Family', GENERATION_3, 8, DISKS),
  series('L#s_v4', 'StandardLsv4Family', GENERATION_4, 8, DISKS_4, GENERATION_2),
  series('L#as_v4', 'StandardLasv4Family', GENERATION_4, 8, DISKS_4, GENERATION_2),
  series('L#aos_v4', 'StandardLaosv4Family', [2, 4, 8, 12, 16, 24, 32], 8, DISKS_4, GENERATION_2),
];
