/**
 * Small clusters derived from random ones: each has a plan that an ordinary search misses, or wrongly takes for valid.
 */
import { describe, expect, it } from 'vitest';
import type { Pod } from '../../src/api/kinds.ts';
import { Labels } from '../../src/api/labels.ts';
import { solve } from '../../src/solver/solve.ts';
import type { ExistingNode, Problem, Solution } from '../../src/solver/problem.ts';
import { parseResources } from '../../src/units/resources.ts';
import { complaints } from '../fixtures/solver/checker.ts';
import { throughCluster } from '../fixtures/solver/launchedPlan.ts';
import { testPod, testPool, testType, withRegional, ZONES } from '../fixtures/solver/testObjects.ts';

const RACK = 'example.com/rack';
const spread = (topologyKey: string, app: string, more: object = {}): object => ({
  maxSkew: 1,
  topologyKey,
  whenUnsatisfiable: 'DoNotSchedule',
  labelSelector: { matchLabels: { app } },
  ...more,
});
const term = (topologyKey: string, app: string): object => ({ topologyKey, labelSelector: { matchLabels: { app } } });
const beside = (kind: 'podAffinity' | 'podAntiAffinity', topologyKey: string, app: string): object => ({
  [kind]: { requiredDuringSchedulingIgnoredDuringExecution: [term(topologyKey, app)] },
});

function planOf(problem: Problem): Solution {
  const solution = solve(throughCluster(problem), { preferencePolicy: 'Ignore' });
  expect(complaints(problem, solution)).toEqual([]);
  return solution;
}

describe('pods that spread over two keys', () => {
  it('are planned in an order in which the scheduler can bind them', () => {
    // The running pod makes the second rack fuller than the first, and its zone fuller than the three others.
    const running = testPod('running', '1', '1Gi', {}, { labels: { app: 'c' } });
    const nodes: ExistingNode[] = [
      {
        name: 'full',
        labels: { [Labels.hostname]: 'full', [Labels.zone]: 'z4', [RACK]: 'r2' },
        taints: [],
        free: parseResources({ cpu: 0, memory: '1Gi', pods: 1 }),
        pods: [running],
        initialized: true,
      },
    ];
    const rules = { topologySpreadConstraints: [spread(RACK, 'c'), spread(Labels.zone, 'c')] };
    const pods = Array.from({ length: 6 }, (_, at) =>
      testPod(`c-${at}`, '1500m', '6Gi', rules, { labels: { app: 'c' } }),
    );
    const pool = testPool('one', { requirements: [{ key: RACK, operator: 'In', values: ['r1', 'r2'] }] });
    const pools = [{ pool, instanceTypes: [testType('a2', 2, 8, 0.07)], used: {} }];
    expect(planOf({ pods, pools, nodes, daemons: [] }).unplaced).toEqual([]);
  });
});

describe('a label whose value claims draw', () => {
  const antiAffine = (name: string, to = 'a'): Pod => {
    const exists = { key: RACK, operator: 'Exists' };
    const nodeAffinity = {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [exists] }] },
    };
    const affinity = { ...beside('podAntiAffinity', RACK, to), nodeAffinity };
    return testPod(name, '1', '1Gi', { affinity }, { labels: { app: 'a' } });
  };
  const pools = (key: string): Problem['pools'] => [
    {
      pool: testPool('one', { requirements: [{ key, operator: 'NotIn', values: ['r2'] }] }),
      instanceTypes: [testType('a2', 2, 8, 0.07)],
      used: {},
    },
  ];

  it('may be the same on two nodes, and keeps pods with anti-affinity from both', () => {
    const { plannedNodes, unplaced } = planOf({
      pods: ['p-0', 'p-1'].map((name) => antiAffine(name)),
      pools: pools(RACK),
      nodes: [],
      daemons: [],
    });
    expect(plannedNodes).toHaveLength(1);
    expect(unplaced).toHaveLength(1);
  });

  it('may be a number that a node has already', () => {
    const node = (rack: string): ExistingNode => ({
      name: 'there',
      labels: { [Labels.hostname]: 'there', [RACK]: rack },
      taints: [],
      free: parseResources({ cpu: 0, memory: '1Gi', pods: 1 }),
      pods: [antiAffine('running')],
      initialized: true,
    });
    const plan = (rack: string): Solution =>
      planOf({ pods: [antiAffine('p')], pools: pools(RACK), nodes: [node(rack)], daemons: [] });
    expect(plan('0').plannedNodes).toEqual([]);
    expect(plan('north').plannedNodes).toHaveLength(1);
  });

  it('does not come to a node that has pods which others must not share it with', () => {
    // Without a rack the first pod is in no other's way; the second brings one to the node that both have room on.
    const first = testPod('c-0', '500m', '1Gi', {}, { labels: { app: 'c' } });
    const { plannedNodes, unplaced } = planOf({
      pods: [first, antiAffine('p-0', 'c')],
      pools: pools(RACK),
      nodes: [],
      daemons: [],
    });
    expect(unplaced).toEqual([]);
    expect(plannedNodes.map(({ pods }) => pods.join()).toSorted()).toEqual(['default/c-0', 'default/p-0']);
  });
});

