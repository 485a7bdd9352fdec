import { describe, expect, it } from 'vitest';
import { complaints } from '../../test/fixtures/solver/checker.ts';
import { testPod, testPool, testType, withRegional } from '../../test/fixtures/solver/testObjects.ts';
import type { Pod } from '../api/kinds.ts';
import { Labels } from '../api/labels.ts';
import { parseResources } from '../units/resources.ts';
import type { ExistingNode, Problem } from './problem.ts';
import { solve } from './solve.ts';

const labelSelector = { matchLabels: { app: 'shop' } };
const spreading = (count: number): Pod[] =>
  Array.from({ length: count }, (_, index) =>
    testPod(
      `shop-${index}`,
      '1500m',
      '1Gi',
      {
        topologySpreadConstraints: [
          { maxSkew: 1, topologyKey: Labels.zone, whenUnsatisfiable: 'DoNotSchedule', labelSelector },
        ],
      },
      { labels: { app: 'shop' } },
    ),
  );
const regionalNode: ExistingNode = {
  name: 'regional',
  labels: { [Labels.zone]: '0', [Labels.hostname]: 'regional' },
  taints: [],
  free: parseResources({ cpu: '100m', memory: '1Gi', pods: 5 }),
  pods: [],
  initialized: true,
};
const problemOf = (pods: readonly Pod[], more: Partial<Problem> = {}): Problem => ({
  pods,
  pools: [{ pool: testPool('default'), instanceTypes: [withRegional(testType('a2', 2, 4, 0.1))], used: {} }],
  nodes: [],
  daemons: [],
  ...more,
});
const zonesOf = (problem: Problem): string[] => {
  const solution = solve(problem);
  expect(solution.unplaced).toEqual([]);
  expect(complaints(problem, solution)).toEqual([]);
  return solution.plannedNodes.map(({ alternatives }) => alternatives[0]!.zone).sort();
};

describe('nodes without a zone', () => {
  it('do not count as another zone to spread over', () => {
    expect(zonesOf(problemOf(spreading(6)))).toEqual(['z1', 'z1', 'z2', 'z2', 'z3', 'z3']);
  });

  it('count as one when such a node exists, because the scheduler counts it', () => {
    expect(zonesOf(problemOf(spreading(4), { nodes: [regionalNode] }))).toEqual(['0', 'z1', 'z2', 'z3']);
  });

  it('count as one when another pod must go there', () => {
    const pods = [...spreading(4), testPod('alone', '1500m', '1Gi', { nodeSelector: { [Labels.zone]: '0' } })];
    expect(zonesOf(problemOf(pods))).toEqual(['0', '0', 'z1', 'z2', 'z3']);
  });

  it('are bought when nothing else is available', () => {
    const onlyRegional = withRegional({ ...testType('big', 8, 16, 0.4), offerings: [] });
    const offered = [withRegional(testType('a2', 2, 4, 0.1)), onlyRegional];
    const pods = [...spreading(4), testPod('large', '6', '1Gi')];
    const pools = [{ pool: testPool('default'), instanceTypes: offered, used: {} }];
    expect(zonesOf(problemOf(pods, { pools }))).toContain('0');
  });

  it('come after those in a zone at the same price', () => {
    const [node] = solve(problemOf([testPod('one', '1', '1Gi')])).plannedNodes;
    const zones = node!.alternatives.filter(({ capacityType }) => capacityType === 'spot').map(({ zone }) => zone);
    expect(zones.at(-1)).toBe('0');
  });
});
