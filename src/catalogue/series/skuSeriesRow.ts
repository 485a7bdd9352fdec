/** Rows of the series table: a template and its properties. */

export interface SkuSeries {
  /** Name of a size without `Standard_`; `#` stands for the vCPU count. */
  readonly template: string;
  /** Quota name. */
  readonly family: string;
  readonly cpus: readonly number[];
  readonly memoryGiBPerCpu: number;
  /** Memory of sizes that do not follow the rule above, by vCPU count. */
  readonly memoryGiB?: Readonly<Record<number, number>>;
  readonly architecture?: 'Arm64';
  /** Absent: both generations. */
  readonly generations?: 'V1' | 'V2';
  readonly disk: LocalDisk;
  readonly gpus?: Readonly<Record<number, number>>;
  readonly spot?: false;
  readonly premium?: false;
  readonly ultra?: false;
  readonly trustedLaunch?: false;
  readonly zones?: readonly string[];
}

/** Local storage of a series, in GiB per vCPU. */
export type LocalDisk =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'cache';
      readonly cacheGiBPerCpu: number;
      readonly tempGiBPerCpu: number;
      /** Cache of sizes that do not follow the rule, by vCPU count. */
      readonly cacheGiB?: Readonly<Record<number, number>>;
    }
  | { readonly kind: 'fixedCache'; readonly cacheGiB: number; readonly tempGiBPerCpu: number }
  /** The temporary disk may be used for the operating system. */
  | { readonly kind: 'temp'; readonly tempGiBPerCpu: number; readonly nvmeGiBPerCpu: number }
  /** The temporary disk may not be used for the operating system. */
  | { readonly kind: 'scratch'; readonly tempGiBPerCpu: number }
  | { readonly kind: 'nvme'; readonly nvmeGiBPerCpu: number };

type Exceptions = Omit<Partial<SkuSeries>, 'template' | 'family' | 'cpus' | 'memoryGiBPerCpu' | 'disk'>;

/** One row. */
export function series(
  template: string,
  family: string,
  cpus: readonly number[],
  memoryGiBPerCpu: number,
  disk: LocalDisk,
  exceptions: Exceptions = {},
): SkuSeries {
  return { template, family, cpus, memoryGiBPerCpu, disk, ...exceptions };
}

export const TO_64 = [2, 4, 8, 16, 32, 48, 64];
export const TO_96 = [...TO_64, 96];
export const TO_128 = [...TO_96, 128];
export const TO_160 = [...TO_128, 160];
export const TO_192 = [...TO_128, 192];

export const NO_DISK: LocalDisk = { kind: 'none' };
/** `d` sizes of generations 4 and 5: 25 GiB of cache and 37.5 GiB of temporary disk per vCPU. */
export const CACHED: LocalDisk = { kind: 'cache', cacheGiBPerCpu: 25, tempGiBPerCpu: 37.5 };
/** The same without premium storage, and therefore without a cache. */
export const UNCACHED: LocalDisk = { kind: 'temp', tempGiBPerCpu: 37.5, nvmeGiBPerCpu: 0 };
/** Generation 3, without the letter `d`: a small temporary disk and the same cache. */
export const CACHED_SMALL: LocalDisk = { kind: 'cache', cacheGiBPerCpu: 25, tempGiBPerCpu: 8 };
/** Generation 3 without premium storage. */
export const SCRATCH: LocalDisk = { kind: 'scratch', tempGiBPerCpu: 25 };
/** `d` sizes since generation 6. */
export const NVME: LocalDisk = { kind: 'nvme', nvmeGiBPerCpu: 55 };

export const ARM = { architecture: 'Arm64', generations: 'V2' } as const;
/** The first Arm generation. */
export const ARM_5 = { ...ARM, trustedLaunch: false } as const;
export const GENERATION_2 = { generations: 'V2' } as const;
/** Sizes without the letter `s`. */
export const NO_PREMIUM = { premium: false, ultra: false } as const;