describe('a pod with alternatives that joins others', () => {
  it('leaves the node as open as it was', () => {
    // All must stand together. The first alternative suits the cheapest type, which has no room for all of them.
    const alternatives = [
      { matchExpressions: [{ key: Labels.arch, operator: 'In', values: ['arm64'] }] },
      { matchExpressions: [{ key: RACK, operator: 'Exists' }] },
    ];
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: alternatives } };
    const affinity = { ...beside('podAffinity', Labels.hostname, 'a'), nodeAffinity };
    const pods = Array.from({ length: 6 }, (_, at) =>
      testPod(`a-${at}`, '500m', '1Gi', { affinity }, { labels: { app: 'a' } }),
    );
    const instanceTypes = [testType('a2', 2, 8, 0.07, ZONES, 'arm64'), testType('b4', 4, 8, 0.21)];
    const pool = testPool('one', { requirements: [{ key: RACK, operator: 'In', values: ['r1'] }] });
    const { unplaced } = planOf({ pods, pools: [{ pool, instanceTypes, used: {} }], nodes: [], daemons: [] });
    expect(unplaced).toEqual([]);
  });
});

describe('a pod that others must stand beside', () => {
  it('goes to a pool that those others may go to', () => {
    // Nodes of the tainted pool are cheaper, but only the first pod tolerates the taint.
    const taint = { key: 'team', value: 'x', effect: 'NoSchedule' as const };
    const types = [testType('a4', 4, 16, 0.2)];
    const pools = [
      { pool: testPool('tainted', { taints: [taint] }), instanceTypes: [testType('a4', 4, 16, 0.1)], used: {} },
      { pool: testPool('plain'), instanceTypes: types, used: {} },
    ];
    const tolerations = [{ key: 'team', operator: 'Exists' }];
    const pods = [
      testPod('leader-0', '1', '1Gi', { tolerations, priority: 0 }, { labels: { app: 'b' } }),
      testPod('follower-0', '1', '1Gi', {
        priority: 10,
        affinity: beside('podAffinity', Labels.hostname, 'b'),
      }),
    ];
    const { plannedNodes, unplaced } = planOf({ pods, pools, nodes: [], daemons: [] });
    expect(unplaced).toEqual([]);
    expect(plannedNodes.map(({ pool }) => pool)).toEqual(['plain']);
  });
});

describe('pods that must stand beside others and do not all fit on one cheap node', () => {
  it('follow another pod to a second node', () => {
    // Only where the other pod cannot join the first node, in the cheapest zone, it opens another.
    const company = {
      topologyKey: Labels.hostname,
      labelSelector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] },
    };
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [company] } };
    const elsewhere = [{ matchExpressions: [{ key: Labels.zone, operator: 'NotIn', values: ['z1'] }] }];
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: elsewhere } };
    const pods = [
      ...[0, 1, 2, 3].map((at) => testPod(`b-${at}`, '500m', '2Gi', { affinity }, { labels: { app: 'b' } })),
      testPod('c-0', '100m', '128Mi', { affinity: { nodeAffinity } }, { labels: { app: 'c' } }),
    ];
    const instanceTypes = [testType('a2', 2, 8, 0.07), testType('c4', 4, 16, 0.25)];
    const { plannedNodes, unplaced } = planOf({
      pods,
      pools: [{ pool: testPool('one'), instanceTypes, used: {} }],
      nodes: [],
      daemons: [],
    });
    expect(unplaced).toEqual([]);
    expect(plannedNodes.map(({ alternatives }) => alternatives[0]?.instanceType)).toEqual(['a2', 'a2']);
  });
});

