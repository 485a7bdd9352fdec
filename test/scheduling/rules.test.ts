import { describe, expect, it } from 'vitest';
import type { Pod } from '../../src/api/kinds.ts';
import { Labels } from '../../src/api/labels.ts';
import { solve } from '../../src/solver/solve.ts';
import type { ExistingNode, Problem, Solution } from '../../src/solver/problem.ts';
import { parseResources } from '../../src/units/resources.ts';
import { complaints } from '../fixtures/solver/checker.ts';
import { throughCluster } from '../fixtures/solver/launchedPlan.ts';
import { testPod, testPool, testType } from '../fixtures/solver/randomCluster.ts';

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
