import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { testPod, testPool, testType } from '../../../test/fixtures/solver/testObjects.ts';
import { solve } from '../solve.ts';

const shapes = fc.array(fc.tuple(fc.integer({ min: 1, max: 70 }), fc.integer({ min: 1, max: 100 })), {
  minLength: 1,
  maxLength: 25,
});

const problemOf = (asked: readonly (readonly [number, number])[]) => ({
  pods: asked.map(([cpu, memory], at) => testPod(`p${at}`, `${cpu * 100}m`, `${memory * 128}Mi`)),
  pools: [
    {
      pool: testPool('default'),
      instanceTypes: [
        testType('a2', 2, 4, 0.09),
        testType('a4', 4, 16, 0.2),
        testType('a8', 8, 16, 0.3),
        testType('b8', 8, 64, 0.5),
      ],
      used: {},
    },
  ],
  nodes: [],
  daemons: [],
});

describe('improving a plan', () => {
  it('never makes it dearer or loses a pod, and is deterministic', { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(shapes, (asked) => {
        const problem = problemOf(asked);
        const [first, some, again] = [0, 60, 60].map((searchRounds) => solve(problem, { searchRounds }));
        expect(some?.pricePerHour).toBeLessThanOrEqual((first?.pricePerHour ?? 0) + 1e-9);
        const placed = some?.plannedNodes.flatMap(({ pods }) => pods) ?? [];
        expect(placed.length + (some?.unplaced.length ?? 0)).toBe(problem.pods.length);
        expect(again).toEqual(some);
      }),
      { numRuns: 60 },
    );
  });

  it('stays within its rounds', () => {
    const awkward = Array.from({ length: 25 }, (_, at) => [3 + ((at * 7) % 23), 5 + ((at * 11) % 40)] as const);
    expect(solve(problemOf(awkward), { searchRounds: 0 }).searchRounds).toBe(0);
    expect(solve(problemOf(awkward), { searchRounds: 7 }).searchRounds).toBe(7);
  });
});
