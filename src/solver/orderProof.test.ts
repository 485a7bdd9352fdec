import { describe, expect, it } from 'vitest';
import { complaints } from '../../test/fixtures/solver/checker.ts';
import { testPod, testPool, testType, withRegional } from '../../test/fixtures/solver/testObjects.ts';
import { Labels } from '../api/labels.ts';
import { Requirement } from '../constraints/requirement.ts';
import { Requirements } from '../constraints/requirements.ts';
import { parseResources } from '../units/resources.ts';
import type { Problem, SolveOptions } from './problem.ts';
import { solve } from './solve.ts';

const metadata = { labels: { app: 'c' } };
const labelSelector = { matchLabels: metadata.labels };
const besides = (...keys: string[]) => ({
  podAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: keys.map((topologyKey) => ({ topologyKey, labelSelector })),
  },
});

describe('pods with affinity to their own kind', () => {
  const problem = (keys: string[]): Problem => ({
    pods: [
      ...[0, 20, 0].map((priority, index) =>
        testPod(`w0-${index}`, '100m', '128Mi', { priority, affinity: besides(...keys) }, metadata),
      ),
      testPod('w1-0', '500m', '2Gi', {}, metadata),
    ],
    pools: [{ pool: testPool('one'), instanceTypes: [testType('a2', 2, 8, 0.1)], used: {} }],
    nodes: [],
    daemons: [],
  });

  it.each([[[Labels.zone]], [[Labels.zone, Labels.capacityType]]])(
    'follow the first of them, over %j, even if other pods that their affinity selects run elsewhere',
    (keys) => {
      const options: SolveOptions = { maxPodsSharePerNode: 0.5 };
      const solution = solve(problem(keys), options);
      expect(complaints(problem(keys), solution)).toEqual([]);
      const homes = solution.plannedNodes.filter(({ pods }) => pods.some((pod) => pod.startsWith('default/w0')));
      expect(homes.flatMap(({ pods }) => pods)).toHaveLength(4);
      expect(
        new Set(homes.map(({ requirements }) => JSON.stringify(requirements.filter(({ key }) => key === Labels.zone)))),
      ).toHaveLength(1);
    },
  );

  it('stay on their node', () => {
    const solution = solve(problem([Labels.hostname]));
    expect(complaints(problem([Labels.hostname]), solution)).toEqual([]);
    expect(solution.unplaced).toEqual([]);
  });
});

describe('pods of two workloads that count each other', () => {
  const spread = { maxSkew: 1, topologyKey: Labels.zone, whenUnsatisfiable: 'DoNotSchedule' } as const;
  const own = { ...spread, labelSelector, matchLabelKeys: ['version'] };
  const disk = (index: number) => ({ driver: 'disk.csi.azure.com', claim: `default/w0-${index}` });
  const type = withRegional(testType('c4', 4, 16, 0.25));
  const problem: Problem = {
    pods: [
      ...[1, 2, 3, 4].map((index) =>
        testPod(
          `w0-${index}`,
          '3',
          '12Gi',
          { priority: index % 2 === 1 ? 20 : 0, topologySpreadConstraints: [own] },
          { labels: { app: 'c', version: 'v2' } },
        ),
      ),
      ...[0, 1, 2, 3].map((index) =>
        testPod(`w1-${index}`, '1200m', '1152Mi', {}, { labels: { app: 'c', version: 'v1' } }),
      ),
    ],
    volumes: new Map(
      [1, 2, 3, 4].map((index) => [`default/w0-${index}`, { alternatives: [], attachments: [disk(index)] }]),
    ),
    pools: [{ pool: testPool('one', {}, { limits: { cpu: '18' } }), instanceTypes: [type], used: {} }],
    nodes: [
      {
        name: 'node-0',
        labels: { [Labels.zone]: 'z2', [Labels.hostname]: 'node-0' },
        taints: [{ key: 'soft', effect: 'PreferNoSchedule' }],
        initialized: true,
        free: parseResources({ cpu: '6', memory: '16Gi', pods: 6 }),
        pods: [testPod('w1000-0', '1500m', '6Gi', {}, { labels: { app: 'c', version: 'v2' } })],
      },
    ],
    daemons: [],
    defaultSpread: { constraints: [spread], selectorOf: () => labelSelector },
  };

  it('are planned so that they can be bound one workload after the other', () => {
    const solution = solve(problem, { searchRounds: 200, preferencePolicy: 'Ignore' });
    expect(complaints(problem, solution)).toEqual([]);
    // The limit has room for four nodes.
    expect(solution.unplaced.length).toBeLessThanOrEqual(1);
  });
});

describe('pods that are counted', () => {
  const reservedType = (() => {
    const type = testType('d8', 8, 32, 0.4, ['z1']);
    const requirements = Requirements.of(
      Requirement.of(Labels.zone, 'In', ['z1']),
      Requirement.of(Labels.capacityType, 'In', ['reserved']),
    );
    return {
      ...type,
      requirements: type.requirements.replace(
        Requirement.of(Labels.capacityType, 'In', ['on-demand', 'reserved', 'spot']),
      ),
      offerings: [
        ...type.offerings,
        {
          requirements,
          zone: 'z1',
          capacityType: 'reserved' as const,
          price: 0,
          available: true,
          reservationCapacity: 1,
        },
      ],
    };
  })();
  const RACK = 'example.com/rack';
  const apart = (topologyKey: string, app: string) => ({ topologyKey, labelSelector: { matchLabels: { app } } });
  const spread = { maxSkew: 1, topologyKey: RACK, whenUnsatisfiable: 'DoNotSchedule', labelSelector };
  const problem = (spec: object, ...others: ReturnType<typeof apart>[]): Problem => ({
    pods: [0, 1, 2, 3, 4, 5].map((index) => {
      const terms = [apart(Labels.hostname, 'c'), ...others];
      const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
      return testPod(`w0-${index}`, '100m', '128Mi', { affinity, ...spec }, metadata);
    }),
    pools: [
      {
        pool: testPool('one', { requirements: [{ key: RACK, operator: 'In', values: ['r1', 'r2'] }] }),
        instanceTypes: [reservedType],
        used: {},
      },
    ],
    nodes: [],
    daemons: [],
  });

  it('are not counted where a used-up reservation was planned', () => {
    const asked = problem({ topologySpreadConstraints: [spread] }, apart(Labels.capacityType, 'a'));
    const solution = solve(asked);
    expect(complaints(asked, solution)).toEqual([]);
    expect(solution.unplaced).toEqual([]);
  });

  it('wait for a reservation by name when they have no alternative', () => {
    const asked = problem({ nodeSelector: { [Labels.capacityType]: 'reserved' } });
    const solution = solve(asked);
    expect(complaints(asked, solution)).toEqual([]);
    expect(solution.plannedNodes).toHaveLength(1);
    expect(new Set(solution.unplaced.map(({ reason }) => reason.kind))).toEqual(new Set(['reservation']));
  });
});
