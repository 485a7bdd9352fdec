/** Small clusters in which plain first-fit, pod by pod, finds what a search class by class misses. */
import { describe, expect, it } from 'vitest';
import type { Pod } from '../../src/api/kinds.ts';
import { Labels } from '../../src/api/labels.ts';
import { solve } from '../../src/solver/solve.ts';
import type { ExistingNode, Problem, Solution } from '../../src/solver/problem.ts';
import { parseResources } from '../../src/units/resources.ts';
import { complaints } from '../fixtures/solver/checker.ts';
import { firstFitPlans } from '../fixtures/solver/firstFitPlan.ts';
import { throughCluster } from '../fixtures/solver/launchedPlan.ts';
import { testPod, testPool, testType, withRegional, ZONES } from '../fixtures/solver/testObjects.ts';

const RACK = 'example.com/rack';
const DEVICE = 'example.com/device';
const SPOT = 0.4;
const TYPES = [
  testType('a2', 2, 4, 0.1),
  testType('b4', 4, 8, 0.21, ['z1', 'z2']),
  testType('c4', 4, 16, 0.25),
  testType('d8', 8, 16, 0.38),
  testType('e2arm', 2, 8, 0.07, ZONES, 'arm64'),
];

/** Every other pod matters more. */
const mixed = (
  workload: string,
  count: number,
  size: [string, string],
  spec: object,
  labels: Record<string, string>,
  lesser = 0,
): Pod[] =>
  Array.from({ length: count }, (_, at) =>
    testPod(`${workload}-${at}`, ...size, { ...spec, priority: at % 2 === 1 ? 20 : lesser }, { labels }),
  );

function planOf(problem: Problem): Solution {
  const solution = solve(throughCluster(problem), { preferencePolicy: 'Ignore' });
  expect(complaints(problem, solution)).toEqual([]);
  return solution;
}

describe('plans where first-fit does well', () => {
  it('open a large node while the limit allows one, so that small pods have room beside a large one', () => {
    const there: ExistingNode = {
      name: 'there',
      labels: { [Labels.hostname]: 'there', [Labels.zone]: 'z1', [Labels.arch]: 'amd64' },
      taints: [],
      free: parseResources({ cpu: 4, memory: '16Gi', pods: 6 }),
      pods: [],
      initialized: true,
    };
    const pods = [
      ...Array.from({ length: 5 }, (_, at) => testPod(`w0-${at}`, '3', '12Gi', { priority: 0 })),
      ...mixed('w1', 4, ['1', '1Gi'], {}, {}),
    ];
    const pools = [{ pool: testPool('one', {}, { limits: { cpu: '12' } }), instanceTypes: TYPES, used: {} }];
    const { unplaced, pricePerHour } = planOf({ pods, pools, nodes: [there], daemons: [] });
    expect(unplaced).toHaveLength(2);
    // A d8 and a c4 beside a large and a small pod on the node that is there; not three c4 beside the small ones.
    expect(pricePerHour).toBeCloseTo(SPOT * (0.38 + 0.25), 9);
  });

  it('let pods whose spread counts only others fill a node in no zone', () => {
    const apart = { topologyKey: Labels.zone, labelSelector: { matchLabels: { app: 'a' } } };
    const podAntiAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [apart] };
    const spread = {
      maxSkew: 2,
      topologyKey: Labels.zone,
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'c' } },
    };
    const pods = [
      ...Array.from({ length: 9 }, (_, at) =>
        testPod(`w1-${at}`, '500m', '2Gi', { topologySpreadConstraints: [spread] }, { labels: { app: 'b' } }),
      ),
      ...[0, 1, 2].map((at) =>
        testPod(`w2-${at}`, '3', '12Gi', { affinity: { podAntiAffinity } }, { labels: { app: 'a' } }),
      ),
    ];
    const instanceTypes = TYPES.filter(({ name }) => name === 'c4' || name === 'e2arm').map(withRegional);
    const pools = [{ pool: testPool('one'), instanceTypes, used: {} }];
    const { unplaced, pricePerHour } = planOf({ pods, pools, nodes: [], daemons: [] });
    expect(unplaced).toEqual([]);
    expect(pricePerHour).toBeCloseTo(SPOT * (3 * 0.25 + 2 * 0.07), 9);
  });

  it('leave a node as it is though a pod that must stand beside others finds no new one', () => {
    const company = (matchLabels: Record<string, string>): object => ({
      topologyKey: Labels.hostname,
      labelSelector: { matchLabels },
    });
    const podAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [company({ app: 'c' })] };
    const pods = [
      ...[0, 1, 2].map((at) => testPod(`w0-${at}`, '150m', '128Mi', { priority: 10 }, { labels: { app: 'c' } })),
      ...[0, 1].map((at) =>
        testPod(`w1-${at}`, '1500m', '6Gi', { affinity: { podAffinity } }, { labels: { app: 'c' } }),
      ),
    ];
    const pools = [{ pool: testPool('one'), instanceTypes: TYPES, used: {} }];
    const { unplaced, pricePerHour } = planOf({ pods, pools, nodes: [], daemons: [] });
    expect(unplaced).toEqual([]);
    expect(pricePerHour).toBeCloseTo(SPOT * (0.07 + 0.07), 9);
  });
});

