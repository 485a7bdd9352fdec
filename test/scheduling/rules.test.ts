import { describe, expect, it } from 'vitest';
import type { Pod } from '../../src/api/kinds.ts';
import { Labels } from '../../src/api/labels.ts';
import { Requirement } from '../../src/constraints/requirement.ts';
import { Requirements } from '../../src/constraints/requirements.ts';
import { solve } from '../../src/solver/solve.ts';
import type { ExistingNode, Problem, Solution } from '../../src/solver/problem.ts';
import { parseResources } from '../../src/units/resources.ts';
import { complaints } from '../fixtures/solver/checker.ts';
import { throughCluster } from '../fixtures/solver/launchedPlan.ts';
import { testPod, testPool, testType } from '../fixtures/solver/testObjects.ts';

const RACK = 'example.com/rack';
const labelled = (name: string, app: string, spec: object = {}): Pod =>
  testPod(name, '500m', '1Gi', spec, { labels: { app } });
const spread = (topologyKey: string, app: string, more: object = {}): object => ({
  maxSkew: 1,
  topologyKey,
  whenUnsatisfiable: 'DoNotSchedule',
  labelSelector: { matchLabels: { app } },
  ...more,
});
const node = (name: string, labels: Record<string, string>, cpu: number, pods: Pod[] = []): ExistingNode => ({
  name,
  labels: { [Labels.hostname]: name, ...labels },
  taints: [],
  free: parseResources({ cpu, memory: '16Gi', pods: 8 }),
  pods,
  initialized: true,
});

function problemOf(pods: readonly Pod[], more: Partial<Problem> = {}): Problem {
  const pools = [{ pool: testPool('one'), instanceTypes: [testType('a4', 4, 16, 0.2)], used: {} }];
  return { pods, pools, nodes: [], daemons: [], ...more };
}

function planOf(problem: Problem): Solution {
  const solution = solve(throughCluster(problem), { preferencePolicy: 'Ignore' });
  expect(complaints(problem, solution)).toEqual([]);
  return solution;
}

describe('spread', () => {
  it('counts only nodes that have the keys of all hard spreads', () => {
    // The pod that runs on a node without a rack does not count: z1 is as empty as the others.
    const nodes = [
      node('plain', { [Labels.zone]: 'z1' }, 0, [labelled('running', 'a')]),
      node('racked', { [Labels.zone]: 'z1', [RACK]: 'r1' }, 2),
    ];
    const rules = { topologySpreadConstraints: [spread(Labels.zone, 'a'), spread(RACK, 'b')] };
    const { onExisting } = planOf(problemOf([labelled('p', 'a', rules)], { nodes }));
    expect(onExisting).toEqual([{ node: 'racked', pods: ['default/p'] }]);
  });

  it('as a wish over hostnames limits no other pod on the node', () => {
    const wish = { topologySpreadConstraints: [spread(Labels.hostname, 'a', { whenUnsatisfiable: 'ScheduleAnyway' })] };
    const pods = [labelled('w-0', 'a', wish), labelled('x-0', 'a'), labelled('x-1', 'a')];
    expect(solve(throughCluster(problemOf(pods))).plannedNodes).toHaveLength(1);
  });

  it('finds values for two keys that are only sold together', () => {
    // Spot is cheaper, but not sold in z2, which the spread needs.
    const nodes = ['z1', 'z3'].map((zone) => node(zone, { [Labels.zone]: zone }, 0, [labelled(`in-${zone}`, 'a')]));
    const apart = {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: Labels.capacityType, labelSelector: { matchLabels: { app: 'other' } } },
        ],
      },
    };
    const rules = { topologySpreadConstraints: [spread(Labels.zone, 'a')], affinity: apart };
    const { plannedNodes, unplaced } = planOf(problemOf([labelled('p', 'a', rules)], { nodes }));
    expect(unplaced).toEqual([]);
    expect(plannedNodes[0]?.alternatives[0]).toMatchObject({ zone: 'z2', capacityType: 'on-demand' });
  });
});

