import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Labels } from '../api/labels.ts';
import { shadowPrices } from './packing/coveringDuals.ts';
import type { Problem } from './problem.ts';
import { testPod, testPool, testType } from '../../test/solver/randomCluster.ts';
import { solve } from './solve.ts';

interface Size {
  readonly millicores: number;
  readonly mebibytes: number;
  readonly zone: string | undefined;
}

const ZONES = ['z1', 'z2'];
const size = fc.record({
  millicores: fc.integer({ min: 10, max: 3900 }),
  mebibytes: fc.integer({ min: 16, max: 8 * 1024 }),
  zone: fc.constantFrom(undefined, undefined, ...ZONES),
});
const machine = fc.record({
  cpu: fc.integer({ min: 4, max: 32 }),
  memory: fc.integer({ min: 8, max: 128 }),
  price: fc.integer({ min: 10, max: 2000 }).map((cents) => cents / 1000),
});

/** Largest first, into the first node that some type still holds; types are bought at the end. Knows no prices. */
function firstFitDecreasing(sizes: readonly Size[], types: ReturnType<typeof testType>[]): number {
  const open: { millicores: number; mebibytes: number; pods: number; zone: string | undefined }[] = [];
  const holding = (node: (typeof open)[number]) =>
    types.filter(
      ({ allocatable }) =>
        node.millicores <= allocatable['cpu']!.milliValue() &&
        node.mebibytes * 2 ** 20 <= allocatable['memory']!.value() &&
        node.pods <= 8,
    );
  const sorted = [...sizes].sort(
    (left, right) => right.millicores - left.millicores || right.mebibytes - left.mebibytes,
  );
  for (const { millicores, mebibytes, zone } of sorted) {
    const grown = open.map((node) => ({
      millicores: node.millicores + millicores,
      mebibytes: node.mebibytes + mebibytes,
      pods: node.pods + 1,
      zone: node.zone ?? zone,
    }));
    const at = grown.findIndex((node, index) => {
      const before = open[index]!.zone;
      return (before === undefined || zone === undefined || before === zone) && holding(node).length > 0;
    });
    if (at < 0) open.push({ millicores, mebibytes, pods: 1, zone });
    else open[at] = grown[at]!;
  }
  return open.reduce((sum, node) => {
    const prices = holding(node).flatMap(({ offerings }) =>
      offerings.flatMap((each) =>
        each.available && (node.zone === undefined || node.zone === each.zone) ? [each.price] : [],
      ),
    );
    return sum + Math.min(...prices);
  }, 0);
}

describe('cost', () => {
  it('is never above plain first-fit-decreasing, and never below the bound', { timeout: 300_000 }, () => {
    fc.assert(
      fc.property(
        fc.array(size, { minLength: 1, maxLength: 60 }),
        fc.array(machine, { minLength: 1, maxLength: 8 }),
        fc.constantFrom(0, 30),
        (sizes, machines, searchRounds) => {
          const types = machines.map(({ cpu, memory, price }, at) => testType(`t${at}`, cpu, memory, price, ZONES));
          types.push(testType('safe', 8, 16, 1.5, ZONES));
          const problem: Problem = {
            pods: sizes.map(({ millicores, mebibytes, zone }, at) =>
              testPod(
                `p${at}`,
                `${millicores}m`,
                `${mebibytes}Mi`,
                zone ? { nodeSelector: { [Labels.zone]: zone } } : {},
              ),
            ),
            pools: [{ pool: testPool('default'), instanceTypes: types, used: {} }],
            nodes: [],
            daemons: [],
          };
          const solution = solve(problem, { searchRounds });
          expect(solution.unplaced).toEqual([]);
          expect(solution.pricePerHour).toBeLessThanOrEqual(firstFitDecreasing(sizes, types) + 1e-9);
          expect(solution.lowerBound.pricePerHour).toBeLessThanOrEqual(solution.pricePerHour + 1e-9);
        },
      ),
      { numRuns: Number(process.env['NODEWRIGHT_PROPERTY_RUNS'] ?? 250) },
    );
  });

  it('has a gap that is made of the parts that it names', () => {
    const pods = [1, 2, 3, 4, 5].map((index) => testPod(`p${index}`, `${index * 700}m`, '1Gi'));
    const solution = solve({
      pods,
      pools: [
        { pool: testPool('default'), instanceTypes: [testType('a', 4, 8, 0.2), testType('b', 8, 16, 0.41)], used: {} },
      ],
      nodes: [],
      daemons: [],
    });
    const parts = solution.lowerBound.gap.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
    expect(parts).toBeCloseTo(solution.pricePerHour - solution.lowerBound.pricePerHour, 9);
  });
});

describe('shadowPrices', () => {
  it('never values a type above its price, and buys enough of everything', () => {
    const amounts = fc.integer({ min: 0, max: 1000 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(amounts, amounts, fc.integer({ min: 1, max: 500 })), { minLength: 1, maxLength: 12 }),
        fc.tuple(amounts, amounts),
        (types, need) => {
          const supply = Float64Array.from(types.flatMap(([first, second]) => [first, second]));
          const price = Float64Array.from(types, ([, , each]) => each);
          const { duals, bound, purchase } = shadowPrices({ demand: Float64Array.from(need), supply, price });
          types.forEach(([first, second, each]) => {
            expect(first * duals[0]! + second * duals[1]!).toBeLessThanOrEqual(each * (1 + 1e-12));
          });
          const possible = [0, 1].every((at) => need[at] === 0 || types.some((type) => type[at]! > 0));
          if (!possible) return;
          const spent = purchase.reduce((sum, count, at) => sum + count * price[at]!, 0);
          expect(Math.abs(spent - bound)).toBeLessThanOrEqual(1e-6 * (1 + spent));
          for (const at of [0, 1]) {
            const bought = purchase.reduce((sum, count, type) => sum + count * types[type]![at]!, 0);
            expect(bought).toBeGreaterThanOrEqual(need[at]! * (1 - 1e-9));
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
