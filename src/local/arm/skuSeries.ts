/**
 * The virtual machine series that the local Azure sells, as one row per series. In: nothing. Out: `SKU_SERIES`, which
 * skuCatalogue.ts expands into resource SKUs. Facts are those of the public size documentation.
 */
export interface SkuSeries {
  /** Name of a size without `Standard_`; `#` stands for the vCPU count. */
  readonly template: string;
  /** The name that quota is counted under. */
  readonly family: string;
  readonly cpus: readonly number[];
  readonly memoryGiBPerCpu: number;
  /** Sizes whose memory breaks the rule above, by vCPU count. */
  readonly memoryGiB?: Readonly<Record<number, number>>;
  readonly architecture?: 'Arm64';
  /** Absent means both generations. */
  readonly generations?: 'V2';
  readonly disk: LocalDisk;
  readonly gpus?: Readonly<Record<number, number>>;
  readonly spot?: false;
  readonly premium?: false;
  readonly ultra?: false;
  readonly trustedLaunch?: false;
  readonly zones?: readonly string[];
}

/** Local storage of a series, in GiB for each vCPU. */
type LocalDisk =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'cache';
      readonly cacheGiBPerCpu: number;
      readonly tempGiBPerCpu: number;
      /** Sizes whose cache breaks the rule, by vCPU count. */
      readonly cacheGiB?: Readonly<Record<number, number>>;
    }
  | { readonly kind: 'fixedCache'; readonly cacheGiB: number; readonly tempGiBPerCpu: number }
  | { readonly kind: 'temp'; readonly tempGiBPerCpu: number; readonly nvmeGiBPerCpu: number }
  | { readonly kind: 'nvme'; readonly nvmeGiBPerCpu: number };

const TO_64 = [2, 4, 8, 16, 32, 48, 64];
const TO_96 = [...TO_64, 96];
const TO_128 = [...TO_96, 128];
const MEMORY_TO_64 = [2, 4, 8, 16, 20, 32, 48, 64];
const MEMORY_TO_96 = [...MEMORY_TO_64, 96];

const NONE: LocalDisk = { kind: 'none' };
/** `d` sizes of generations 4 and 5: 25 GiB of cache and 37.5 GiB of temporary disk for each vCPU. */
const CACHED: LocalDisk = { kind: 'cache', cacheGiBPerCpu: 25, tempGiBPerCpu: 37.5 };
/** Generation 3, without the letter `d`: a small temporary disk beside the same cache. */
const CACHED_SMALL: LocalDisk = { kind: 'cache', cacheGiBPerCpu: 25, tempGiBPerCpu: 8 };
/** `d` sizes of generation 6. */
const NVME: LocalDisk = { kind: 'nvme', nvmeGiBPerCpu: 55 };

const arm = { architecture: 'Arm64', generations: 'V2' } as const;
const generation2 = { generations: 'V2' } as const;
const burstable = { spot: false, ultra: false } as const;

