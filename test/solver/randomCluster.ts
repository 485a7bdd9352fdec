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

/** Some machines of the type in the first zone are paid for already. */
function withReserved(type: InstanceType, left: number): InstanceType {
  const labels = { [Labels.zone]: 'z1', [Labels.capacityType]: 'reserved' };
  const offering = {
    requirements: Requirements.fromLabels(labels),
    zone: 'z1',
    capacityType: 'reserved' as const,
    price: 0.001,
    available: true,
    reservationId: 'reservation',
    reservationCapacity: left,
  };
  const kinds = Requirement.of(Labels.capacityType, 'In', ['on-demand', 'spot', 'reserved']);
  return { ...type, requirements: type.requirements.replace(kinds), offerings: [...type.offerings, offering] };
}

/** As an overlay changes it: more to offer at another price. */
function withOverlay(type: InstanceType): InstanceType {
  return {
    ...type,
    offerings: type.offerings.map((offering) => ({ ...offering, price: offering.price * 1.5 })),
    capacity: { ...type.capacity, ...parseResources({ [DEVICE]: 2 }) },
    allocatable: { ...type.allocatable, ...parseResources({ [DEVICE]: 2 }) },
  };
}

const DEVICE = 'example.com/device';
const DRIVER = 'disk.csi.azure.com';
const TYPES = [
  testType('a2', 2, 4, 0.1),
  testType('b4', 4, 8, 0.21, ['z1', 'z2']),
  testType('c4', 4, 16, 0.25),
  testType('d8', 8, 16, 0.38),
  testType('e2arm', 2, 8, 0.07, ZONES, 'arm64'),
  withOverlay(testType('f4', 4, 8, 0.2)),
];

interface Offered {
  readonly regional: boolean;
  readonly reserved: number | undefined;
}

function typesOf({ regional, reserved }: Offered): InstanceType[] {
  return TYPES.map((type) => (regional ? withRegional(type) : type)).map((type) =>
    reserved !== undefined && type.name === 'd8' ? withReserved(type, reserved) : type,
  );
}

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
const namespaceChoice = fc.constantFrom<object>(
  {},
  {},
  { namespaces: ['other'] },
  { namespaceSelector: {} },
  { namespaceSelector: { matchLabels: { team: 'x' } } },
);
const term = fc
  .record({ topologyKey: domainKey, labelSelector: selector, where: namespaceChoice })
  .map(({ where, ...rest }) => ({ ...rest, ...where }));
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
  /** The lowest is that of pods that only keep room free. */
  priority: fc.constantFrom(0, 0, 10, -2_147_483_648),
  /** Every other replica matters more. */
  isMixed: fc.constantFrom(false, false, true),
  group: sometimes(fc.constantFrom('g1', 'g2'), 1),
  groupMin: sometimes(fc.constantFrom('1', '2', '3'), 3),
  namespace: fc.constantFrom('default', 'default', 'other'),
  disk: sometimes(fc.constantFrom('own', 'shared'), 2),
  device: sometimes(fc.constantFrom('1', '2'), 1),
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
      resources: {
        requests: { cpu: value.size[0], memory: value.size[1], ...(value.device && { [DEVICE]: value.device }) },
      },
      ...(value.port && { ports: [{ containerPort: 80, hostPort: value.port }] }),
    },
  ];
  const annotations = value.group && {
    annotations: {
      'nodewright.dev/pod-group': value.group,
      ...(value.groupMin && { 'nodewright.dev/pod-group-min': value.groupMin }),
    },
  };
  return Array.from({ length: value.replicas }, (_, replica) =>
    testPod(
      `w${index}-${replica}`,
      ...value.size,
      { ...spec, containers, priority: value.isMixed && replica % 2 === 1 ? 20 : value.priority },
      { labels: { app: value.app }, namespace: value.namespace, ...annotations },
    ),
  );
}

/** What the pods of a workload ask of disks. */
function volumesOf(value: Template, index: number): [string, PodVolumes][] {
  if (!value.volumeZones && !value.disk) return [];
  return podsOf(value, index).map(({ metadata }): [string, PodVolumes] => [
    `${value.namespace}/${metadata.name}`,
    {
      alternatives: (value.volumeZones ?? []).map((zone) => Requirements.of(Requirement.of(Labels.zone, 'In', [zone]))),
      attachments: value.disk
        ? [{ driver: DRIVER, claim: `${value.namespace}/${value.disk === 'own' ? metadata.name : 'shared'}` }]
        : [],
    },
  ]);
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
  disks: sometimes(fc.integer({ min: 0, max: 2 }), 4),
  isRegional: fc.constantFrom(false, false, false, true),
});

const runningIndex = (node: number, at: number): number => 1000 + node * 10 + at;

function existingNode(
  value: typeof node extends fc.Arbitrary<infer Value> ? Value : never,
  index: number,
): ExistingNode {
  return {
    name: `node-${index}`,
    labels: {
      [Labels.zone]: value.isRegional ? '0' : value.zone,
      [Labels.arch]: 'amd64',
      [Labels.capacityType]: 'on-demand',
      [Labels.hostname]: `node-${index}`,
      ...(value.rack && { [RACK]: value.rack }),
    },
    taints: value.tainted ? [{ key: 'team', value: 'x', effect: 'NoSchedule' }] : [],
    free: parseResources({ cpu: value.cpu, memory: '16Gi', pods: 6 }),
    pods: value.running.flatMap((one, at) => podsOf(one, runningIndex(index, at))),
    initialized: true,
    ...(value.disks !== undefined && { volumeLimits: new Map([[DRIVER, value.disks]]) }),
  };
}

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
    regional: fc.boolean(),
    reserved: sometimes(fc.integer({ min: 0, max: 2 }), 2),
    spreadByDefault: sometimes(fc.constantFrom<string>(Labels.zone, Labels.hostname), 1),
  })
  .map(({ templates, nodes, limits, racks, tainted, second, minValues, daemon, spreadByDefault, ...offered }) => {
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
      for (const [name, asked] of volumesOf(value, index)) volumes.set(name, asked);
    });
    nodes.forEach(({ running }, index) => {
      running.forEach((value, at) => {
        for (const [name, asked] of volumesOf(value, runningIndex(index, at))) volumes.set(name, asked);
      });
    });
    const instanceTypes = typesOf(offered);
    return {
      pods,
      pools: pools.map((pool) => ({ pool, instanceTypes, used: {} })),
      nodes: nodes.map(existingNode),
      daemons: daemon ? [testPod('agent', '100m', '200Mi')] : [],
      volumes,
      namespaces: new Map([
        ['default', { team: 'x' }],
        ['other', {}],
      ]),
      ...(spreadByDefault !== undefined && { defaultSpread: defaultSpread(spreadByDefault) }),
    };
  });

function defaultSpread(topologyKey: string): NonNullable<Problem['defaultSpread']> {
  return {
    constraints: [{ maxSkew: 1, topologyKey, whenUnsatisfiable: 'DoNotSchedule' }],
    selectorOf: ({ metadata }) => {
      const app = metadata.labels?.['app'];
      // Some workloads belong to nobody from whom a selector could be deduced.
      return app === undefined || app === 'c' ? undefined : { matchLabels: { app } };
    },
  };
}