describe('the choice of a domain', () => {
  it('is the cheapest that the rules allow', () => {
    // A capacity type is a domain as well: a skew of two lets both pods have the cheaper one.
    const rules = { topologySpreadConstraints: [spread(Labels.capacityType, 'a', { maxSkew: 2 })] };
    const { plannedNodes } = planOf(problemOf([labelled('p-0', 'a', rules), labelled('p-1', 'a', rules)]));
    expect(plannedNodes.map(({ alternatives }) => alternatives[0]?.capacityType)).toEqual(['spot']);
  });

  it('does not level pods without rules that others count', () => {
    // Spot is not sold in z2: levelled over zones, a third of the pods would pay for on-demand nodes there.
    const rules = { topologySpreadConstraints: [spread(Labels.zone, 'free', { maxSkew: 500 })] };
    const free = Array.from({ length: 420 }, (_, at) => labelled(`free-${at}`, 'free'));
    const { plannedNodes } = solve(throughCluster(problemOf([labelled('p', 'a', rules), ...free])));
    expect(new Set(plannedNodes.map(({ alternatives }) => alternatives[0]?.capacityType))).toEqual(new Set(['spot']));
  });

  it('takes the cheapest alternative of a required node affinity', () => {
    const expression = (value: string): object => ({
      matchExpressions: [{ key: Labels.capacityType, operator: 'In', values: [value] }],
    });
    const required = { nodeSelectorTerms: [expression('on-demand'), expression('spot')] };
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
    const { plannedNodes } = planOf(problemOf([labelled('p', 'a', { affinity })]));
    expect(plannedNodes[0]?.alternatives[0]?.capacityType).toBe('spot');
  });
});

describe('pods that would wait', () => {
  it('are tried again in front of pods that took their place', () => {
    // Only the node has the disk label; the larger pod could also go to a new node.
    const nodes = [node('ssd', { [Labels.zone]: 'z1', disk: 'ssd' }, 1)];
    const pods = [testPod('large', '1', '1Gi'), testPod('small', '500m', '1Gi', { nodeSelector: { disk: 'ssd' } })];
    const { unplaced, onExisting } = planOf(problemOf(pods, { nodes }));
    expect(unplaced).toEqual([]);
    expect(onExisting).toEqual([{ node: 'ssd', pods: ['default/small'] }]);
  });
});

