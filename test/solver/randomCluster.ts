/** Small clusters with everything that constrains pods. In: nothing; out: fast-check arbitraries of problems. */
import fc from 'fast-check';
import type { Pod } from '../../src/api/kinds.ts';
import type { NodePool } from '../../src/api/kinds/nodePool.ts';
import { Labels, PlacementScopes } from '../../src/api/labels.ts';
import type { InstanceType } from '../../src/cloud/instanceType.ts';
import { Requirement, type RequirementItem } from '../../src/constraints/requirement.ts';
import { Requirements } from '../../src/constraints/requirements.ts';
import type { PodVolumes } from '../../src/constraints/volumes.ts';
import { parseResources, quantityOf } from '../../src/units/resources.ts';
import type { ExistingNode, Problem } from '../../src/solver/problem.ts';

const ZONES = ['z1', 'z2', 'z3'] as const;
const RACK = 'example.com/rack';

export function testType(
  name: string,
  cpu: number,
  memory: number,
  price: number,
  zones: readonly string[] = ZONES,
  arch = 'amd64',
): InstanceType {
  const inValues = (key: string, ...values: string[]): Requirement => Requirement.of(key, 'In', values);
  const capacity = parseResources({ cpu, memory: `${memory}Gi`, pods: 8 });
  return {
    name,
    requirements: Requirements.of(
      inValues(Labels.instanceType, name),
      inValues(Labels.arch, arch),
      inValues(Labels.os, 'linux'),
      inValues(Labels.zone, ...zones),
      inValues(Labels.capacityType, 'on-demand', 'spot'),
    ),
    offerings: zones.flatMap((zone, index) => [
      {
        requirements: Requirements.of(inValues(Labels.zone, zone), inValues(Labels.capacityType, 'on-demand')),
        zone,
        capacityType: 'on-demand' as const,
        price: price * (1 + index / 100),
        available: true,
      },
      {
        requirements: Requirements.of(inValues(Labels.zone, zone), inValues(Labels.capacityType, 'spot')),
        zone,
        capacityType: 'spot' as const,
        price: price * 0.4,
        available: index !== 1,
      },
    ]),
    capacity,
    allocatable: parseResources({ cpu: `${cpu * 1000 - 100}m`, memory: `${memory}Gi`, pods: 8 }),
  };
}

/** Also sold without a zone, as every Azure size is; such machines carry the zone "0". */
export function withRegional(type: InstanceType): InstanceType {
  const price = quantityOf(type.capacity, 'cpu').value() * 0.05;
  const offerings = (['on-demand', 'spot'] as const).map((capacityType) => ({
    requirements: Requirements.fromLabels({
      [Labels.zone]: '0',
      [Labels.capacityType]: capacityType,
      [Labels.placementScope]: PlacementScopes.regional,
    }),
    zone: '0',
    capacityType,
    price: type.offerings.find((each) => each.capacityType === capacityType)?.price ?? price,
    available: true,
  }));
  const zones = [...type.requirements.get(Labels.zone).values, '0'];
  return {
    ...type,
    requirements: type.requirements.replace(Requirement.of(Labels.zone, 'In', zones)),
    offerings: [...type.offerings, ...offerings],
  };
}

const TYPES = [
  testType('a2', 2, 4, 0.1),
  testType('b4', 4, 8, 0.21, ['z1', 'z2']),
  testType('c4', 4, 16, 0.25),
  testType('d8', 8, 16, 0.38),
  testType('e2arm', 2, 8, 0.07, ZONES, 'arm64'),
];

export function testPool(
  name: string,
  spec: Partial<NodePool['spec']['template']['spec']> = {},
  more: Partial<NodePool['spec']> = {},
  labels: Record<string, string> = {},
): NodePool {
  return {
    metadata: { name },
    spec: {
      disruption: {
        consolidateAfter: '0s',
        consolidationPolicy: 'WhenEmptyOrUnderutilized',
        budgets: [{ nodes: '10%' }],
      },
      ...more,
      template: {
        metadata: { labels },
        spec: {
          requirements: [],
          expireAfter: '720h',
          nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
          ...spec,
        },
      },
    },
  };
}

export function testPod(name: string, cpu: string, memory: string, spec: object = {}, metadata: object = {}): Pod {
  const containers = [{ name: 'main', resources: { requests: { cpu, memory } } }];
  return { metadata: { name, namespace: 'default', uid: name, ...metadata }, spec: { containers, ...spec } };
}