export const SKU_SERIES: readonly SkuSeries[] = [
  // General purpose.
  { template: 'D#s_v3', family: 'standardDSv3Family', cpus: TO_64, memoryGiBPerCpu: 4, disk: CACHED_SMALL },
  { template: 'D#s_v4', family: 'standardDSv4Family', cpus: TO_64, memoryGiBPerCpu: 4, disk: NONE },
  { template: 'D#ds_v4', family: 'standardDDSv4Family', cpus: TO_64, memoryGiBPerCpu: 4, disk: CACHED },
  { template: 'D#as_v4', family: 'standardDASv4Family', cpus: TO_96, memoryGiBPerCpu: 4, disk: CACHED_SMALL },
  { template: 'D#s_v5', family: 'standardDSv5Family', cpus: TO_96, memoryGiBPerCpu: 4, disk: NONE },
  { template: 'D#ds_v5', family: 'standardDDSv5Family', cpus: TO_96, memoryGiBPerCpu: 4, disk: CACHED },
  { template: 'D#as_v5', family: 'standardDASv5Family', cpus: TO_96, memoryGiBPerCpu: 4, disk: NONE },
  { template: 'D#ads_v5', family: 'standardDADSv5Family', cpus: TO_96, memoryGiBPerCpu: 4, disk: CACHED },
  { template: 'D#ls_v5', family: 'standardDLSv5Family', cpus: TO_96, memoryGiBPerCpu: 2, disk: NONE },
  { template: 'D#lds_v5', family: 'standardDLDSv5Family', cpus: TO_96, memoryGiBPerCpu: 2, disk: CACHED },
  { template: 'D#s_v6', family: 'StandardDsv6Family', cpus: TO_128, memoryGiBPerCpu: 4, disk: NONE, ...generation2 },
  { template: 'D#ds_v6', family: 'StandardDdsv6Family', cpus: TO_128, memoryGiBPerCpu: 4, disk: NVME, ...generation2 },
  { template: 'D#ls_v6', family: 'StandardDlsv6Family', cpus: TO_128, memoryGiBPerCpu: 2, disk: NONE, ...generation2 },
  {
    template: 'D#lds_v6',
    family: 'StandardDldsv6Family',
    cpus: TO_128,
    memoryGiBPerCpu: 2,
    disk: NVME,
    ...generation2,
  },
  { template: 'D#as_v6', family: 'standardDav6Family', cpus: TO_96, memoryGiBPerCpu: 4, disk: NONE, ...generation2 },
  { template: 'D#ads_v6', family: 'standardDadv6Family', cpus: TO_96, memoryGiBPerCpu: 4, disk: NVME, ...generation2 },
  { template: 'D#als_v6', family: 'standardDalv6Family', cpus: TO_96, memoryGiBPerCpu: 2, disk: NONE, ...generation2 },
  {
    template: 'D#alds_v6',
    family: 'standardDaldv6Family',
    cpus: TO_96,
    memoryGiBPerCpu: 2,
    disk: NVME,
    ...generation2,
  },
  {
    template: 'D#ps_v5',
    family: 'standardDPSv5Family',
    cpus: TO_64,
    memoryGiBPerCpu: 4,
    memoryGiB: { 64: 208 },
    disk: NONE,
    trustedLaunch: false,
    ...arm,
  },
  {
    template: 'D#pds_v5',
    family: 'standardDPDSv5Family',
    cpus: TO_64,
    memoryGiBPerCpu: 4,
    memoryGiB: { 64: 208 },
    disk: CACHED,
    trustedLaunch: false,
    ...arm,
  },
  {
    template: 'D#pls_v5',
    family: 'standardDPLSv5Family',
    cpus: TO_64,
    memoryGiBPerCpu: 2,
    disk: NONE,
    trustedLaunch: false,
    ...arm,
  },
  {
    template: 'D#plds_v5',
    family: 'standardDPLDSv5Family',
    cpus: TO_64,
    memoryGiBPerCpu: 2,
    disk: CACHED,
    trustedLaunch: false,
    ...arm,
  },
  { template: 'D#ps_v6', family: 'StandardDpsv6Family', cpus: TO_96, memoryGiBPerCpu: 4, disk: NONE, ...arm },
  { template: 'D#pds_v6', family: 'StandardDpdsv6Family', cpus: TO_96, memoryGiBPerCpu: 4, disk: NVME, ...arm },
  { template: 'D#pls_v6', family: 'StandardDplsv6Family', cpus: TO_96, memoryGiBPerCpu: 2, disk: NONE, ...arm },
  { template: 'D#plds_v6', family: 'StandardDpldsv6Family', cpus: TO_96, memoryGiBPerCpu: 2, disk: NVME, ...arm },

  // Burstable.
  {
    template: 'B#ms',
    family: 'standardBSFamily',
    cpus: [2, 4, 8, 12, 16, 20],
    memoryGiBPerCpu: 4,
    disk: { kind: 'fixedCache', cacheGiB: 30, tempGiBPerCpu: 8 },
    ...burstable,
  },
  {
    template: 'B#s_v2',
    family: 'standardBsv2Family',
    cpus: [2, 4, 8, 16, 32],
    memoryGiBPerCpu: 4,
    disk: NONE,
    ...burstable,
  },
  {
    template: 'B#ls_v2',
    family: 'standardBsv2Family',
    cpus: [2, 4, 8, 16, 32],
    memoryGiBPerCpu: 2,
    disk: NONE,
    ...burstable,
  },
  {
    template: 'B#as_v2',
    family: 'standardBasv2Family',
    cpus: [2, 4, 8, 16, 32],
    memoryGiBPerCpu: 4,
    disk: NONE,
    ...burstable,
  },
  {
    template: 'B#als_v2',
    family: 'standardBasv2Family',
    cpus: [2, 4, 8, 16, 32],
    memoryGiBPerCpu: 2,
    disk: NONE,
    ...burstable,
  },
  {
    template: 'B#ps_v2',
    family: 'standardBpsv2Family',
    cpus: [2, 4, 8, 16],
    memoryGiBPerCpu: 4,
    disk: NONE,
    ...burstable,
    ...arm,
  },
  {
    template: 'B#pls_v2',
    family: 'standardBpsv2Family',
    cpus: [2, 4, 8, 16],
    memoryGiBPerCpu: 2,
    disk: NONE,
    ...burstable,
    ...arm,
  },

  // Memory.
  {
    template: 'E#s_v3',
    family: 'standardESv3Family',
    cpus: MEMORY_TO_64,
    memoryGiBPerCpu: 8,
    memoryGiB: { 64: 432 },
    disk: CACHED_SMALL,
  },
  {
    template: 'E#s_v4',
    family: 'standardESv4Family',
    cpus: MEMORY_TO_64,
    memoryGiBPerCpu: 8,
    memoryGiB: { 64: 504 },
    disk: NONE,
  },
  {
    template: 'E#ds_v4',
    family: 'standardEDSv4Family',
    cpus: MEMORY_TO_64,
    memoryGiBPerCpu: 8,
    memoryGiB: { 64: 504 },
    disk: CACHED,
  },
  {
    template: 'E#s_v5',
    family: 'standardESv5Family',
    cpus: MEMORY_TO_96,
    memoryGiBPerCpu: 8,
    memoryGiB: { 96: 672 },
    disk: NONE,
  },
  {
    template: 'E#ds_v5',
    family: 'standardEDSv5Family',
    cpus: MEMORY_TO_96,
    memoryGiBPerCpu: 8,
    memoryGiB: { 96: 672 },
    disk: CACHED,
  },
  {
    template: 'E#as_v5',
    family: 'standardEASv5Family',
    cpus: MEMORY_TO_96,
    memoryGiBPerCpu: 8,
    memoryGiB: { 96: 672 },
    disk: NONE,
  },
  {
    template: 'E#ads_v5',
    family: 'standardEADSv5Family',
    cpus: MEMORY_TO_96,
    memoryGiBPerCpu: 8,
    memoryGiB: { 96: 672 },
    disk: CACHED,
  },
  {
    template: 'E#s_v6',
    family: 'StandardEsv6Family',
    cpus: [...MEMORY_TO_96, 128],
    memoryGiBPerCpu: 8,
    disk: NONE,
    ...generation2,
  },
  {
    template: 'E#ds_v6',
    family: 'StandardEdsv6Family',
    cpus: [...MEMORY_TO_96, 128],
    memoryGiBPerCpu: 8,
    disk: NVME,
    ...generation2,
  },
  {
    template: 'E#as_v6',
    family: 'standardEav6Family',
    cpus: MEMORY_TO_96,
    memoryGiBPerCpu: 8,
    memoryGiB: { 96: 672 },
    disk: NONE,
    ...generation2,
  },
  {
    template: 'E#ads_v6',
    family: 'standardEadv6Family',
    cpus: MEMORY_TO_96,
    memoryGiBPerCpu: 8,
    memoryGiB: { 96: 672 },
    disk: NVME,
    ...generation2,
  },
  {
    template: 'E#ps_v5',
    family: 'standardEPSv5Family',
    cpus: [2, 4, 8, 16, 20, 32],
    memoryGiBPerCpu: 8,
    memoryGiB: { 32: 208 },
    disk: NONE,
    trustedLaunch: false,
    ...arm,
  },
  {
    template: 'E#ps_v6',
    family: 'StandardEpsv6Family',
    cpus: TO_96,
    memoryGiBPerCpu: 8,
    memoryGiB: { 96: 672 },
    disk: NONE,
    ...arm,
  },
  {
    template: 'E#pds_v6',
    family: 'StandardEpdsv6Family',
    cpus: TO_96,
    memoryGiBPerCpu: 8,
    memoryGiB: { 96: 672 },
    disk: NVME,
    ...arm,
  },

  // Compute.
  {
    template: 'F#s_v2',
    family: 'standardFSv2Family',
    cpus: [2, 4, 8, 16, 32, 48, 64, 72],
    memoryGiBPerCpu: 2,
    disk: { kind: 'cache', cacheGiBPerCpu: 16, tempGiBPerCpu: 8, cacheGiB: { 72: 1520 } },
  },
  { template: 'F#as_v6', family: 'standardFasv6Family', cpus: TO_64, memoryGiBPerCpu: 4, disk: NONE, ...generation2 },
  { template: 'F#als_v6', family: 'standardFalsv6Family', cpus: TO_64, memoryGiBPerCpu: 2, disk: NONE, ...generation2 },
  { template: 'F#ams_v6', family: 'standardFamsv6Family', cpus: TO_64, memoryGiBPerCpu: 8, disk: NONE, ...generation2 },

  // Storage.
  {
    template: 'L#s_v3',
    family: 'standardLSv3Family',
    cpus: [8, 16, 32, 48, 64, 80],
    memoryGiBPerCpu: 8,
    disk: { kind: 'temp', tempGiBPerCpu: 10, nvmeGiBPerCpu: 223.5 },
  },
  {
    template: 'L#as_v3',
    family: 'standardLASv3Family',
    cpus: [8, 16, 32, 48, 64, 80],
    memoryGiBPerCpu: 8,
    disk: { kind: 'temp', tempGiBPerCpu: 10, nvmeGiBPerCpu: 223.5 },
  },

  // Accelerated.
  {
    template: 'NC#as_T4_v3',
    family: 'Standard NCASv3_T4 Family',
    cpus: [4, 8, 16, 64],
    memoryGiBPerCpu: 7,
    memoryGiB: { 16: 110, 64: 440 },
    gpus: { 4: 1, 8: 1, 16: 1, 64: 4 },
    disk: { kind: 'cache', cacheGiBPerCpu: 9, tempGiBPerCpu: 22 },
  },
  {
    template: 'NC#ads_A100_v4',
    family: 'StandardNCADSA100v4Family',
    cpus: [24, 48, 96],
    memoryGiBPerCpu: 220 / 24,
    gpus: { 24: 1, 48: 2, 96: 4 },
    disk: { kind: 'fixedCache', cacheGiB: 256, tempGiBPerCpu: 64 / 24 },
    zones: ['1', '3'],
    ...generation2,
  },
  {
    template: 'NC#ads_H100_v5',
    family: 'StandardNCadsH100v5Family',
    cpus: [40],
    memoryGiBPerCpu: 8,
    gpus: { 40: 1 },
    disk: { kind: 'fixedCache', cacheGiB: 256, tempGiBPerCpu: 3.2 },
    zones: ['1', '2'],
    ...generation2,
  },
  {
    template: 'NV#ads_A10_v5',
    family: 'StandardNVADSA10v5Family',
    cpus: [6, 12, 18, 36, 72],
    memoryGiBPerCpu: 55 / 6,
    memoryGiB: { 18: 220, 36: 440, 72: 880 },
    // Azure reports one device for a slice of a card, too.
    gpus: { 6: 1, 12: 1, 18: 1, 36: 1, 72: 2 },
    disk: { kind: 'fixedCache', cacheGiB: 128, tempGiBPerCpu: 20 },
    ...generation2,
  },
  {
    template: 'ND#isr_H100_v5',
    family: 'standardNDSH100v5Family',
    cpus: [96],
    memoryGiBPerCpu: 1900 / 96,
    gpus: { 96: 8 },
    disk: { kind: 'fixedCache', cacheGiB: 256, tempGiBPerCpu: 1000 / 96 },
    zones: ['1'],
    ...generation2,
  },
];