describe('priorities', () => {
  it('decide the order in which a spread must hold', () => {
    // If the first pod came last, all could have spot. But the scheduler takes it first.
    const nodes = [node('n', { [Labels.zone]: 'z1', [Labels.capacityType]: 'on-demand' }, 1)];
    const rules = { priority: 10, topologySpreadConstraints: [spread(Labels.capacityType, 'b')] };
    const large = [0, 1, 2].map((at) => testPod(`large-${at}`, '3', '1Gi', rules, { labels: { app: 'b' } }));
    const small = [0, 1].map((at) => labelled(`small-${at}`, 'b', { priority: -10 }));
    const onSpot = { priority: 20, nodeSelector: { [Labels.capacityType]: 'spot' } };
    const first = testPod('first', '3', '1Gi', onSpot, { labels: { app: 'b' } });
    const { plannedNodes, unplaced } = planOf(problemOf([first, ...large, ...small], { nodes }));
    expect(unplaced).toEqual([]);
    const bought = plannedNodes.flatMap(({ alternatives }) => alternatives[0]?.capacityType ?? []).sort();
    expect(bought).toEqual(['on-demand', 'spot', 'spot', 'spot']);
  });

  it('do not hold against zones that no node is in', () => {
    // The first pod makes z1 uneven only beside zones that stay empty: the scheduler does not see them.
    const nodes = [node('n', { [Labels.zone]: 'z1' }, 3, [labelled('running', 'b')])];
    const first = labelled('first', 'b', { priority: 10, nodeSelector: { [Labels.zone]: 'z1' } });
    const second = labelled('second', 'a', { topologySpreadConstraints: [spread(Labels.zone, 'b')] });
    const { onExisting, plannedNodes } = planOf(problemOf([first, second], { nodes }));
    expect(onExisting.map(({ pods }) => [...pods].sort())).toEqual([['default/first', 'default/second']]);
    expect(plannedNodes).toEqual([]);
  });

  it('do not hold against nodes that are never bought', () => {
    const first = [0, 1, 2].map((at) => testPod(`first-${at}`, '1', '1Gi', { priority: 10 }, { labels: { app: 'b' } }));
    const second = labelled('second', 'a', { topologySpreadConstraints: [spread(Labels.hostname, 'b')] });
    expect(planOf(problemOf([...first, second])).plannedNodes).toHaveLength(1);
  });

  it('leave it to the scheduler to try a refused pod before the next', () => {
    // With fewer than four racks the large pods would keep the small ones away; those come first and take turns.
    const rules = (priority: number): object => ({
      priority,
      nodeSelector: { [RACK]: 'r1' },
      topologySpreadConstraints: [spread(RACK, 'b', { minDomains: 4, maxSkew: 2 }), spread(Labels.zone, 'a')],
    });
    const small = [0, 20, 0].map((priority, at) => labelled(`small-${at}`, 'a', rules(priority)));
    const large = [0, 1, 2, 3, 4].map((at) => testPod(`large-${at}`, '3', '1Gi', {}, { labels: { app: 'b' } }));
    const pool = testPool('one', {}, {}, { [RACK]: 'r1' });
    const instanceTypes = [testType('a4', 4, 16, 0.2, ['z1', 'z2'])];
    const { unplaced } = planOf(problemOf([...small, ...large], { pools: [{ pool, instanceTypes, used: {} }] }));
    expect(unplaced).toEqual([]);
  });
});

describe('pods with affinity to their own kind', () => {
  it('also join other pods that they look for, where more of them find a place so', () => {
    // Two of them fill a node. The others fit only beside the small pods, which must be elsewhere.
    const beside = {
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: Labels.hostname, labelSelector: { matchLabels: { app: 'a' } } },
        ],
      },
    };
    const onDemand = { [Labels.capacityType]: 'on-demand' };
    const small = testPod('small', '100m', '1Gi', { nodeSelector: onDemand }, { labels: { app: 'a' } });
    const large = [0, 1, 2, 3].map((at) =>
      testPod(
        `large-${at}`,
        '1500m',
        '1Gi',
        {
          affinity: beside,
          nodeSelector: at < 2 ? { [Labels.capacityType]: 'spot' } : {},
          priority: at < 2 ? 10 : -10,
        },
        { labels: { app: 'a' } },
      ),
    );
    expect(planOf(problemOf([small, ...large])).unplaced).toEqual([]);
  });
});

describe('daemons that depend on a label which the pool leaves open', () => {
  const agent = testPod('agent', '1', '1Gi', { nodeSelector: { [RACK]: 'r1' } });
  const racks = { requirements: [{ key: RACK, operator: 'In' as const, values: ['r1', 'r2'] }] };
  const types = [testType('a2', 2, 8, 0.1), testType('a4', 4, 16, 0.3)];
  const poolOf = (limits: object = {}): Problem['pools'] => [
    { pool: testPool('one', racks, limits), instanceTypes: types, used: {} },
  ];

  it('take no room where they do not come', () => {
    const { plannedNodes } = planOf(problemOf([testPod('p', '1500m', '1Gi')], { pools: poolOf(), daemons: [agent] }));
    expect(plannedNodes[0]?.alternatives[0]?.instanceType).toBe('a2');
    expect(plannedNodes[0]?.requirements).toContainEqual({ key: RACK, operator: 'In', values: ['r2'] });
  });

  it('leave one limit for all values of the label', () => {
    const pods = ['r1', 'r2'].map((rack) => testPod(rack, '1500m', '1Gi', { nodeSelector: { [RACK]: rack } }));
    const pools = poolOf({ limits: { cpu: '4' } });
    expect(planOf(problemOf(pods, { pools, daemons: [agent] })).unplaced).toHaveLength(1);
  });
});

