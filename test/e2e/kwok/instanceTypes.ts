/** Test support: instance types for the tests of constraints, in the file format of the kwok provider. */
import { Labels } from '../../../src/api/labels.ts';

const ZONES = ['test-zone-a', 'test-zone-b', 'test-zone-c'];
const PRICES = { 'on-demand': 1, spot: 0.7 } as const;

interface Special {
  readonly name: string;
  readonly cpu: number;
  readonly resources?: Readonly<Record<string, string>>;
  readonly reserved?: number;
}

function type({ name, cpu, resources, reserved }: Special) {
  const offering = (capacityType: string, zone: string, price: number) => ({
    Price: price,
    Available: true,
    ...(capacityType === 'reserved' && { ReservationCapacity: reserved }),
    Requirements: [
      { key: Labels.capacityType, operator: 'In', values: [capacityType] },
      { key: Labels.zone, operator: 'In', values: [zone] },
    ],
  });
  return {
    name,
    architecture: 'amd64',
    operatingSystems: ['linux'],
    resources: { cpu: String(cpu), memory: `${cpu * 4}Gi`, 'ephemeral-storage': '20Gi', pods: '110', ...resources },
    offerings: reserved
      ? [offering('reserved', 'test-zone-a', 0)]
      : ZONES.flatMap((zone) =>
          Object.entries(PRICES).map(([capacityType, share]) => offering(capacityType, zone, cpu * 0.05 * share)),
        ),
  };
}

export const INSTANCE_TYPES = [
  ...[1, 2, 4, 8].map((cpu) => type({ name: `plain-${cpu}`, cpu })),
  ...[2, 4].map((cpu) => type({ name: `other-${cpu}`, cpu: cpu, resources: { memory: `${cpu * 8}Gi` } })),
  type({ name: 'accelerated-4', cpu: 4, resources: { 'example.com/gpu': '2' } }),
  type({ name: 'prepaid-2', cpu: 2, reserved: 1 }),
];
