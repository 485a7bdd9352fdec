import { describe, expect, it } from 'vitest';
import { Labels } from '../api/labels.ts';
import { formatResources } from '../units/resources.ts';
import { bundledInstanceTypes } from './bundledCatalogue.ts';
import { readCatalogue, writeCatalogue } from './catalogueFile.ts';

const bundled = bundledInstanceTypes({ region: 'westeurope' });
/** As through a file. */
const copy = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;

describe('the catalogue file', () => {
  it('describes an instance and its prices', () => {
    const entry = writeCatalogue(bundled).find(({ name }) => name === 'Standard_B2ms');
    expect(entry).toMatchInlineSnapshot(`
      {
        "allocatable": {
          "cpu": "1900m",
          "ephemeral-storage": "115200M",
          "memory": "5226731929",
          "pods": "250",
        },
        "capacity": {
          "cpu": "2",
          "ephemeral-storage": "128G",
          "memory": "7945689497",
          "pods": "250",
        },
        "labels": {
          "karpenter.azure.com/sku-cpu": "2",
          "karpenter.azure.com/sku-family": "B",
          "karpenter.azure.com/sku-gpu-count": "0",
          "karpenter.azure.com/sku-memory": "8192",
          "karpenter.azure.com/sku-name": "Standard_B2ms",
          "karpenter.azure.com/sku-networking-accelerated": "false",
          "karpenter.azure.com/sku-series": "Bms",
          "karpenter.azure.com/sku-storage-ephemeralos-maxsize": "32",
          "karpenter.azure.com/sku-storage-premium-capable": "true",
          "karpenter.azure.com/sku-version": "1",
          "kubernetes.azure.com/os-sku": "Ubuntu",
          "kubernetes.azure.com/sku-cpu": "2",
          "kubernetes.azure.com/sku-memory": "8192",
          "kubernetes.io/arch": "amd64",
          "kubernetes.io/os": "linux",
          "node.kubernetes.io/instance-type": "Standard_B2ms",
          "topology.kubernetes.io/region": "westeurope",
        },
        "name": "Standard_B2ms",
        "offerings": [
          {
            "capacityType": "on-demand",
            "price": 0.096,
            "zone": "westeurope-1",
          },
          {
            "capacityType": "on-demand",
            "price": 0.096,
            "zone": "westeurope-2",
          },
          {
            "capacityType": "on-demand",
            "price": 0.096,
            "zone": "westeurope-3",
          },
          {
            "capacityType": "on-demand",
            "price": 0.096,
            "zone": "0",
          },
        ],
      }
    `);
  });

  it('loses nothing that scheduling needs', () => {
    const { instanceTypes, problems } = readCatalogue(copy(writeCatalogue(bundled)));
    expect(problems).toEqual([]);
    expect(instanceTypes.map(({ name }) => name)).toEqual(bundled.map(({ name }) => name));
    for (const [index, before] of bundled.entries()) {
      const after = instanceTypes[index];
      if (after === undefined) throw new Error('too few');
      // Not for users and not for the scheduler: which image to boot.
      const known = before.requirements.without(Labels.skuHyperVGeneration);
      expect(after.requirements.equals(known), `${after.requirements.toString()} is not ${known.toString()}`).toBe(
        true,
      );
      const nonZero = (resources: typeof before.capacity): object =>
        Object.fromEntries(Object.entries(formatResources(resources)).filter(([, amount]) => amount !== '0'));
      expect(nonZero(after.capacity)).toEqual(nonZero(before.capacity));
      expect(nonZero(after.allocatable)).toEqual(nonZero(before.allocatable));
      const offered = before.offerings.filter(({ available }) => available);
      expect(after.offerings.map(({ zone, capacityType, price }) => [zone, capacityType, price])).toEqual(
        offered.map(({ zone, capacityType, price }) => [zone, capacityType, price]),
      );
      for (const [position, offering] of offered.entries()) {
        expect(after.offerings[position]?.requirements.equals(offering.requirements)).toBe(true);
      }
    }
  });

  it('needs little: a name, amounts and offerings', () => {
    const { instanceTypes, problems } = readCatalogue([
      {
        name: 'metal',
        labels: { rack: 'a' },
        allocatable: { cpu: '64', memory: '256Gi', pods: 250 },
        offerings: [{ zone: 'hall-1', capacityType: 'on-demand', price: 0 }],
      },
    ]);
    expect(problems).toEqual([]);
    const [metal] = instanceTypes;
    expect(metal?.requirements.toString()).toContain('rack In [a]');
    expect(metal?.capacity).toBe(metal?.allocatable);
    expect([...(metal?.requirements.get(Labels.arch).values ?? [])]).toEqual(['amd64']);
  });

  it('reports every mistake with its path, and keeps the rest', () => {
    const good = { name: 'good', labels: {}, allocatable: { cpu: 1 }, offerings: [] };
    const { instanceTypes, problems } = readCatalogue([
      good,
      good,
      7,
      { ...good, name: '' },
      { ...good, name: 'a', labels: { size: 3 } },
      { ...good, name: 'b', allocatable: { cpu: 'many', memory: '-1Gi', pods: [] } },
      { ...good, name: 'c', offerings: [{ zone: 1, capacityType: 'rented', price: -1 }] },
      { ...good, name: 'd', offerings: [{ zone: 'z', capacityType: 'spot', price: Number.NaN }] },
      { name: 'e' },
    ]);
    expect(instanceTypes.map(({ name }) => name)).toEqual(['good']);
    expect(problems).toMatchInlineSnapshot(`
      [
        "[1].name: "good" is there twice",
        "[2]: must be an object",
        "[3].name: must be text",
        "[4].labels["size"]: must be text",
        "[5].allocatable.cpu: is not a quantity such as 1900m or 7Gi",
        "[5].allocatable.memory: must not be negative",
        "[5].allocatable.pods: is not a quantity such as 1900m or 7Gi",
        "[6].offerings[0].zone: must be text",
        "[6].offerings[0].capacityType: must be on-demand, spot or reserved",
        "[6].offerings[0].price: must be a number, 0 or more",
        "[7].offerings[0].price: must be a number, 0 or more",
        "[8].labels: must be an object",
        "[8].allocatable: must be an object of quantities",
        "[8].offerings: must be a list",
      ]
    `);
    expect(readCatalogue({ items: [] }).problems).toEqual(['the catalogue must be a JSON list']);
  });
});
