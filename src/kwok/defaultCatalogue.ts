/** The kwok provider's built-in catalogue: 144 instance types in four zones. */
import { Labels } from '../api/labels.ts';
import type { InstanceType } from '../cloud/instanceType.ts';
import { instanceType } from './instanceTypeFile.ts';

const CPUS = [1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256];
/** Gibibytes of memory per CPU. */
const FAMILIES = { c: 2, s: 4, m: 8 };
const ZONES = ['test-zone-a', 'test-zone-b', 'test-zone-c', 'test-zone-d'];
const SPOT_SHARE = 0.7;
const GIBI = 2 ** 30;

export function defaultCatalogue(): readonly InstanceType[] {
  return Object.entries(FAMILIES).flatMap(([family, memoryFactor]) =>
    CPUS.flatMap((cpu) =>
      ['amd64', 'arm64'].flatMap((architecture) =>
        ['linux', 'windows'].map((os) => {
          const memory = cpu * memoryFactor;
          const price = 0.025 * cpu + (0.001 * memory * GIBI) / 1e9;
          return instanceType({
            name: `${family}-${cpu}x-${architecture}-${os}`,
            architecture,
            operatingSystems: [os],
            resources: { cpu, memory: `${memory}Gi`, 'ephemeral-storage': '20Gi', pods: Math.min(16 * cpu, 1024) },
            offerings: ZONES.flatMap((zone) => [
              { Price: price * SPOT_SHARE, Requirements: sold(zone, 'spot') },
              { Price: price, Requirements: sold(zone, 'on-demand') },
            ]),
          });
        }),
      ),
    ),
  );
}

function sold(zone: string, capacityType: string) {
  return [
    { key: Labels.zone, operator: 'In' as const, values: [zone] },
    { key: Labels.capacityType, operator: 'In' as const, values: [capacityType] },
  ];
}
