import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Labels } from '../../src/api/labels.ts';
import { podKey } from '../../src/pods/podKey.ts';
import { solve } from '../../src/solver/solve.ts';
import type { Problem, Solution } from '../../src/solver/problem.ts';
import { complaints } from '../fixtures/solver/checker.ts';
import { compareWaiting, firstFitPlans } from '../fixtures/solver/firstFitPlan.ts';
import { throughCluster } from '../fixtures/solver/launchedPlan.ts';
import { anyProblem } from '../fixtures/solver/randomCluster.ts';

/** The same problems every time; NODEWRIGHT_HUNT=<count> looks at that many others, from a new seed each time. */
const hunt = Number(process.env['NODEWRIGHT_HUNT'] ?? 0);
const SHARDS = 5;
const shards = Array.from({ length: SHARDS }, (_, at) =>
  hunt > 0
    ? { numRuns: Math.ceil(hunt / SHARDS), seed: (Date.now() + at) | 0 }
    : { numRuns: 1000 / SHARDS, seed: 4711 + at },
);

describe('plans for the objects of a cluster', () => {
  it.each(shards)(
    'hold on the nodes as they are launched, and are no worse than first-fit: $numRuns from seed $seed',
    { timeout: hunt > 0 ? 0 : 600_000 },
    (shard) => {
      const found = fc.sample(anyProblem, shard).flatMap((problem, at) => {
        const findings = findingsOf(problem);
        return findings.length === 0 ? [] : [{ at, findings }];
      });
      expect(found).toEqual([]);
    },
  );
});

function findingsOf(problem: Problem): string[] {
  const objects = throughCluster(problem);
  const options = { searchRounds: 200 };
  const granting = solve(objects, options);
  const bare = solve(objects, { ...options, preferencePolicy: 'Ignore', reservedCapacity: 'Fallback' });
  const found = [granting, bare].flatMap((solution) => complaints(problem, solution).slice(0, 2));
  return isComparable(problem) ? [...found, ...besideFirstFit(problem, bare)] : found;
}

/** First-fit grants no wishes, so it is compared with a plan that grants none. */
function besideFirstFit(problem: Problem, { unplaced, pricePerHour }: Solution): string[] {
  const left = new Set(unplaced.map(({ pod }) => pod));
  const waiting = problem.pods.filter((pod) => left.has(podKey(pod)));
  const plans = firstFitPlans(problem);
  if (plans.some((plan) => compareWaiting(waiting, plan.waiting) > 0)) return [`leaves ${[...left].join()}`];
  const prices = plans.filter((plan) => compareWaiting(waiting, plan.waiting) === 0).map(({ price }) => price);
  const least = Math.min(...prices);
  return pricePerHour > least * 1.05 + 1e-9 ? [`costs ${pricePerHour} instead of ${least}`] : [];
}

/**
 * First-fit knows nothing of choice of types, of groups and of taints that are wishes, and to it reserved capacity is no
 * domain of its own. Daemons that only some zones or capacity types have are planned for in all of them.
 */
function isComparable({ pools, pods, nodes, daemons }: Problem): boolean {
  const isChoosy = pools.some(({ pool }) =>
    pool.spec.template.spec.requirements.some((each) => 'minValues' in each && each.minValues !== undefined),
  );
  const isReserved = pools.some(({ instanceTypes }) =>
    instanceTypes.some(({ offerings }) => offerings.some((each) => (each.reservationCapacity ?? 0) > 0)),
  );
  const isSpreadOverKinds = pods.some(({ spec }) =>
    (spec?.topologySpreadConstraints ?? []).some(({ topologyKey }) => topologyKey === Labels.capacityType),
  );
  const isGrouped = pods.some(({ metadata }) => metadata.annotations !== undefined);
  const taints = [
    ...pools.map(({ pool }) => pool.spec.template.spec.taints ?? []),
    ...nodes.map((node) => node.taints),
  ];
  const isSoft = taints.flat().some(({ effect }) => effect === 'PreferNoSchedule');
  const daemonTerms = daemons.flatMap(
    ({ spec }) => spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [],
  );
  const isPartly = daemonTerms
    .flatMap(({ matchExpressions = [] }) => matchExpressions)
    .some(({ key }) => key === Labels.zone || key === Labels.capacityType);
  return !isChoosy && !isGrouped && !isSoft && !isPartly && !(isReserved && isSpreadOverKinds);
}