const apps = ['a', 'b', 'c'] as const;
const app = fc.constantFrom(...apps);
const selector = app.map((value) => ({ matchLabels: { app: value } }));
const domainKey = fc.constantFrom<string>(
  Labels.zone,
  Labels.zone,
  Labels.hostname,
  Labels.hostname,
  RACK,
  Labels.capacityType,
);

const spread = fc
  .record({
    maxSkew: fc.integer({ min: 1, max: 2 }),
    topologyKey: domainKey,
    whenUnsatisfiable: fc.constantFrom('DoNotSchedule', 'DoNotSchedule', 'ScheduleAnyway'),
    labelSelector: selector,
    minDomains: fc.constantFrom(undefined, undefined, 2, 4),
    nodeTaintsPolicy: fc.constantFrom(undefined, 'Honor'),
  })
  .map(({ minDomains, nodeTaintsPolicy, ...rest }) => ({
    ...rest,
    ...(minDomains !== undefined && rest.whenUnsatisfiable === 'DoNotSchedule' && { minDomains }),
    ...(nodeTaintsPolicy && { nodeTaintsPolicy }),
  }));
const term = fc.record({ topologyKey: domainKey, labelSelector: selector });
const terms = fc.array(term, { minLength: 1, maxLength: 2 });
const expression = fc.constantFrom<RequirementItem>(
  { key: Labels.zone, operator: 'In', values: ['z1', 'z2'] },
  { key: Labels.zone, operator: 'NotIn', values: ['z1'] },
  { key: Labels.arch, operator: 'In', values: ['arm64'] },
  { key: RACK, operator: 'Exists' },
  { key: RACK, operator: 'In', values: ['r1'] },
  { key: 'missing', operator: 'DoesNotExist' },
  { key: Labels.capacityType, operator: 'In', values: ['on-demand'] },
);
const nodeTerms = fc.array(fc.array(expression, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 2 });
const sometimes = <Value>(value: fc.Arbitrary<Value>, weight: number): fc.Arbitrary<Value | undefined> =>
  fc.oneof({ weight: 10 - weight, arbitrary: fc.constant(undefined) }, { weight, arbitrary: value });

/** What the pods of one workload have in common. */
const template = fc.record({
  app,
  replicas: fc.integer({ min: 1, max: 5 }),
  size: fc.constantFrom<[string, string]>(
    ['100m', '128Mi'],
    ['500m', '2Gi'],
    ['1', '1Gi'],
    ['1500m', '6Gi'],
    ['3', '12Gi'],
    ['20', '1Gi'],
  ),
  spread: sometimes(fc.array(spread, { minLength: 1, maxLength: 2 }), 4),
  affinity: sometimes(terms, 2),
  antiAffinity: sometimes(terms, 2),
  softAntiAffinity: sometimes(terms, 1),
  softAffinity: sometimes(terms, 1),
  nodeTerms: sometimes(nodeTerms, 2),
  preferredZone: sometimes(fc.constantFrom(...ZONES), 1),
  tolerates: sometimes(fc.constant([{ key: 'team', operator: 'Exists' }]), 3),
  port: sometimes(fc.constant(8080), 1),
  volumeZones: sometimes(fc.subarray([...ZONES], { minLength: 1, maxLength: 2 }), 1),
  priority: fc.constantFrom(0, 0, 10),
  group: sometimes(fc.constantFrom('g1', 'g2'), 1),
});

type Template = typeof template extends fc.Arbitrary<infer Value> ? Value : never;

