import { expect, it } from 'vitest';
import { complaints } from '../../../test/fixtures/solver/checker.ts';
import { testPod, testPool, testType } from '../../../test/fixtures/solver/testObjects.ts';
import { Labels } from '../../api/labels.ts';
import type { Problem } from '../problem.ts';
import { solve } from '../solve.ts';

const labels = { app: 'a' };
/** Pods that may use two of three zones, with a spread that compares all zones with nodes. */
const spec = {
  topologySpreadConstraints: [
    {
      maxSkew: 2,
      topologyKey: Labels.zone,
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: labels },
      nodeAffinityPolicy: 'Ignore',
    },
  ],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: Labels.zone, operator: 'In', values: ['z1', 'z2'] }] }],
      },
    },
  },
};
const spreading = Array.from({ length: 7 }, (_, index) => testPod(`w0-${index}`, '1', '1Gi', spec, { labels }));

function problemWith(pods: Problem['pods']): Problem {
  const pools = [{ pool: testPool('one'), instanceTypes: [testType('a2', 2, 8, 0.1)], used: {} }];
  return { pods: [...spreading, ...pods], pools, nodes: [], daemons: [] };
}

it('plans all pods of a spread when no node is in a zone where they may not go', () => {
  const problem = problemWith([]);
  const solution = solve(problem);
  expect(solution.unplaced).toEqual([]);
  expect(complaints(problem, solution)).toEqual([]);
});

it('compares a zone that others need', () => {
  const problem = problemWith([testPod('w1-0', '1', '1Gi', { nodeSelector: { [Labels.zone]: 'z3' } })]);
  const solution = solve(problem);
  expect(complaints(problem, solution)).toEqual([]);
  // With a node in the third zone, each of the others may have at most two.
  expect(solution.unplaced.length).toBeGreaterThan(0);
});
