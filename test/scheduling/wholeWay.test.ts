import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { solve } from '../../src/solver/solve.ts';
import type { Problem } from '../../src/solver/problem.ts';
import { complaints } from '../fixtures/solver/checker.ts';
import { firstFitPlans } from '../fixtures/solver/firstFitPlan.ts';
import { throughCluster } from '../fixtures/solver/launchedPlan.ts';
import { anyProblem } from '../fixtures/solver/randomCluster.ts';

/** The same problems every time; NODEWRIGHT_HUNT=<count> looks at that many others, from a new seed each time. */
const hunt = Number(process.env['NODEWRIGHT_HUNT'] ?? 0);
const problems = (count: number): Problem[] =>
  fc.sample(anyProblem, hunt > 0 ? { numRuns: hunt, seed: Date.now() } : { numRuns: count, seed: 4711 });

describe('a plan for the objects of a cluster', () => {
  it('is one that kube-scheduler accepts on the nodes as they are launched', { timeout: 600_000 }, () => {
    const refused = problems(1000).flatMap((problem, at) => {
      const solution = solve(throughCluster(problem), { searchRounds: 5 });
      const found = complaints(problem, solution);
      return found.length === 0 ? [] : [{ at, found: found.slice(0, 2) }];
    });
    expect(refused).toEqual([]);
  });

  it('places what first-fit places, at no more than 1.05 times its price', { timeout: 600_000 }, () => {
    const worse = problems(400).flatMap((problem, at) => {
      if (!isComparable(problem)) return [];
      const solution = solve(throughCluster(problem), { searchRounds: 5, preferencePolicy: 'Ignore' });
      const plans = firstFitPlans(problem);
      const waiting = Math.min(...plans.map((plan) => plan.waiting));
      if (solution.unplaced.length > waiting) return [{ at, unplaced: solution.unplaced.length, waiting }];
      const equal = plans.filter((plan) => plan.waiting === solution.unplaced.length).map(({ price }) => price);
      const price = Math.min(...equal);
      return solution.pricePerHour > price * 1.05 + 1e-9 ? [{ at, price: solution.pricePerHour, firstFit: price }] : [];
    });
    expect(worse).toEqual([]);
  });
});

/** First-fit knows nothing of choice of types, groups and reservations, nor of which pods go first within limits. */
function isComparable({ pools, pods }: Problem): boolean {
  const isChoosy = pools.some(({ pool }) =>
    pool.spec.template.spec.requirements.some((each) => 'minValues' in each && each.minValues !== undefined),
  );
  const isReserved = pools.some(({ instanceTypes }) =>
    instanceTypes.some(({ offerings }) => offerings.some(({ capacityType }) => capacityType === 'reserved')),
  );
  const isGrouped = pods.some(({ metadata }) => metadata.annotations !== undefined);
  const priorities = new Set(pods.map(({ spec }) => spec?.priority ?? 0));
  const isLimited = pools.some(({ pool }) => pool.spec.limits !== undefined);
  return !isChoosy && !isReserved && !isGrouped && (!isLimited || priorities.size === 1);
}
