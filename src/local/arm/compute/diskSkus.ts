/** Resource SKUs of managed disks: one row for each storage type. */
interface DiskSku {
  readonly name: string;
  readonly tier: string;
  readonly size: string;
  readonly maxSizeGiB: number;
  readonly maxIops: number;
  readonly zonal: boolean;
}

const ROWS: readonly DiskSku[] = [
  { name: 'Standard_LRS', tier: 'Standard', size: 'S30', maxSizeGiB: 32_767, maxIops: 2000, zonal: true },
  { name: 'StandardSSD_LRS', tier: 'Standard', size: 'E30', maxSizeGiB: 32_767, maxIops: 6000, zonal: true },
  { name: 'StandardSSD_ZRS', tier: 'Standard', size: 'E30', maxSizeGiB: 32_767, maxIops: 6000, zonal: false },
  { name: 'Premium_LRS', tier: 'Premium', size: 'P30', maxSizeGiB: 32_767, maxIops: 20_000, zonal: true },
  { name: 'Premium_ZRS', tier: 'Premium', size: 'P30', maxSizeGiB: 32_767, maxIops: 20_000, zonal: false },
  { name: 'PremiumV2_LRS', tier: 'Premium', size: 'PV2', maxSizeGiB: 65_536, maxIops: 80_000, zonal: true },
  { name: 'UltraSSD_LRS', tier: 'Ultra', size: 'U', maxSizeGiB: 65_536, maxIops: 400_000, zonal: true },
];

export const DISK_SKUS: readonly ((location: string) => object)[] = ROWS.map((row) => (location) => ({
  resourceType: 'disks',
  name: row.name,
  tier: row.tier,
  size: row.size,
  locations: [location],
  locationInfo: [{ location, zones: row.zonal ? ['1', '2', '3'] : [], zoneDetails: [] }],
  capabilities: [
    { name: 'MaxSizeGiB', value: String(row.maxSizeGiB) },
    { name: 'MinSizeGiB', value: '1' },
    { name: 'MaxIOps', value: String(row.maxIops) },
  ],
  restrictions: [],
}));
