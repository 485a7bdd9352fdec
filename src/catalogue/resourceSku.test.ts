import type { ResourceSku } from '@azure/arm-compute';
import { describe, expect, it } from 'vitest';
import { readSku, type Sku } from './resourceSku.ts';
import { isNodeSize } from './nodeSize.ts';
import { zonesOf } from './offerings.ts';

type Capabilities = Readonly<Record<string, string>>;

function rawSku(name: string, capabilities: Capabilities, overrides: Partial<ResourceSku> = {}): ResourceSku {
  return {
    name,
    resourceType: 'virtualMachines',
    family: 'family',
    capabilities: Object.entries({ vCPUs: '4', MemoryGB: '16', CpuArchitectureType: 'x64', ...capabilities }).map(
      ([key, value]) => ({ name: key, value }),
    ),
    locationInfo: [{ location: 'westeurope', zones: ['3', '1', '2'] }],
    restrictions: [],
    ...overrides,
  } as ResourceSku;
}

function read(name: string, capabilities: Capabilities = {}, overrides: Partial<ResourceSku> = {}): Sku {
  const sku = readSku(rawSku(name, capabilities, overrides), 'westeurope');
  if (sku === undefined) throw new Error(`${name} was not read`);
  return sku;
}

describe('the ephemeral system disk', () => {
  const supported = { EphemeralOSDiskSupported: 'True' };
  const classic = { ...supported, SupportedEphemeralOSDiskPlacements: 'ResourceDisk,CacheDisk' };
  it.each<[string, Capabilities, Sku['ephemeralDisk']]>([
    [
      'Standard_B20ms',
      { ...classic, CachedDiskBytes: '32212254720', MaxResourceVolumeMB: '163840' },
      { sizeGB: 32, placement: 'CacheDisk' },
    ],
    [
      'Standard_D128ds_v6',
      { ...supported, NvmeDiskSizeInMiB: '7208960', SupportedEphemeralOSDiskPlacements: 'NvmeDisk' },
      { sizeGB: 7559, placement: 'NvmeDisk' },
    ],
    [
      'Standard_D16plds_v5',
      { ...classic, CachedDiskBytes: '429496729600', MaxResourceVolumeMB: '614400' },
      { sizeGB: 429, placement: 'CacheDisk' },
    ],
    [
      'Standard_NC24ads_A100_v4',
      { ...classic, CachedDiskBytes: '274877906944', MaxResourceVolumeMB: '65536', NvmeDiskSizeInMiB: '915527' },
      { sizeGB: 274, placement: 'CacheDisk' },
    ],
    [
      'Standard_L8s_v4',
      { ...supported, NvmeDiskSizeInMiB: '1831055', SupportedEphemeralOSDiskPlacements: 'CacheDisk, nvmeDisk' },
      { sizeGB: 1920, placement: 'NvmeDisk' },
    ],
    ['Standard_D64s_v3', { ...classic, CachedDiskBytes: '1717986918400' }, { sizeGB: 1717, placement: 'CacheDisk' }],
    ['Standard_E4d_v5', { ...classic, MaxResourceVolumeMB: '153600' }, { sizeGB: 161, placement: 'ResourceDisk' }],
    ['Standard_D2as_v6', { EphemeralOSDiskSupported: 'False', MaxResourceVolumeMB: '20480' }, undefined],
    ['Standard_D2_v2', { MaxResourceVolumeMB: '102400' }, undefined],
  ])('%s', (name, capabilities, disk) => {
    expect(read(name, capabilities).ephemeralDisk).toEqual(disk);
  });
});