describe('a spread that only some nodes take part in', () => {
  it('is not blocked by pods on nodes whose zone could still be chosen', () => {
    // Nodes in z1 do not count for the last pod, so pods that may go anywhere are sent there.
    const selector = { [RACK]: 'r2' };
    const affinity = {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: Labels.zone, operator: 'NotIn', values: ['z1'] }] }],
        },
      },
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: Labels.capacityType, labelSelector: { matchLabels: { app: 'a' } } },
        ],
      },
    };
    const rules = { nodeSelector: selector, affinity, topologySpreadConstraints: [spread(RACK, 'a')] };
    const pool = testPool('one', { requirements: [{ key: RACK, operator: 'In', values: ['r1', 'r2'] }] });
    const pools = [{ pool, instanceTypes: [testType('a4', 4, 16, 0.2)], used: {} }];
    const others = [0, 1, 2].map((at) => labelled(`o-${at}`, 'a', { nodeSelector: selector }));
    const pods = [...others, testPod('p', '250m', '1Gi', rules, { labels: { app: 'b' } })];
    expect(planOf(problemOf(pods, { pools })).unplaced).toEqual([]);
  });
});

const zonesOf = ({ plannedNodes }: Solution): string[] =>
  plannedNodes.flatMap(({ alternatives }) => alternatives[0]?.zone ?? []).sort();

