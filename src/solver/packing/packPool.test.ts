import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { apartPods, flawsOf, packingDemand, plainPods } from '../../../test/fixtures/solver/packingDemand.ts';
import { testPod, testType } from '../../../test/fixtures/solver/testObjects.ts';
import { planCost } from './bin.ts';
import { countsOf } from './demand.ts';
import { firstFit } from './firstFit.ts';
import { Improver } from './improve.ts';
import { packPool } from './packPool.ts';

const TYPES = [testType('a2', 2, 4, 0.09), testType('a4', 4, 16, 0.2), testType('b8', 8, 64, 0.5)];
const improver = (rounds: number): Improver =>
  new Improver({ rounds, deadline: Number.POSITIVE_INFINITY, now: undefined });

describe('the plan of a pool', () => {
  it('is valid, no dearer than first fit, and no cheaper than the bound', () => {
    const workload = fc.tuple(fc.integer({ min: 1, max: 10 }), fc.nat(60), fc.nat(60), fc.boolean());
    fc.assert(
      fc.property(fc.array(workload, { minLength: 1, maxLength: 6 }), fc.constantFrom(0, 20), (workloads, rounds) => {
        const pods = workloads.flatMap(([count, cpu, memory, isApart], at) =>
          (isApart ? apartPods : plainPods)(`w${at}`, count, `${cpu * 100 + 50}m`, `${memory * 256 + 64}Mi`),
        );
        const demand = packingDemand(pods, TYPES);
        const plan = packPool(demand, undefined, improver(rounds));
        const blind = firstFit(demand, demand.items.keys(), countsOf(demand), undefined);
        expect(flawsOf(demand, plan)).toEqual([]);
        expect(planCost(plan, 0)).toBeLessThanOrEqual(planCost(blind, 0) + 1e-9);
        expect(planCost(plan, 0)).toBeGreaterThanOrEqual(demand.fractionalBound - 1e-6);
      }),
      { numRuns: 60 },
    );
  });

  it('gives what the limits leave to pods of higher priority', () => {
    const pods = Array.from({ length: 6 }, (_, at) => testPod(`p${at}`, '1500m', '3Gi', { priority: at < 3 ? 10 : 0 }));
    const demand = packingDemand(pods, [testType('a2', 2, 4, 0.09)], {}, { cpu: '6' });
    const { left } = packPool(demand, Float64Array.of(6000), improver(0));
    const waiting = demand.items.map(({ podClass }, item) => [podClass.shape.priority, left[item]]);
    expect(new Map(waiting as [number, number][])).toEqual(
      new Map([
        [10, 0],
        [0, 3],
      ]),
    );
  });
});
