import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { apartPods, flawsOf, packingDemand, plainPods } from '../../../test/fixtures/solver/packingDemand.ts';
import { testType } from '../../../test/fixtures/solver/testObjects.ts';
import { planCost } from './bin.ts';
import { packForcedFirst } from './forcedFirst.ts';

const TYPES = [testType('small', 2, 4, 0.1, ['z1']), testType('large', 16, 32, 0.79, ['z1'])];

describe('nodes forced by pods that must run apart', () => {
  it('are filled before larger ones are bought', () => {
    const pods = [...apartPods('apart', 8, '400m', '512Mi'), ...plainPods('plain', 8, '1500m', '3Gi')];
    const demand = packingDemand(pods, TYPES);
    const plan = packForcedFirst(demand);
    expect(plan?.bins.map(({ type, counts }) => [demand.pool.types[type]?.name, counts.length])).toEqual(
      Array.from({ length: 8 }, () => ['small', 2]),
    );
    expect([...(plan?.left ?? [1])].every((count) => count === 0)).toBe(true);
  });

  it('are not tried where the resources need as many nodes anyway', () => {
    const pods = [...apartPods('apart', 2, '400m', '512Mi'), ...plainPods('plain', 200, '1500m', '3Gi')];
    expect(packForcedFirst(packingDemand(pods, TYPES))).toBeUndefined();
    expect(packForcedFirst(packingDemand(plainPods('plain', 3, '1', '1Gi'), TYPES))).toBeUndefined();
  });

  it('are not tried where they would hold only a small share of all pods', () => {
    const pods = [...apartPods('apart', 10, '100m', '64Mi'), ...plainPods('plain', 60, '1500m', '3Gi')];
    const demand = packingDemand(pods, TYPES);
    expect(demand.nodeDual).toBeGreaterThan(0);
    expect(packForcedFirst(demand)).toBeUndefined();
  });

  it('hold every pod once, within every limit, whatever the pods ask for', () => {
    const workload = fc.record({
      count: fc.integer({ min: 1, max: 12 }),
      cpu: fc.integer({ min: 1, max: 60 }),
      memory: fc.integer({ min: 1, max: 60 }),
      isApart: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(workload, { minLength: 1, maxLength: 8 }), (workloads) => {
        const pods = workloads.flatMap(({ count, cpu, memory, isApart }, at) =>
          (isApart ? apartPods : plainPods)(`w${at}`, count, `${cpu * 100}m`, `${memory * 256}Mi`),
        );
        const demand = packingDemand(pods, TYPES);
        const plan = packForcedFirst(demand);
        if (plan === undefined) return;
        expect(flawsOf(demand, plan)).toEqual([]);
        expect(planCost(plan, 0)).toBeGreaterThanOrEqual(demand.fractionalBound - 1e-9);
      }),
      { numRuns: 50 },
    );
  });
});