describe('plans for pods that count others by capacity type', () => {
  it('decide everything about a node at once, as first-fit does', () => {
    const devices = parseResources({ [DEVICE]: 2 });
    const plain = testType('f4', 4, 8, 0.3);
    const f4 = {
      ...plain,
      capacity: { ...plain.capacity, ...devices },
      allocatable: { ...plain.allocatable, ...devices },
    };
    const spread = {
      maxSkew: 1,
      topologyKey: Labels.capacityType,
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'c' } },
      nodeAffinityPolicy: 'Ignore',
      nodeTaintsPolicy: 'Honor',
    };
    const matchExpressions = [
      { key: Labels.zone, operator: 'NotIn', values: ['z1'] },
      { key: RACK, operator: 'In', values: ['r1'] },
    ];
    const nodeAffinity = {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] },
    };
    const company = { topologyKey: Labels.zone, labelSelector: { matchLabels: { app: 'b' } } };
    const podAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [company] };
    const requests = { cpu: '350m', memory: '248Mi', [DEVICE]: '1' };
    const counting = {
      containers: [{ name: 'main', resources: { requests } }],
      topologySpreadConstraints: [spread],
      affinity: { nodeAffinity },
    };
    const pods = [
      ...mixed('w0', 6, ['350m', '248Mi'], counting, { app: 'a' }, -5),
      testPod('w1-0', '1500m', '6Gi', { priority: 10 }, { labels: { app: 'b' } }),
      testPod('w2-0', '500m', '2Gi', { priority: 0 }, { labels: { app: 'c' } }),
      ...mixed(
        'w3',
        3,
        ['3', '12Gi'],
        { nodeSelector: { [Labels.zone]: 'z1' }, affinity: { podAffinity } },
        { app: 'c' },
      ),
    ];
    const pool = testPool('one', { requirements: [{ key: RACK, operator: 'In', values: ['r1', 'r2'] }] });
    const pools = [{ pool, instanceTypes: [...TYPES, f4], used: {} }];
    const { unplaced, pricePerHour } = planOf({ pods, pools, nodes: [], daemons: [] });
    expect(unplaced).toEqual([]);
    expect(pricePerHour).toBeLessThanOrEqual(SPOT * (2 * 0.07 + 3 * 0.3 + 3 * 0.25) + 1e-9);
  });
});

describe('a first-fit plan that others are compared with', () => {
  const pods = Array.from({ length: 5 }, (_, at) => testPod(`w-${at}`, '1500m', '6Gi'));
  const heavy = (cpu: string): Problem['pools'][number] => ({
    pool: testPool(
      'heavy',
      { requirements: [{ key: Labels.arch, operator: 'In', values: ['amd64'] }] },
      { weight: 10, limits: { cpu } },
    ),
    instanceTypes: TYPES,
    used: {},
  });
  const light = (cpu: string): Problem['pools'][number] => ({
    pool: testPool('light', {}, { limits: { cpu } }),
    instanceTypes: TYPES,
    used: {},
  });
  const pricesWithin = (first: string, second: string): number[] =>
    firstFitPlans({ pods, pools: [heavy(first), light(second)], nodes: [], daemons: [] }).map(({ price }) => price);

  it('is none that buys sizes beyond need, and so drives a pod out of the pool of more weight', () => {
    // Two d8 use up the limit; as two c4, which hold the same pods, they leave room for the last one.
    expect(pricesWithin('18', '3')).not.toContainEqual(expect.closeTo(SPOT * (0.25 + 0.25 + 0.07), 9));
  });

  it('may use the other pool once the pool of more weight is used up', () => {
    expect(pricesWithin('8', '6')).toContainEqual(expect.closeTo(SPOT * (2 * 0.21 + 3 * 0.07), 9));
  });
});