describe('pods that wait because of a limit', () => {
  it('may make a node larger that others keep small', () => {
    // A small node for each of the large pods is cheapest, and leaves room for one small pod within the limit.
    const pool = testPool('one', {}, { limits: { cpu: '7', nodes: '3' } });
    const instanceTypes = [
      testType('a2', 2, 8, 0.07, ZONES, 'arm64'),
      testType('b4', 4, 8, 0.21, ['z1', 'z2']),
      testType('c4', 4, 16, 0.25),
      testType('d8', 8, 16, 0.38),
    ];
    const rules = { topologySpreadConstraints: [spread(Labels.hostname, 'a', { maxSkew: 2 })] };
    const large = (name: string, priority: number): Pod =>
      testPod(name, '1500m', '6Gi', { ...rules, priority }, { labels: { app: 'a' } });
    const small = (name: string): Pod => testPod(name, '1', '1Gi', { priority: 0 }, { labels: { app: 'a' } });
    const pods = [large('w1-0', 10), large('w1-1', 20), ...['w0-0', 'w0-1', 'w0-2'].map(small)];
    const { unplaced } = planOf({ pods, pools: [{ pool, instanceTypes, used: {} }], nodes: [], daemons: [] });
    expect(unplaced.map(({ pod }) => pod)).toEqual(['default/w0-2']);
  });
});

describe('pods that spread over hostnames', () => {
  it('share nodes with pods that they count, where every other node has as many', () => {
    const rules = { topologySpreadConstraints: [spread(Labels.hostname, 'b')] };
    const pod = (name: string, cpu: string, memory: string, priority: number, more: object = {}): Pod =>
      testPod(name, cpu, memory, { priority, ...more }, { labels: { app: name.startsWith('alone') ? 'a' : 'b' } });
    const pods = [
      pod('large-0', '2', '6Gi', 0, rules),
      pod('large-1', '2', '6Gi', 0, rules),
      ...[0, 20, 0, 20].map((priority, at) => pod(`small-${at}`, '500m', '2Gi', priority)),
      ...[0, 1, 2, 3].map((at) => pod(`tiny-${at}`, '100m', '128Mi', 10)),
      pod('alone-0', '1200m', '1152Mi', -1),
    ];
    const instanceTypes = [
      testType('a2', 2, 4, 0.1),
      testType('b4', 4, 8, 0.21, ['z1', 'z2']),
      testType('c4', 4, 16, 0.25),
      testType('d8', 8, 16, 0.38),
    ];
    const pools = [{ pool: testPool('one'), instanceTypes, used: {} }];
    const { unplaced, pricePerHour } = planOf({ pods, pools, nodes: [], daemons: [] });
    expect(unplaced).toEqual([]);
    // Two c4; first-fit buys two b4 and two a2.
    expect(pricePerHour).toBeCloseTo(0.4 * (0.25 + 0.25), 9);
  });
});

describe('nodes without a zone', () => {
  it('are left to pods that do not spread over zones where that costs less', () => {
    // Dear in the second zone: where the antisocial take the three zones, all others can have the cheap nodes without one.
    const small = withRegional(testType('a2', 2, 8, 0.07));
    const dearer = (offering: (typeof small.offerings)[number]): typeof offering =>
      offering.zone === 'z2' ? { ...offering, price: offering.price * 3 } : offering;
    const instanceTypes = [{ ...small, offerings: small.offerings.map(dearer) }];
    const nodes: ExistingNode[] = [
      {
        name: 'roomy',
        labels: { [Labels.hostname]: 'roomy', [Labels.zone]: 'z3' },
        taints: [],
        free: parseResources({ cpu: 4, memory: '16Gi', pods: 6 }),
        pods: [],
        initialized: true,
      },
    ];
    // Never in one zone with another of the app; their spread counts only other pods.
    const antisocial = {
      topologySpreadConstraints: [spread(Labels.zone, 'a')],
      affinity: beside('podAntiAffinity', Labels.zone, 'c'),
    };
    const pod = (name: string, cpu: string, more: object): Pod =>
      testPod(name, cpu, cpu === '500m' ? '2Gi' : '6Gi', more, { labels: { app: 'c' } });
    const pods = [0, 1, 2].flatMap((at) => [
      pod(`antisocial-${at}`, '500m', { ...antisocial, priority: 10 }),
      pod(`other-${at}`, '1500m', { priority: 0 }),
    ]);
    const pools = [{ pool: testPool('one'), instanceTypes, used: {} }];
    const { plannedNodes, unplaced } = planOf({ pods, pools, nodes, daemons: [] });
    expect(unplaced).toEqual([]);
    expect(plannedNodes.flatMap(({ alternatives }) => alternatives[0]?.zone ?? []).sort()).toEqual([
      '0',
      '0',
      '0',
      'z1',
      'z2',
    ]);
  });
});