function podsOf(value: Template, index: number): Pod[] {
  const weighted = (list: readonly object[]) =>
    list.map((podAffinityTerm, at) => ({ weight: 10 + at, podAffinityTerm }));
  const spec = {
    priority: value.priority,
    ...(value.spread && { topologySpreadConstraints: value.spread }),
    ...(value.tolerates && { tolerations: value.tolerates }),
    affinity: {
      podAffinity: {
        ...(value.affinity && { requiredDuringSchedulingIgnoredDuringExecution: value.affinity }),
        ...(value.softAffinity && { preferredDuringSchedulingIgnoredDuringExecution: weighted(value.softAffinity) }),
      },
      podAntiAffinity: {
        ...(value.antiAffinity && { requiredDuringSchedulingIgnoredDuringExecution: value.antiAffinity }),
        ...(value.softAntiAffinity && {
          preferredDuringSchedulingIgnoredDuringExecution: weighted(value.softAntiAffinity),
        }),
      },
      nodeAffinity: {
        ...(value.nodeTerms && {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: value.nodeTerms.map((matchExpressions) => ({ matchExpressions })),
          },
        }),
        ...(value.preferredZone && {
          preferredDuringSchedulingIgnoredDuringExecution: [
            {
              weight: 5,
              preference: { matchExpressions: [{ key: Labels.zone, operator: 'In', values: [value.preferredZone] }] },
            },
          ],
        }),
      },
    },
  };
  const containers = [
    {
      name: 'main',
      resources: { requests: { cpu: value.size[0], memory: value.size[1] } },
      ...(value.port && { ports: [{ containerPort: 80, hostPort: value.port }] }),
    },
  ];
  const annotations = value.group && { annotations: { 'nodewright.dev/pod-group': value.group } };
  return Array.from({ length: value.replicas }, (_, replica) =>
    testPod(
      `w${index}-${replica}`,
      ...value.size,
      { ...spec, containers },
      { labels: { app: value.app }, ...annotations },
    ),
  );
}

const node = fc.record({
  zone: fc.constantFrom(...ZONES),
  cpu: fc.integer({ min: 0, max: 6 }),
  running: fc.array(
    template.map((value) => ({ ...value, replicas: 1 })),
    { maxLength: 2 },
  ),
  tainted: fc.boolean(),
  rack: sometimes(fc.constantFrom('r1', 'r2'), 4),
});

function existingNode(
  value: typeof node extends fc.Arbitrary<infer Value> ? Value : never,
  index: number,
): ExistingNode {
  return {
    name: `node-${index}`,
    labels: {
      [Labels.zone]: value.zone,
      [Labels.arch]: 'amd64',
      [Labels.capacityType]: 'on-demand',
      [Labels.hostname]: `node-${index}`,
      ...(value.rack && { [RACK]: value.rack }),
    },
    taints: value.tainted ? [{ key: 'team', value: 'x', effect: 'NoSchedule' }] : [],
    free: parseResources({ cpu: value.cpu, memory: '16Gi', pods: 6 }),
    pods: value.running.flatMap((one, at) => podsOf(one, 1000 + index * 10 + at)),
    initialized: true,
  };
}

/** `constrained: false` leaves only sizes: then a plain first-fit is easy to write down. */
export const anyProblem: fc.Arbitrary<Problem> = fc
  .record({
    templates: fc.array(template, { minLength: 1, maxLength: 4 }),
    nodes: fc.array(node, { maxLength: 3 }),
    limits: sometimes(fc.record({ cpu: fc.integer({ min: 0, max: 24 }), nodes: fc.integer({ min: 0, max: 4 }) }), 2),
    racks: fc.boolean(),
    tainted: fc.boolean(),
    second: fc.boolean(),
    minValues: sometimes(fc.constantFrom(2, 3), 1),
    daemon: fc.boolean(),
  })
  .map(({ templates, nodes, limits, racks, tainted, second, minValues, daemon }) => {
    const requirements: RequirementItem[] = [
      ...(racks ? [{ key: RACK, operator: 'In' as const, values: ['r1', 'r2'] }] : []),
      ...(minValues ? [{ key: Labels.instanceType, operator: 'Exists' as const, minValues }] : []),
    ];
    const first = testPool(
      'one',
      {
        requirements: requirements as NodePool['spec']['template']['spec']['requirements'],
        ...(tainted && { taints: [{ key: 'team', value: 'x', effect: 'NoSchedule' as const }] }),
      },
      limits ? { limits: { cpu: String(limits.cpu), nodes: String(limits.nodes) } } : {},
    );
    const pools = [first, ...(second ? [testPool('two', {}, {}, { [RACK]: 'r2' })] : [])];
    const pods = templates.flatMap(podsOf);
    const volumes = new Map<string, PodVolumes>();
    templates.forEach((value, index) => {
      if (!value.volumeZones) return;
      for (const pod of podsOf(value, index)) {
        volumes.set(`default/${pod.metadata.name}`, {
          alternatives: value.volumeZones.map((zone) => Requirements.of(Requirement.of(Labels.zone, 'In', [zone]))),
          attachments: [],
        });
      }
    });
    return {
      pods,
      pools: pools.map((pool) => ({ pool, instanceTypes: TYPES, used: {} })),
      nodes: nodes.map(existingNode),
      daemons: daemon ? [testPod('agent', '100m', '200Mi')] : [],
      volumes,
    };
  });
