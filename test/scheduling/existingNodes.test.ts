/** Small clusters, derived from random ones, in which it matters which of several existing nodes takes a pod. */
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
const INSTANCE_TYPES = [testType('a2', 2, 4, 0.1), testType('c4', 4, 16, 0.25)];

const node = (name: string, cpu: number, labels: Record<string, string> = {}): ExistingNode => ({
  name,
  labels: { [Labels.hostname]: name, [Labels.zone]: 'z1', [Labels.capacityType]: 'on-demand', ...labels },
  taints: [],
  free: parseResources({ cpu, memory: '16Gi', pods: 6 }),
  pods: [],
  initialized: true,
});

const required = (kind: 'podAffinity' | 'podAntiAffinity', topologyKey: string, app: string): object => ({
  [kind]: {
    requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, labelSelector: { matchLabels: { app } } }],
  },
});

const pods = (app: string, count: number, cpu: string, memory: string, spec: object): Pod[] =>
  Array.from({ length: count }, (_, at) => testPod(`${app}-${at}`, cpu, memory, spec, { labels: { app } }));

function planOf(problem: Omit<Problem, 'pools' | 'daemons'>): Solution {
  const whole = {
    ...problem,
    pools: [{ pool: testPool('one'), instanceTypes: INSTANCE_TYPES, used: {} }],
    daemons: [],
  };
  const solution = solve(throughCluster(whole), { preferencePolicy: 'Ignore' });
  expect(complaints(whole, solution)).toEqual([]);
  return solution;
}

describe('pods on existing nodes', () => {
  it('leave the only node that holds all of those that must keep away from them', () => {
    const spread = {
      maxSkew: 1,
      topologyKey: Labels.capacityType,
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'many' } },
    };
    const { plannedNodes, unplaced } = planOf({
      nodes: [node('a-large', 5), node('b-small', 2, { [RACK]: 'r1' })],
      pods: [
        ...pods('few', 3, '100m', '128Mi', { priority: 0, topologySpreadConstraints: [spread] }),
        ...pods('many', 5, '1', '1Gi', {
          priority: -1,
          affinity: {
            podAntiAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: [
                { topologyKey: RACK, labelSelector: { matchLabels: { app: 'many' } } },
                { topologyKey: Labels.hostname, labelSelector: { matchLabels: { app: 'few' } } },
              ],
            },
          },
        }),
      ],
    });
    expect(unplaced).toEqual([]);
    expect(plannedNodes).toEqual([]);
  });

  it('go where there is room for those that must stand beside them', () => {
    const { unplaced } = planOf({
      nodes: [node('a-small', 2), node('b-large', 6)],
      pods: [
        ...pods('follower', 2, '1500m', '1Gi', { affinity: required('podAffinity', Labels.hostname, 'leader') }),
        ...pods('leader', 4, '500m', '1Gi', {}),
        ...pods('large', 3, '3', '12Gi', { priority: -1 }),
      ],
    });
    expect(unplaced).toEqual([]);
  });
});

describe('pods with disks in one zone', () => {
  it('wait for no node in a zone that their disks keep them from', () => {
    const waiting = pods('db', 5, '500m', '2Gi', {
      topologySpreadConstraints: [
        {
          maxSkew: 2,
          topologyKey: Labels.zone,
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: { app: 'db' } },
        },
      ],
    });
    const disk = Requirements.of(Requirement.of(Labels.zone, 'In', ['z3']));
    const volumes = new Map(
      waiting.map(({ metadata }) => [`default/${metadata.name}`, { alternatives: [disk], attachments: [] }]),
    );
    expect(planOf({ nodes: [], pods: waiting, volumes }).unplaced).toEqual([]);
  });
});
