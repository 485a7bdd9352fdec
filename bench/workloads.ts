/**
 * The pods that the solver is measured with, always the same for the same seed. `workloads` are ours, over Azure's
 * catalogue; `upstreamPods` and `preferencePods` follow the description of Karpenter's own benchmark.
 */
import type { Pod } from '../src/api/kinds.ts';
import { Labels } from '../src/api/labels.ts';
import { SeededRandom } from '../src/clock/seededRandom.ts';

export interface Workload {
  readonly name: string;
  readonly pods: readonly Pod[];
  /** How many kinds of pods there are by size. */
  readonly sizes: number;
  /** How far from the proven bound the price may be. */
  readonly target: number;
}

type PodSpec = NonNullable<Pod['spec']>;

interface Shape {
  readonly millicores: number;
  readonly mebibytes: number;
}

const MEDIAN: Shape = { millicores: 500, mebibytes: 1024 };

export function pod(name: string, { millicores, mebibytes }: Shape, extra: Partial<PodSpec> = {}, labels = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels },
    spec: {
      ...extra,
      containers: [{ name: 'main', resources: { requests: { cpu: `${millicores}m`, memory: `${mebibytes}Mi` } } }],
    },
  };
}

function replicas(name: string, count: number, shape: Shape, extra: Partial<PodSpec> = {}): Pod[] {
  return Array.from({ length: count }, (_, index) => pod(`${name}-${index}`, shape, extra, { app: name }));
}

export function workloads(quick = false): Workload[] {
  return [
    web(),
    lognormal('lognormal-3k', 300, 10),
    ...(quick ? [] : [lognormal('lognormal-20k', 1000, 20)]),
    fixed('complementary', [
      [500, { millicores: 3500, mebibytes: 2048 }],
      [500, { millicores: 250, mebibytes: 14_000 }],
    ]),
    spread(),
    fixed('awkward', [
      [200, { millicores: 2100, mebibytes: 9000 }],
      [200, { millicores: 5300, mebibytes: 18_000 }],
      [200, { millicores: 900, mebibytes: 30_000 }],
    ]),
    fixed('batch', [[10_000, { millicores: 900, mebibytes: 1700 }]]),
  ];
}

/** 100 Deployments of 2 to 40 replicas with sizes typical of web services. */
function web(): Workload {
  const random = new SeededRandom('web');
  const pods = Array.from({ length: 100 }, (_, index) =>
    replicas(`web-${index}`, between(random, 2, 40), webShape(random)),
  ).flat();
  return { name: 'web', pods, sizes: 100, target: 1.01 };
}

function webShape(random: SeededRandom): Shape {
  const millicores = Math.round(logUniform(random, 50, 2000) / 10) * 10;
  return { millicores, mebibytes: Math.round(logUniform(random, 64, 2048) / 16) * 16 };
}

export function lognormal(name: string, sizes: number, perSize: number): Workload {
  const random = new SeededRandom(name);
  const pods = Array.from({ length: sizes }, (_, index) => {
    const shape = {
      millicores: Math.max(10, Math.round(MEDIAN.millicores * Math.exp(normal(random)))),
      mebibytes: Math.max(16, Math.round(MEDIAN.mebibytes * Math.exp(normal(random)))),
    };
    return replicas(`size-${index}`, between(random, 1, 2 * perSize - 1), shape);
  }).flat();
  return { name, pods, sizes, target: 1.01 };
}

/** 60 Deployments spread over zones, 30 whose replicas avoid each other's node. */
function spread(): Workload {
  const random = new SeededRandom('spread');
  const pods = Array.from({ length: 90 }, (_, index) => {
    const name = `spread-${index}`;
    const labelSelector = { matchLabels: { app: name } };
    const extra: Partial<PodSpec> =
      index < 60
        ? {
            topologySpreadConstraints: [
              { maxSkew: 1, topologyKey: Labels.zone, whenUnsatisfiable: 'DoNotSchedule', labelSelector },
            ],
          }
        : {
            affinity: {
              podAntiAffinity: {
                requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: Labels.hostname, labelSelector }],
              },
            },
          };
    return replicas(name, between(random, 2, 40), webShape(random), extra);
  }).flat();
  return { name: 'spread', pods, sizes: 90, target: 1.05 };
}

