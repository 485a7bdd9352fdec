import { describe, expect, it } from 'vitest';
import { Labels, WELL_KNOWN_LABELS } from '../api/labels.ts';
import { Requirements } from '../constraints/requirements.ts';
import { formatResources } from '../units/resources.ts';
import { BUNDLED_REGIONS, bundledInstanceTypes } from './bundledCatalogue.ts';
import { SkuCatalogue } from './skuCatalogue.ts';
import { SKU_SERIES } from './skuSeries.ts';

const eastus = bundledInstanceTypes({ region: 'eastus' });
const find = (name: string) => {
  const found = eastus.find((instanceType) => instanceType.name === name);
  if (found === undefined) throw new Error(`There is no ${name}.`);
  return found;
};

describe('the bundled catalogue', () => {
  it.each(['eastus', 'westeurope'])('has hundreds of sizes of every kind in %s', (region) => {
    const types = bundledInstanceTypes({ region });
    expect(types.length).toBeGreaterThan(380);
    const count = (...labels: [string, string][]): number =>
      types.filter(({ requirements }) => requirements.isCompatible(Requirements.fromLabels(Object.fromEntries(labels))))
        .length;
    const families = ['B', 'D', 'E', 'F', 'L', 'M', 'N'];
    expect(families.filter((family) => count([Labels.skuFamily, family]) > 5)).toEqual(families);
    expect(count([Labels.arch, 'arm64'])).toBeGreaterThan(50);
    const versions = ['3', '4', '5', '6', '7'];
    const general = versions.filter((version) => count([Labels.skuFamily, 'D'], [Labels.skuVersion, version]) > 5);
    expect(general).toEqual(versions);
  });

  it('knows its regions, and sells nothing elsewhere', () => {
    expect(BUNDLED_REGIONS).toEqual(['eastus', 'southcentralus', 'swedencentral', 'uksouth', 'westeurope', 'westus2']);
    expect(bundledInstanceTypes({ region: 'atlantis' })).toEqual([]);
  });

  it('defines every well-known label of every type', () => {
    const missing = eastus.flatMap(({ name, requirements }) =>
      [...WELL_KNOWN_LABELS]
        .filter((key) => key !== Labels.nodePool && !requirements.has(key))
        .map((key) => `${name} ${key}`),
    );
    expect(missing).toEqual([]);
  });

  it('describes a size as Azure nodes are labelled', () => {
    const { requirements, capacity, allocatable, offerings } = find('Standard_D4pds_v6');
    expect(requirements.toString().split(', ')).toMatchInlineSnapshot(`
      [
        "karpenter.azure.com/placement-scope In [regional zonal]",
        "karpenter.azure.com/sku-cpu In [4]",
        "karpenter.azure.com/sku-family In [D]",
        "karpenter.azure.com/sku-gpu-count In [0]",
        "karpenter.azure.com/sku-gpu-manufacturer DoesNotExist",
        "karpenter.azure.com/sku-gpu-name DoesNotExist",
        "karpenter.azure.com/sku-hyperv-generation In [2]",
        "karpenter.azure.com/sku-memory In [16384]",
        "karpenter.azure.com/sku-name In [Standard_D4pds_v6]",
        "karpenter.azure.com/sku-networking-accelerated In [true]",
        "karpenter.azure.com/sku-series In [Dpds_v6]",
        "karpenter.azure.com/sku-storage-ephemeralos-maxsize In [236]",
        "karpenter.azure.com/sku-storage-premium-capable In [true]",
        "karpenter.azure.com/sku-storage-ultra-ssd In [false true]",
        "karpenter.azure.com/sku-version In [6]",
        "karpenter.sh/capacity-type In [on-demand spot]",
        "kubernetes.azure.com/cluster Exists",
        "kubernetes.azure.com/fips_enabled DoesNotExist",
        "kubernetes.azure.com/mode In [system user]",
        "kubernetes.azure.com/os-sku In [Ubuntu]",
        "kubernetes.azure.com/priority In [regular spot]",
        "kubernetes.azure.com/scalesetpriority In [regular spot]",
        "kubernetes.azure.com/sku-cpu In [4]",
        "kubernetes.azure.com/sku-memory In [16384]",
        "kubernetes.io/arch In [arm64]",
        "kubernetes.io/os In [linux]",
        "node.kubernetes.io/instance-type In [Standard_D4pds_v6]",
        "node.kubernetes.io/windows-build DoesNotExist",
        "topology.kubernetes.io/region In [eastus]",
        "topology.kubernetes.io/zone In [0 eastus-1 eastus-2 eastus-3]",
      ]
    `);
    expect([formatResources(capacity), formatResources(allocatable)]).toMatchInlineSnapshot(`
      [
        {
          "amd.com/gpu": "0",
          "cpu": "4",
          "ephemeral-storage": "128G",
          "memory": "15891378995",
          "nvidia.com/gpu": "0",
          "pods": "250",
        },
        {
          "amd.com/gpu": "0",
          "cpu": "3860m",
          "ephemeral-storage": "115200M",
          "memory": "12313637683",
          "nvidia.com/gpu": "0",
          "pods": "250",
        },
      ]
    `);
    expect(offerings.map(({ zone, capacityType, price }) => `${zone} ${capacityType} ${price}`)).toMatchInlineSnapshot(`
      [
        "eastus-1 on-demand 0.184",
        "eastus-1 spot 0.046",
        "eastus-2 on-demand 0.184",
        "eastus-2 spot 0.046",
        "eastus-3 on-demand 0.184",
        "eastus-3 spot 0.046",
        "0 on-demand 0.184",
        "0 spot 0.046",
      ]
    `);
  });

  it('keeps what the kubelet reserves out of reach', () => {
    const mebibytes = (name: string): number => (find(name).allocatable['memory']?.value() ?? 0) / 2 ** 20;
    expect(
      [
        'Standard_D2s_v5',
        'Standard_D4s_v5',
        'Standard_D8s_v5',
        'Standard_D16s_v5',
        'Standard_NC24ads_A100_v4',
        'Standard_D96s_v5',
        'Standard_D128s_v6',
      ].map((name) => [find(name).allocatable['cpu']?.toString(), Number(mebibytes(name).toFixed(1))]),
    ).toEqual([
      ['1900m', 4984.6],
      ['3860m', 11743.2],
      ['7820m', 25915.4],
      ['15740m', 54259.8],
      ['23660m', 196207.0],
      ['94940m', 348188.8],
      ['126620m', 466808.4],
    ]);
  });

  it('does what the node class says', () => {
    const nodeClass = {
      apiVersion: 'karpenter.azure.com/v1beta1',
      kind: 'AKSNodeClass',
      metadata: { name: 'small' },
      spec: { imageFamily: 'AzureLinux', osDiskSizeGB: 64, maxPods: 40, gpu: { mode: 'None' } },
    } as const;
    const types = bundledInstanceTypes({ region: 'eastus', nodeClass });
    const [first] = types;
    expect(first?.capacity['pods']?.toString()).toBe('40');
    expect(first?.capacity['ephemeral-storage']?.value()).toBe(64e9);
    expect([...(first?.requirements.get(Labels.aksOsSku).values ?? [])]).toEqual(['AzureLinux']);
    const amd = (list: typeof types): number => list.filter(({ name }) => name.includes('V710')).length;
    // Ubuntu alone drives these cards, and only where the class brings the driver itself.
    expect([amd(types), amd(eastus)]).toEqual([0, 0]);
    const ubuntu = { ...nodeClass, spec: { ...nodeClass.spec, imageFamily: 'Ubuntu' as const } };
    expect(amd(bundledInstanceTypes({ region: 'eastus', nodeClass: ubuntu }))).toBe(4);
  });

  it('has both priorities of AKS on every type, whatever can be bought', () => {
    const priorities = eastus.map(({ requirements }) => [...requirements.get(Labels.aksPriority).values].join());
    expect(new Set(priorities)).toEqual(new Set(['regular,spot']));
    expect(
      eastus.some(
        ({ offerings }) => !offerings.some(({ capacityType, available }) => available && capacityType === 'spot'),
      ),
    ).toBe(true);
  });
});

