import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InstanceType, QuotaFigure } from '../cloud/instanceType.ts';
import { Labels } from '../api/labels.ts';
import { testPod, testPool, testType } from '../../test/fixtures/solver/testObjects.ts';
import { reasonText } from '../ledger/reasonText.ts';
import type { Problem, Solution } from './problem.ts';
import { solve } from './solve.ts';

/** On demand a type counts against its family and the region, on spot against one quota for all. */
function ofFamily(family: string, type: InstanceType, cpu: number): InstanceType {
  const offerings = type.offerings.map((offering) => ({
    ...offering,
    quotaNeed: { names: offering.capacityType === 'spot' ? ['spot'] : [family, 'region'], amount: cpu },
  }));
  return { ...type, offerings };
}

const TYPES = [
  ofFamily('a', testType('a2', 2, 8, 0.1), 2),
  ofFamily('a', testType('a4', 4, 16, 0.2), 4),
  ofFamily('b', testType('b2', 2, 8, 0.15), 2),
  ofFamily('c', testType('c4', 4, 16, 0.5), 4),
];

const figures = (limits: Readonly<Record<string, number>>): Map<string, QuotaFigure> =>
  new Map(Object.entries(limits).map(([name, limit]) => [name, { limit, used: 0 }]));

const pool = (name: string, capacityTypes: readonly string[], limits?: Record<string, string>) => {
  const made = testPool(name);
  const { template } = made.spec;
  const requirements = [{ key: Labels.capacityType, operator: 'In' as const, values: [...capacityTypes] }];
  const spec = { ...template.spec, requirements };
  return { ...made, spec: { ...made.spec, template: { ...template, spec }, ...(limits && { limits }) } };
};

function problem(pods: number, quotas: Problem['quotas'], more: Partial<Problem> = {}): Problem {
  return {
    pods: Array.from({ length: pods }, (_, index) => testPod(`p${index}`, '1500m', '1Gi')),
    pools: [{ pool: pool('default', ['on-demand']), instanceTypes: TYPES, used: {} }],
    nodes: [],
    daemons: [],
    ...(quotas && { quotas }),
    ...more,
  };
}

const bought = ({ plannedNodes }: Solution): string[] =>
  plannedNodes.map(({ alternatives: [first] }) => `${first?.instanceType} ${first?.capacityType}`).sort();

/** How much of each quota the first alternatives use. */
function taken({ plannedNodes }: Solution): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { alternatives } of plannedNodes) {
    const [first] = alternatives;
    const type = TYPES.find(({ name }) => name === first?.instanceType);
    const need = type?.offerings.find(({ capacityType }) => capacityType === first?.capacityType)?.quotaNeed;
    for (const name of need?.names ?? []) sums.set(name, (sums.get(name) ?? 0) + (need?.amount ?? 0));
  }
  return sums;
}

describe('quotas', () => {
  it('are used up, and the next family takes the rest', () => {
    expect(bought(solve(problem(4, undefined))).every((each) => each.startsWith('a'))).toBe(true);
    const solution = solve(problem(5, figures({ a: 4, b: 2 })));
    expect(solution.unplaced).toEqual([]);
    expect(taken(solution)).toEqual(new Map(Object.entries({ a: 4, b: 2, c: 4, region: 10 })));
  });

  it('say what is short when nothing can be bought, with limit and use', () => {
    const used = new Map([...figures({ a: 12, b: 1, c: 0 }), ['a', { limit: 12, used: 9 }]]);
    const solution = solve(problem(2, used));
    expect(bought(solution)).toEqual(['a2 on-demand']);
    const [waiting] = solution.unplaced;
    expect(waiting?.reason).toMatchObject({
      kind: 'refused',
      pools: [
        {
          stage: 'quota',
          shortages: [
            { quota: 'a', limit: 12, used: 11, needed: 2 },
            { quota: 'b', limit: 1, used: 0, needed: 2 },
            { quota: 'c', limit: 0, used: 0, needed: 4 },
          ],
        },
      ],
    });
    expect(waiting && reasonText(waiting.reason)).toContain('a has 11 of 12 in use and 2 more are needed');
  });

  it('are also named where offerings are already closed because of them', () => {
    const closed = TYPES.map((type) => ({
      ...type,
      offerings: type.offerings.map((offering) => ({ ...offering, available: offering.capacityType === 'spot' })),
    }));
    const pools = [{ pool: pool('default', ['on-demand']), instanceTypes: closed, used: {} }];
    const [waiting] = solve(problem(1, figures({ a: 1, b: 1, c: 3 }), { pools })).unplaced;
    expect(waiting?.reason).toMatchObject({
      pools: [{ stage: 'quota', shortages: [{ quota: 'a' }, { quota: 'b' }, {}] }],
    });
  });

  it('depend on the capacity type: spot of a family without quota is still available', () => {
    const pools = [{ pool: pool('default', ['on-demand', 'spot']), instanceTypes: TYPES, used: {} }];
    const solution = solve(problem(6, figures({ a: 0, b: 100, spot: 6 }), { pools }));
    expect(solution.unplaced).toEqual([]);
    expect(taken(solution).get('spot')).toBe(6);
    expect(taken(solution).get('a')).toBeUndefined();
    expect(bought(solution).filter((each) => each === 'b2 on-demand').length).toBeGreaterThan(0);
  });

  it('are shared by pools, and apply in addition to the limits of a pool', () => {
    const pools = [
      { pool: pool('first', ['on-demand'], { cpu: '4' }), instanceTypes: TYPES.slice(0, 2), used: {} },
      { pool: pool('second', ['on-demand']), instanceTypes: TYPES, used: {} },
    ];
    const solution = solve(problem(6, figures({ a: 6, b: 2 }), { pools }));
    expect(solution.unplaced).toEqual([]);
    expect(taken(solution)).toEqual(new Map(Object.entries({ a: 6, b: 2, c: 4, region: 12 })));
  });

  it('are never exceeded, and no pod waits that one more node within them would hold', () => {
    const amounts = fc.record({ a: fc.nat(12), b: fc.nat(12), c: fc.nat(12), region: fc.nat(30), spot: fc.nat(8) });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 14 }),
        amounts,
        fc.constantFrom(['on-demand'], ['on-demand', 'spot']),
        fc.boolean(),
        fc.boolean(),
        (pods, limits, capacityTypes, isTwo, outcomeOnly) => {
          const names = isTwo ? ['one', 'two'] : ['one'];
          const pools = names.map((name) => ({ pool: pool(name, capacityTypes), instanceTypes: TYPES, used: {} }));
          const solution = solve(problem(pods, figures(limits), { pools }), { outcomeOnly });
          const sums = taken(solution);
          for (const [name, limit] of Object.entries(limits)) {
            expect(sums.get(name) ?? 0).toBeLessThanOrEqual(limit);
          }
          const left = (name: keyof typeof limits): number => limits[name] - (sums.get(name) ?? 0);
          const isLeft = (['a', 'b', 'c'] as const).some(
            (name) => Math.min(left(name), left('region')) >= (name === 'c' ? 4 : 2),
          );
          const isSpotLeft = capacityTypes.length > 1 && left('spot') >= 2;
          expect(solution.unplaced.length > 0 && (isLeft || isSpotLeft)).toBe(false);
        },
      ),
      { numRuns: 40 },
    );
  });
});
