/** Random clusters from a seed: nodes, pods on them, and pods that wait for a place. */
import type { Node, Pod } from '../../../src/api/kinds.ts';
import type { Random } from '../../../src/clock/random.ts';
import type { Draft } from '../../../src/kube/kube.ts';

const ZONE = 'topology.kubernetes.io/zone';
const HOST = 'kubernetes.io/hostname';
const ZONES = ['a', 'b', 'c'];
const APPS = ['x', 'y', 'z'];

export interface RandomPlacement {
  readonly nodes: readonly Draft<Node>[];
  readonly placed: readonly Draft<Pod>[];
  readonly seeking: readonly Draft<Pod>[];
}

export function randomPlacement(random: Random, probes: number): RandomPlacement {
  const chance = (share: number): boolean => random.next() < share;
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random.next() * values.length)] as T;
  const upTo = (most: number): number => Math.floor(random.next() * (most + 1));

  const nodes = Array.from({ length: 2 + upTo(4) }, (_, index): Draft<Node> => {
    const name = `node-${index}`;
    const resources = { cpu: String(1 + upTo(3)), memory: `${2 + upTo(6)}Gi`, pods: chance(0.2) ? '3' : '110' };
    const taints = [
      ...(chance(0.25) ? [{ key: 'dedicated', value: pick(['gpu', 'web']), effect: 'NoSchedule' as const }] : []),
      ...(chance(0.2) ? [{ key: 'soft', effect: 'PreferNoSchedule' as const }] : []),
    ];
    return {
      metadata: {
        name,
        labels: {
          [HOST]: name,
          ...(chance(0.9) && { [ZONE]: pick(ZONES) }),
          ...(chance(0.5) && { disk: pick(['ssd', 'hdd']) }),
          ...(chance(0.4) && { size: String(upTo(9)) }),
        },
      },
      spec: { ...(taints.length > 0 && { taints }), ...(chance(0.15) && { unschedulable: true }) },
      status: { capacity: resources, allocatable: resources, conditions: [{ type: 'Ready', status: 'True' }] as never },
    };
  });

  const term = (): object => ({
    labelSelector: { matchLabels: { app: pick(APPS) } },
    topologyKey: pick([ZONE, HOST]),
  });
  const pod = (name: string, nodeName?: string): Draft<Pod> => {
    const requests = {
      ...(chance(0.8) && { cpu: `${50 * (1 + upTo(nodeName ? 8 : 60))}m` }),
      ...(chance(0.6) && { memory: `${64 * (1 + upTo(nodeName ? 8 : 80))}Mi` }),
    };
    const ports = chance(0.25) ? [{ containerPort: 80, hostPort: pick([8080, 8081]) }] : undefined;
    const affinity = {
      ...(chance(0.2) && {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              {
                matchExpressions: [
                  pick([
                    { key: 'disk', operator: 'In', values: ['ssd'] },
                    { key: 'disk', operator: 'NotIn', values: ['ssd'] },
                    { key: 'disk', operator: 'Exists' },
                    { key: 'size', operator: 'Gt', values: ['4'] },
                    { key: 'size', operator: 'DoesNotExist' },
                  ]),
                ],
              },
            ],
          },
        },
      }),
      ...(chance(0.2) && { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term()] } }),
      ...(chance(0.2) && { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term()] } }),
    };
    const spread = chance(0.25)
      ? [
          {
            maxSkew: 1,
            topologyKey: pick([ZONE, HOST]),
            whenUnsatisfiable: pick(['DoNotSchedule', 'DoNotSchedule', 'ScheduleAnyway']),
            labelSelector: { matchLabels: { app: pick(APPS) } },
            ...(chance(0.3) && { minDomains: undefined, nodeTaintsPolicy: 'Honor' }),
          },
        ]
      : undefined;
    return {
      metadata: { name, namespace: 'default', labels: { app: pick(APPS) } },
      spec: {
        ...(nodeName && { nodeName }),
        containers: [{ name: 'main', image: 'x', resources: { requests }, ...(ports && { ports }) }],
        ...(chance(0.2) && { nodeSelector: pick<Record<string, string>>([{ disk: 'ssd' }, { [ZONE]: pick(ZONES) }]) }),
        ...(chance(0.4) && {
          tolerations: [
            pick<object>([
              { key: 'dedicated', operator: 'Exists' },
              { key: 'dedicated', value: 'gpu', effect: 'NoSchedule' },
              { operator: 'Exists' },
            ]),
          ] as never,
        }),
        ...(Object.keys(affinity).length > 0 && { affinity: affinity as never }),
        ...(spread && { topologySpreadConstraints: spread as never }),
        ...(!nodeName && chance(0.05) && { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'none' } }] }),
      },
    };
  };
  return {
    nodes,
    placed: Array.from({ length: upTo(8) }, (_, index) => pod(`placed-${index}`, pick(nodes).metadata.name)),
    seeking: Array.from({ length: probes }, (_, index) => pod(`seeking-${index}`)),
  };
}