describe('where a size is sold', () => {
  const restriction = (type: 'Location' | 'Zone', zones: string[] = [], values = ['westeurope']) =>
    [{ type, values, restrictionInfo: { zones } }] as NonNullable<ResourceSku['restrictions']>;

  it('leaves out zones that the subscription may not use', () => {
    const sku = read('Standard_D4s_v5', {}, { restrictions: restriction('Zone', ['2']) });
    expect(sku.zones).toEqual(['1', '3']);
    expect(sku.restricted).toBe(false);
  });

  it('is closed by a restriction of the location', () => {
    expect(isNodeSize(read('Standard_D4s_v5', {}, { restrictions: restriction('Location') }))).toBe(false);
  });

  it('is not closed by a restriction of another location', () => {
    const restrictions = [...restriction('Location', [], ['westus']), ...restriction('Zone', ['1'], ['westus'])];
    const sku = read('Standard_D4s_v5', {}, { restrictions });
    expect(sku.restricted).toBe(false);
    expect(sku.zones).toEqual(['1', '2', '3']);
  });

  it('reads every entry of the location, however it is written', () => {
    const locationInfo = [
      { location: 'West Europe', zones: ['1'] },
      { location: 'westeurope', zones: ['3', '1'] },
      { location: 'westus', zones: ['2'] },
    ];
    expect(read('Standard_D4s_v5', {}, { locationInfo }).zones).toEqual(['1', '3']);
  });

  it('is sold in no zone where the region or the size has none', () => {
    const sku = read('Standard_D4s_v5', {}, { locationInfo: [{ location: 'westeurope' }] });
    expect(zonesOf(sku, 'westeurope')).toEqual(['0']);
    expect(zonesOf(read('Standard_D4s_v5', {}), 'westeurope')).toEqual([
      'westeurope-1',
      'westeurope-2',
      'westeurope-3',
      '0',
    ]);
  });

  it('knows the zones with ultra disks', () => {
    const zoneDetails = [{ name: ['1', '3'], capabilities: [{ name: 'UltraSSDAvailable', value: 'True' }] }];
    const sku = read('Standard_D4s_v5', {}, { locationInfo: [{ location: 'WestEurope', zones: ['1'], zoneDetails }] });
    expect([...sku.ultraSsdZones]).toEqual(['1', '3']);
    expect([...read('Standard_D4s_v5', { UltraSSDAvailable: 'True' }).ultraSsdZones]).toEqual(['0']);
  });
});

describe('capabilities', () => {
  it('are read in any case, the first of each name', () => {
    const capabilities = [
      { name: 'vcpus', value: '8' },
      { name: 'vCPUs', value: '2' },
      { name: 'memorygb', value: '32' },
      { name: 'premiumIO', value: 'TRUE' },
      { name: 'hypervgenerations', value: 'V1, V2' },
    ];
    const sku = read('Standard_D8s_v5', {}, { capabilities });
    expect(sku).toMatchObject({ cpus: 8, memoryGiB: 32, premiumStorage: true, hyperVGenerations: ['1', '2'] });
  });
});

describe('which sizes can be nodes', () => {
  it.each<[string, Capabilities, boolean]>([
    ['Standard_D4s_v5', {}, true],
    ['Standard_B2ms', { vCPUs: '2', MemoryGB: '8' }, true],
    ['Standard_D4ps_v6', { CpuArchitectureType: 'Arm64' }, true],
    ['Standard_D11_v2_Promo', {}, true],
    ['Standard_A0', {}, false],
    ['Standard_B1ms', {}, false],
    ['Standard_E64is_v3', {}, false],
    ['Standard_D1_v2', { vCPUs: '1' }, false],
    ['Standard_B2ts_v2', { MemoryGB: '1' }, false],
    ['Standard_M8-2ms', {}, false],
    ['Standard_DC4s_v3', {}, false],
    ['Standard_EC4as_v5', {}, false],
    ['Standard_NC24ads_A100_v4', { GPUs: '1' }, true],
    ['Standard_NC6_Promo', { GPUs: '1' }, true],
    ['Standard_NG32ads_V620_v1', { GPUs: '1' }, false],
  ])('%s', (name, capabilities, usable) => {
    expect(isNodeSize(read(name, capabilities))).toBe(usable);
  });
});