describe('first-fit in other orders', () => {
  it('takes the cheapest of the zones that a volume may be in', () => {
    // Spot is not sold in z2.
    const alternatives = ['z2', 'z3'].map((zone) => Requirements.of(Requirement.of(Labels.zone, 'In', [zone])));
    const volumes = new Map([['default/p', { alternatives, attachments: [] }]]);
    expect(zonesOf(planOf(problemOf([labelled('p', 'a')], { volumes })))).toEqual(['z3']);
  });

  it('takes the cheapest alternative of a node affinity that the spread leaves, pod by pod', () => {
    const term = (operator: string, ...values: string[]): object => ({
      matchExpressions: [{ key: Labels.zone, operator, values }],
    });
    const required = { nodeSelectorTerms: [term('In', 'z1', 'z2'), term('NotIn', 'z1')] };
    const rules = {
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
      topologySpreadConstraints: [spread(Labels.zone, 'a')],
    };
    const pods = [0, 1, 2, 3, 4].map((at) => testPod(`p-${at}`, '3', '1Gi', rules, { labels: { app: 'a' } }));
    expect(zonesOf(planOf(problemOf(pods)))).toEqual(['z1', 'z1', 'z2', 'z3', 'z3']);
  });

  it('opens a small node where a large one would become dear by small pods', () => {
    // Spot is not sold in z2, where the disks of the small pods are.
    const types = [testType('a2', 2, 8, 0.07), testType('c4', 4, 16, 0.25)];
    const pools = [{ pool: testPool('one'), instanceTypes: types, used: {} }];
    const large = [0, 1, 2, 3].map((at) => testPod(`large-${at}`, '3', '12Gi', { priority: at % 2 }));
    const small = [0, 1, 2, 3].map((at) => testPod(`small-${at}`, '100m', '128Mi'));
    const zonal = [Requirements.of(Requirement.of(Labels.zone, 'In', ['z2']))];
    const volumes = new Map(
      small.map(({ metadata }) => [`default/${metadata.name}`, { alternatives: zonal, attachments: [] }]),
    );
    const { pricePerHour } = planOf(problemOf([...large, ...small], { pools, volumes }));
    expect(pricePerHour).toBeCloseTo(4 * 0.1 + 0.0707);
  });

  it('lets pods without rules come after a pod that spreads over hostnames', () => {
    const nodeSelector = { disk: 'ssd' };
    const rules = { nodeSelector, topologySpreadConstraints: [spread(Labels.hostname, 'a')] };
    const pods = [
      labelled('w-0', 'a', rules),
      labelled('x-0', 'a', { nodeSelector }),
      labelled('x-1', 'a', { nodeSelector }),
    ];
    const nodes = [node('ssd', { [Labels.zone]: 'z1', disk: 'ssd' }, 4)];
    expect(planOf(problemOf(pods, { nodes })).unplaced).toEqual([]);
  });

  it('fills existing nodes by size where priorities would cost more', () => {
    const nodes = [node('n', { [Labels.zone]: 'z1' }, 3)];
    const types = [testType('a2', 2, 8, 0.1), testType('a4', 4, 16, 0.2)];
    const pools = [{ pool: testPool('one'), instanceTypes: types, used: {} }];
    const pods = [testPod('small', '1', '1Gi', { priority: 10 }), testPod('large', '3', '1Gi')];
    const { onExisting, plannedNodes } = planOf(problemOf(pods, { nodes, pools }));
    expect(onExisting).toEqual([{ node: 'n', pods: ['default/large'] }]);
    expect(plannedNodes[0]?.alternatives[0]?.instanceType).toBe('a2');
  });

  it('keeps pods away from running pods with anti-affinity in every order', () => {
    const away = [{ topologyKey: Labels.hostname, labelSelector: { matchLabels: { app: 'a' } } }];
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: away } };
    const nodes = [node('ssd', { disk: 'ssd' }, 4, [labelled('running', 'b', { affinity })])];
    const pods = [labelled('p', 'a', { nodeSelector: { disk: 'ssd' } })];
    expect(planOf(problemOf(pods, { nodes })).unplaced.map(({ pod }) => pod)).toEqual(['default/p']);
  });

  it('counts no reservation that is used up as a domain', () => {
    const type = testType('a4', 4, 16, 0.2);
    const labels = { [Labels.zone]: 'z1', [Labels.capacityType]: 'reserved' };
    const usedUp = {
      requirements: Requirements.fromLabels(labels),
      zone: 'z1',
      capacityType: 'reserved' as const,
      price: 0.001,
      available: true,
      reservationCapacity: 0,
    };
    const kinds = Requirement.of(Labels.capacityType, 'In', ['on-demand', 'spot', 'reserved']);
    const reserved = {
      ...type,
      requirements: type.requirements.replace(kinds),
      offerings: [...type.offerings, usedUp],
    };
    const pools = [{ pool: testPool('one'), instanceTypes: [reserved], used: {} }];
    const rules = { topologySpreadConstraints: [spread(Labels.capacityType, 'a')] };
    const pods = [0, 1, 2].map((at) => labelled(`p-${at}`, 'a', rules));
    expect(planOf(problemOf(pods, { pools })).unplaced).toEqual([]);
  });
});

describe('pools', () => {
  const offers = (weight?: number): Problem['pools'] =>
    [testPool('dear', {}, weight === undefined ? {} : { weight }), testPool('cheap')].map((pool, at) => ({
      pool,
      instanceTypes: [testType(`t${at}`, 4, 16, at === 0 ? 0.4 : 0.2)],
      used: {},
    }));

  it('of one weight are chosen by price', () => {
    const { plannedNodes } = planOf(problemOf([labelled('p', 'a')], { pools: offers() }));
    expect(plannedNodes.map(({ pool }) => pool)).toEqual(['cheap']);
  });

  it('of higher weight come first at any price', () => {
    const { plannedNodes } = planOf(problemOf([labelled('p', 'a')], { pools: offers(10) }));
    expect(plannedNodes.map(({ pool }) => pool)).toEqual(['dear']);
  });
});
