/**
 * `npm run bench -- random`: random clusters with constraints of every kind, planned by us and by Karpenter's scheduler.
 * Both plans are judged by kube-scheduler's filters; a plan of Karpenter's counts only where it holds.
 */
import fc from 'fast-check';
import { podKey } from '../src/pods/podKey.ts';
import type { Problem, Solution } from '../src/solver/problem.ts';
import { solve } from '../src/solver/solve.ts';
import { complaints } from '../test/fixtures/solver/checker.ts';
import { compareWaiting } from '../test/fixtures/solver/firstFitPlan.ts';
import { throughCluster } from '../test/fixtures/solver/launchedPlan.ts';
import { anyProblem } from '../test/fixtures/solver/randomCluster.ts';
import { numberFlag } from './flags.ts';
import { builtScheduler } from './peers/builtPeer.ts';
import { karpenterPlans } from './random/karpenterPlans.ts';
import type { Bench } from './runner.ts';

const SEED = 4711;
/** Problems that one process of Karpenter's scheduler answers. */
const AT_ONCE = 250;
/** Up to this ratio of prices a plan is as good as the other. */
const EQUAL = 1.05;

export const bench: Bench = {
  name: 'random',
  description: "random clusters beside Karpenter's scheduler [--problems 1000] [--seed 4711]",
  async run(flags) {
    const [count, seed] = [numberFlag(flags, 'problems', 1_000), numberFlag(flags, 'seed', SEED)];
    const built = await builtScheduler(console.error);
    if (typeof built === 'string') throw new Error(built);
    const totals = new Map<string, number>();
    let [ours, theirs] = [0, 0];
    for (let from = 0; from < count; from += AT_ONCE) {
      const of = { numRuns: Math.min(AT_ONCE, count - from), seed: seed + from };
      const problems = fc.sample(anyProblem, of).map(forBoth);
      const plans = await karpenterPlans(built.program, problems);
      for (const [at, problem] of problems.entries()) {
        const own = solve(throughCluster(problem), { searchRounds: 200, preferencePolicy: 'Ignore' });
        const verdict = compare(problem, own, plans[at] ?? 'no answer');
        totals.set(verdict.kind, (totals.get(verdict.kind) ?? 0) + 1);
        if (verdict.isOurFault === true) console.log(`seed ${of.seed} #${at}: ${verdict.kind}: ${verdict.detail}`);
        if (verdict.prices === undefined) continue;
        ours += verdict.prices[0];
        theirs += verdict.prices[1];
      }
    }
    return {
      title: `${count} random clusters beside Karpenter's scheduler`,
      columns: ['outcome', 'clusters'],
      rows: [...totals].sort(([one], [other]) => (one < other ? -1 : 1)),
      notes: [
        `price of ours / Karpenter's where both place as many pods and its plan holds: ${(ours / theirs).toFixed(3)}`,
        'a goal of 0: ours is not valid, places fewer pods, costs more than 1.05 times as much',
      ],
    };
  },
};

interface Verdict {
  readonly kind: string;
  readonly isOurFault?: boolean;
  readonly detail?: string;
  /** Ours and Karpenter's, where the same pods wait. */
  readonly prices?: readonly [number, number];
}

function compare(problem: Problem, ours: Solution, theirs: Solution | string): Verdict {
  const [invalid] = complaints(problem, ours);
  if (invalid !== undefined) return { kind: 'ours is not valid', isOurFault: true, detail: invalid };
  if (typeof theirs === 'string') return { kind: 'Karpenter fails' };
  if (complaints(problem, theirs).length > 0) return { kind: "Karpenter's is not valid" };
  const difference = compareWaiting(waiting(problem, ours), waiting(problem, theirs));
  if (difference < 0) return { kind: 'ours places more pods' };
  if (difference > 0) {
    const detail = `leaves ${ours.unplaced.map(({ pod }) => pod).join()}; Karpenter ${theirs.unplaced.map(({ pod }) => pod).join()}`;
    return { kind: 'ours places fewer pods', isOurFault: true, detail };
  }
  const prices = [ours.pricePerHour, theirs.pricePerHour] as const;
  if (prices[0] > prices[1] * EQUAL + 1e-9) {
    return { kind: 'ours is dearer', isOurFault: true, detail: prices.join(' instead of '), prices };
  }
  return { kind: prices[1] > prices[0] * EQUAL + 1e-9 ? 'ours is cheaper' : 'equal', prices };
}

function waiting({ pods }: Problem, { unplaced }: Solution): Problem['pods'] {
  const left = new Set(unplaced.map(({ pod }) => pod));
  return pods.filter((pod) => left.has(podKey(pod)));
}

/** Without what Karpenter's scheduler is not told here: reservations, limits of disks, groups and default spread. */
function forBoth({ defaultSpread: _defaultSpread, ...problem }: Problem): Problem {
  return {
    ...problem,
    pools: problem.pools.map((offer) => ({
      ...offer,
      instanceTypes: offer.instanceTypes.map((type) => ({
        ...type,
        offerings: type.offerings.filter(({ capacityType }) => capacityType !== 'reserved'),
      })),
    })),
    nodes: problem.nodes.map(({ volumeLimits: _limits, ...node }) => node),
    pods: problem.pods.map(({ metadata: { annotations: _annotations, ...metadata }, ...pod }) => ({
      ...pod,
      metadata,
    })),
  };
}