function fixed(name: string, groups: readonly (readonly [number, Shape])[]): Workload {
  const pods = groups.flatMap(([count, shape], index) => replicas(`${name}-${index}`, count, shape));
  return { name, pods, sizes: groups.length, target: 1.01 };
}

/** Fifths: generic, spread over zones, spread over nodes, together in a zone, apart on nodes. */
export function upstreamPods(count: number): Pod[] {
  const random = new SeededRandom(`upstream-${count}`);
  const value = (): string => pick(random, ['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  const shape = (): Shape => ({
    millicores: pick(random, [100, 250, 500, 1000, 1500]),
    mebibytes: pick(random, [100, 256, 512, 1024, 2048, 4096]),
  });
  const fifth = Math.floor(count / 5);
  const generic = (index: number): Pod => pod(`generic-${index}`, shape(), {}, { 'my-label': value() });
  const spreadOver =
    (key: string, name: string) =>
    (index: number): Pod =>
      pod(
        `${name}-${index}`,
        shape(),
        {
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: key,
              whenUnsatisfiable: 'DoNotSchedule',
              labelSelector: { matchLabels: { 'my-label': value() } },
            },
          ],
        },
        { 'my-label': value() },
      );
  const together = (index: number): Pod => {
    const labels = { 'my-affinity': value() };
    const term = { topologyKey: Labels.zone, labelSelector: { matchLabels: labels } };
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    return pod(`together-${index}`, shape(), { affinity }, labels);
  };
  const apart = (index: number): Pod => {
    const labels = { app: 'nginx' };
    const term = { topologyKey: Labels.hostname, labelSelector: { matchLabels: labels } };
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    return pod(`apart-${index}`, shape(), { affinity }, labels);
  };
  const make = (length: number, one: (index: number) => Pod): Pod[] => Array.from({ length }, (_, index) => one(index));
  return [
    ...make(count - 4 * fifth, generic),
    ...make(fifth, spreadOver(Labels.zone, 'zonal')),
    ...make(fifth, spreadOver(Labels.hostname, 'hostname')),
    ...make(fifth, together),
    ...make(fifth, apart),
  ];
}

/** Every pod prefers one zone, and to be alone in its zone and on its node. */
export function preferencePods(count: number): Pod[] {
  const random = new SeededRandom('preferences');
  const labels = { app: 'nginx' };
  const shape = {
    millicores: pick(random, [100, 250, 500, 1000, 1500]),
    mebibytes: pick(random, [100, 256, 512, 1024, 2048, 4096]),
  };
  const avoid = (weight: number, topologyKey: string): object => ({
    weight,
    podAffinityTerm: { topologyKey, labelSelector: { matchLabels: labels } },
  });
  const affinity = {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 1,
          preference: { matchExpressions: [{ key: Labels.zone, operator: 'In', values: ['test-zone-1'] }] },
        },
      ],
    },
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [avoid(10, Labels.zone), avoid(1, Labels.hostname)],
    },
  } as NonNullable<PodSpec['affinity']>;
  return Array.from({ length: count }, (_, index) => pod(`wish-${index}`, shape, { affinity }, labels));
}

function between(random: SeededRandom, least: number, most: number): number {
  return least + Math.floor(random.next() * (most - least + 1));
}

function logUniform(random: SeededRandom, least: number, most: number): number {
  return least * Math.exp(random.next() * Math.log(most / least));
}

/** Box–Muller. */
function normal(random: SeededRandom): number {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}

function pick<T>(random: SeededRandom, list: readonly T[]): T {
  return list[Math.floor(random.next() * list.length)] as T;
}
