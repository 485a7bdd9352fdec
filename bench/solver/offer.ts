/**
 * The pool and instance types of a bench, and the same as rows of numbers for the bounds and the price-blind packing,
 * which do not know labels.
 */
import type { Pod } from '../../src/api/kinds.ts';
import type { NodePool } from '../../src/api/kinds/nodePool.ts';
import { Labels } from '../../src/api/labels.ts';
import { bundledInstanceTypes } from '../../src/catalogue/bundledCatalogue.ts';
import type { InstanceType, Offering } from '../../src/cloud/instanceType.ts';
import { podRequests } from '../../src/pods/podRequests.ts';
import { Requirement, type RequirementItem } from '../../src/constraints/requirement.ts';
import { Requirements } from '../../src/constraints/requirements.ts';
import type { Problem } from '../../src/solver/problem.ts';
import { Quantity } from '../../src/units/quantity.ts';

export interface Offer {
  readonly name: string;
  readonly pool: NodePool;
  readonly requirements: readonly RequirementItem[];
  /** Those that the pool allows. */
  readonly instanceTypes: readonly InstanceType[];
  readonly machines: readonly Machine[];
}

/** A size at its lowest price, with room in millicores, MiB and pods. */
export interface Machine {
  readonly name: string;
  readonly price: number;
  readonly room: Vector;
}

/** Millicores, MiB, pods. */
export type Vector = readonly [number, number, number];

const REGION = 'eastus';
const ZONES = [1, 2, 3].map((zone) => `${REGION}-${zone}`);
const ON_DEMAND: readonly RequirementItem[] = [
  { key: Labels.capacityType, operator: 'In', values: ['on-demand'] },
  { key: Labels.zone, operator: 'In', values: ZONES },
];

/** Burstable sizes sell a fraction of their vCPUs, so their price per requested core is not comparable. */
export function azureOffers(): Offer[] {
  const all = bundledInstanceTypes({ region: REGION });
  return [
    offer('all types', all, [...ON_DEMAND, { key: Labels.skuFamily, operator: 'NotIn', values: ['B'] }]),
    offer('D, amd64', all, [
      ...ON_DEMAND,
      { key: Labels.arch, operator: 'In', values: ['amd64'] },
      { key: Labels.skuFamily, operator: 'In', values: ['D'] },
    ]),
  ];
}

/** Karpenter's benchmark: 400 types of cpu i+1, memory 2(i+1) Gi, pods 10(i+1), five offerings each. */
export function upstreamOffer(): Offer {
  const places = [
    ['test-zone-1', 'spot'],
    ['test-zone-2', 'spot'],
    ['test-zone-1', 'on-demand'],
    ['test-zone-2', 'on-demand'],
    ['test-zone-3', 'on-demand'],
  ] as const;
  const types = Array.from({ length: 400 }, (_, index): InstanceType => {
    const name = `fake-it-${index}`;
    const cpus = index + 1;
    const memory = cpus * 2 * 2 ** 30;
    const price = 0.1 * cpus + (0.1 * memory) / 1e9;
    const offerings = places.map(([zone, capacityType]): Offering => ({
      zone,
      capacityType,
      price,
      available: true,
      requirements: Requirements.fromLabels({ [Labels.zone]: zone, [Labels.capacityType]: capacityType }),
    }));
    const pods = Quantity.fromValue(cpus * 10);
    return {
      name,
      requirements: Requirements.of(
        Requirement.of(Labels.instanceType, 'In', [name]),
        Requirement.of(Labels.arch, 'In', ['amd64']),
        Requirement.of(Labels.os, 'In', ['linux', 'windows', 'darwin']),
        Requirement.of(Labels.zone, 'In', ['test-zone-1', 'test-zone-2', 'test-zone-3']),
        Requirement.of(Labels.capacityType, 'In', ['spot', 'on-demand']),
      ),
      offerings,
      capacity: { cpu: Quantity.fromValue(cpus), memory: Quantity.fromValue(memory, 'BinarySI'), pods },
      allocatable: {
        cpu: Quantity.fromMilli(cpus * 1000 - 100),
        memory: Quantity.fromValue(memory - 10 * 2 ** 20, 'BinarySI'),
        pods,
      },
    };
  });
  return offer('upstream', types, []);
}

/** These pods, an empty cluster and this offer. */
export function problemOf(pods: readonly Pod[], { pool, instanceTypes }: Offer): Problem {
  return { pods, pools: [{ pool, instanceTypes, used: {} }], nodes: [], daemons: [] };
}

export function offer(name: string, types: readonly InstanceType[], items: readonly RequirementItem[]): Offer {
  const requirements = Requirements.fromItems(items);
  const instanceTypes = types.filter((type) => type.requirements.intersects(requirements));
  return {
    name,
    requirements: items,
    instanceTypes,
    machines: instanceTypes.flatMap((type) => machineOf(type, requirements)),
    pool: {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: { name: 'default', uid: 'default' },
      spec: {
        template: {
          spec: {
            nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
            requirements: items,
          },
        },
      },
    } as unknown as NodePool,
  };
}

function machineOf({ name, allocatable, offerings }: InstanceType, requirements: Requirements): Machine[] {
  const prices = offerings
    .filter((one) => one.available && one.requirements.intersects(requirements))
    .map(({ price }) => price);
  const milli = allocatable['cpu']?.milliValue() ?? 0;
  const mebibytes = (allocatable['memory']?.value() ?? 0) / 2 ** 20;
  const pods = allocatable['pods']?.value() ?? 0;
  return prices.length === 0 ? [] : [{ name, price: Math.min(...prices), room: [milli, mebibytes, pods] }];
}

/** How much of a node a pod takes. */
export function demandOf(pod: Pod): Vector {
  const requests = podRequests(pod);
  return [requests['cpu']?.milliValue() ?? 0, (requests['memory']?.value() ?? 0) / 2 ** 20, 1];
}
