import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { complaints } from '../../test/fixtures/solver/checker.ts';
import { throughCluster } from '../../test/fixtures/solver/launchedPlan.ts';
import type { Problem, Solution } from './problem.ts';
import { anyProblem } from '../../test/fixtures/solver/randomCluster.ts';
import { solve } from './solve.ts';

/** More with NODEWRIGHT_PROPERTY_RUNS, for long runs. */
const runs = Number(process.env['NODEWRIGHT_PROPERTY_RUNS'] ?? 1200);
const quick = { searchRounds: 10 };

describe('every plan', () => {
  it('would be accepted by kube-scheduler', { timeout: 600_000 }, () => {
    fc.assert(
      fc.property(anyProblem, (problem) => {
        expect(complaints(problem, solve(throughCluster(problem), quick))).toEqual([]);
      }),
      { numRuns: runs },
    );
  });

  it('is accepted with preferences ignored and minValues relaxed', { timeout: 600_000 }, () => {
    fc.assert(
      fc.property(anyProblem, (problem) => {
        const options = {
          ...quick,
          preferencePolicy: 'Ignore',
          minValuesPolicy: 'BestEffort',
          maxPodsSharePerNode: 0.5,
          reservedCapacity: 'Fallback',
        } as const;
        expect(complaints(problem, solve(throughCluster(problem), options))).toEqual([]);
      }),
      { numRuns: runs / 3 },
    );
  });

  it('does not depend on the order of its input', { timeout: 600_000 }, () => {
    fc.assert(
      fc.property(anyProblem, (problem) => {
        const turned: Problem = {
          ...problem,
          pods: [...problem.pods].reverse(),
          nodes: [...problem.nodes].reverse(),
          pools: problem.pools.map((offer) => ({ ...offer, instanceTypes: [...offer.instanceTypes].reverse() })),
        };
        expect(summary(solve(turned, quick))).toEqual(summary(solve(problem, quick)));
      }),
      { numRuns: runs / 3 },
    );
  });
});

function summary({ plannedNodes, onExisting, unplaced }: Solution): unknown {
  const names = (pods: readonly string[]): string => pods.toSorted().join();
  return {
    plannedNodes: plannedNodes
      .map(({ pods, alternatives, pool }) => {
        const [first] = alternatives;
        return `${pool} ${first?.instanceType} ${first?.zone} ${names(pods)}`;
      })
      .sort(),
    onExisting: onExisting.map(({ node, pods }) => `${node} ${names(pods)}`),
    unplaced: unplaced.map(({ pod, reason }) => `${pod} ${reason.kind}`),
  };
}
