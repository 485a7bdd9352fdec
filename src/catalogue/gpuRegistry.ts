/** GPU sizes for which AKS node images have drivers, with the GPU manufacturer and the operating systems. */
export type GpuManufacturer = 'nvidia' | 'amd';
type GpuSystem = 'ubuntu' | 'azurelinux' | 'azurelinux3';

export interface GpuSize {
  readonly manufacturer: GpuManufacturer;
  readonly systems: readonly GpuSystem[];
}

interface Row {
  /** Without `standard_`; `#` is replaced by each of `counts`. */
  readonly templates: readonly string[];
  readonly counts: readonly number[];
  readonly systems: readonly GpuSystem[];
  readonly manufacturer?: 'amd';
}

const ALL: readonly GpuSystem[] = ['ubuntu', 'azurelinux', 'azurelinux3'];
const CURRENT: readonly GpuSystem[] = ['ubuntu', 'azurelinux3'];
const UBUNTU: readonly GpuSystem[] = ['ubuntu'];

const ROWS: readonly Row[] = [
  { templates: ['nc#as_t4_v3'], counts: [4, 8, 16, 64], systems: ALL },
  { templates: ['nc#s_v3'], counts: [6, 12, 24], systems: ALL },
  { templates: ['nc#rs_v3'], counts: [24], systems: ALL },
  { templates: ['nd#rs_v2', 'nd#s_v3'], counts: [40], systems: ALL },
  { templates: ['nc#ads_a10_v4'], counts: [8, 16, 32], systems: CURRENT },
  { templates: ['nc#ads_a100_v4'], counts: [24, 48, 96], systems: CURRENT },
  { templates: ['nc#ads_h100_v5'], counts: [40], systems: CURRENT },
  { templates: ['nc#adis_h100_v5'], counts: [80], systems: CURRENT },
  {
    templates: ['nd#asr_v4', 'nd#ams_v4', 'nd#ams_a100_v4', 'nd#amsrf_a100_v4', 'nd#ams_a100_flex_v4'],
    counts: [96],
    systems: CURRENT,
  },
  { templates: ['nd#amsr_a100_v4'], counts: [96, 112, 120], systems: CURRENT },
  { templates: ['nv#ads_a10_v5'], counts: [6, 12, 18, 36, 72], systems: CURRENT },
  { templates: ['nv#adms_a10_v5'], counts: [36], systems: CURRENT },
  {
    templates: [
      'nd#isr_h100_v5',
      'nd#is_h100_v5',
      'nd#is_noib_h100_v5',
      'nd#is_flex_h100_v5',
      'nd#isf_h100_v5',
      'nd#isrf_h100_v5',
      'nd#isr_h200_v5',
      'nd#is_h200_v5',
      'nd#isf_h200_v5',
      'nd#isrf_h200_v5',
    ],
    counts: [96],
    systems: CURRENT,
  },
  { templates: ['nc#', 'nv#'], counts: [6, 12, 24], systems: UBUNTU },
  { templates: ['nc#r', 'nv#r', 'nc#rs_v2', 'nd#rs'], counts: [24], systems: UBUNTU },
  { templates: ['nc#s_v2', 'nd#s'], counts: [6, 12, 24], systems: UBUNTU },
  { templates: ['nv#s_v3'], counts: [12, 24, 48], systems: UBUNTU },
  { templates: ['nd#isr_ndr_gb200_v6', 'nd#isr_gb300_v6'], counts: [128], systems: UBUNTU },
  { templates: ['nc#lds_xl_rtxpro6000bse_v6'], counts: [24, 36, 72, 144, 288], systems: UBUNTU },
  { templates: ['nc#ds_xl_rtxpro6000bse_v6'], counts: [36, 72, 144, 288], systems: UBUNTU },
  { templates: ['nv#ads_v710_v5'], counts: [4, 8, 12, 24], systems: UBUNTU, manufacturer: 'amd' },
  { templates: ['nv#adms_v710_v5'], counts: [28], systems: UBUNTU, manufacturer: 'amd' },
  { templates: ['nd#is_mi300x_v5', 'nd#isr_mi300x_v5'], counts: [96], systems: UBUNTU, manufacturer: 'amd' },
];

const SIZES: ReadonlyMap<string, GpuSize> = new Map(
  ROWS.flatMap((row) =>
    row.templates.flatMap((template) =>
      row.counts.map((count) => {
        const size: GpuSize = { manufacturer: row.manufacturer ?? 'nvidia', systems: row.systems };
        return [`standard_${template.replace('#', String(count))}`, size] as const;
      }),
    ),
  ),
);

export function gpuSize(name: string): GpuSize | undefined {
  return SIZES.get(name.toLowerCase().replace(/_promo$/, ''));
}

/** Whether node images of the family have drivers for the size; `family` is the class's `imageFamily`. */
export function imageFamilyDrives(family: string | undefined, size: GpuSize): boolean {
  if (family === 'AzureLinux') return size.systems.includes('azurelinux') || size.systems.includes('azurelinux3');
  return ['Ubuntu', 'Ubuntu2204', 'Ubuntu2404', undefined].includes(family) && size.systems.includes('ubuntu');
}