describe('the price table', () => {
  it.each(BUNDLED_REGIONS)('has Linux prices only, in proportion to size, in %s', (region) => {
    const sizes = new SkuCatalogue(region);
    // Giant and accelerated sizes are not priced by the core, nor are the smallest burstable ones.
    const linear = SKU_SERIES.filter(({ template }) => !/^[MN]/.test(template));
    const uneven = linear.filter(({ template, cpus }) => {
      const burstable = template.startsWith('B');
      const perCpu = cpus.flatMap((count) => {
        if (burstable && count < 4) return [];
        const size = sizes.find(`Standard_${template.replace('#', String(count))}`);
        return size === undefined ? [] : [size.price / count];
      });
      // A Windows licence adds 0.046 dollars for each vCPU, a tenth of that for burstable ones; E64_v3 is a little
      // cheaper for its missing memory.
      return Math.max(...perCpu) / Math.min(...perCpu) > (burstable ? 1.05 : 1.2);
    });
    expect(uneven.map(({ template }) => template)).toEqual([]);
  });

  it('has every size of the table in eastus', () => {
    const sizes = new SkuCatalogue('eastus');
    const missing = SKU_SERIES.flatMap(({ template, cpus }) =>
      cpus.map((count) => `Standard_${template.replace('#', String(count))}`).filter((name) => !sizes.find(name)),
    );
    expect(missing).toEqual([]);
  });
});
