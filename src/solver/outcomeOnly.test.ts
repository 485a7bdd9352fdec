import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyProblem } from '../../test/fixtures/solver/randomCluster.ts';
import { Labels } from '../api/labels.ts';
import { testPod, testPool, testType } from '../../test/fixtures/solver/testObjects.ts';
import type { Solution } from './problem.ts';
import { solve } from './solve.ts';

/** The parts of a solution that a what-if compares. */
const outcome = ({ onExisting, plannedNodes, unplaced, pricePerHour }: Solution) => ({
  onExisting,
  pricePerHour,
  planned: plannedNodes.map(({ pool, pods, alternatives }) => ({ pool, pods, first: alternatives[0] })),
  unplaced: unplaced.map(({ pod }) => pod),
});

describe('only the outcome', () => {
  it('equals the outcome of the complete answer', { timeout: 120_000 }, () => {
    fc.assert(
      fc.property(anyProblem, (problem) => {
        const whole = solve(problem, { searchRounds: 2 });
        const short = solve(problem, { searchRounds: 2, outcomeOnly: true });
        expect(outcome(short)).toEqual(outcome(whole));
        for (const { alternatives } of short.plannedNodes) expect(alternatives).toHaveLength(1);
      }),
      { numRuns: 150 },
    );
  });

  it('has no bound and no detail of refusals', () => {
    const pools = [{ pool: testPool('default'), instanceTypes: [testType('a2', 2, 8, 0.1)], used: {} }];
    const pods = [testPod('small', '1', '1Gi'), testPod('large', '64', '1Gi')];
    const { lowerBound, unplaced } = solve({ pods, pools, nodes: [], daemons: [] }, { outcomeOnly: true });
    expect(lowerBound).toEqual({ pricePerHour: 0, proof: 'none', gap: [] });
    expect(unplaced).toEqual([{ pod: 'default/large', reason: { kind: 'refused', pools: [], nodes: [] } }]);
  });
});

describe('the proof of a bound', () => {
  const pools = [{ pool: testPool('default'), instanceTypes: [testType('a2', 2, 8, 0.1)], used: {} }];
  const proofOf = (pods: Parameters<typeof solve>[0]['pods']): string =>
    solve({ pods, pools, nodes: [], daemons: [] }).lowerBound.proof;

  it('is none without planned nodes', () => {
    expect(proofOf([])).toBe('none');
  });

  it('is a covering where the plan reaches it, and whole fillings where only they are close', () => {
    expect(proofOf([testPod('full', '1900m', '1Gi')])).toBe('fractional-covering');
    // Two of the three kinds fit on a node in any combination.
    const awkward = Array.from({ length: 9 }, (_, at) => testPod(`p${at}`, '1', '1Gi'));
    expect(proofOf(awkward)).toBe('whole-fillings');
  });

  it('values pods that cannot use spot at on-demand prices, even if both fit on the same types', () => {
    const only = (capacityType: string) => ({ nodeSelector: { [Labels.capacityType]: capacityType } });
    const pods = ['on-demand', 'spot'].flatMap((each) =>
      Array.from({ length: 4 }, (_, at) => testPod(`${each}-${at}`, '1900m', '1Gi', only(each))),
    );
    const { lowerBound, pricePerHour } = solve({ pods, pools, nodes: [], daemons: [] });
    expect(lowerBound.pricePerHour).toBeCloseTo(pricePerHour, 6);
  });
});
