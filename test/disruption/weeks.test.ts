/**
 * Nine days of a small cluster: no invariant is broken, no pod moves back and forth, and the bill stays near its bound.
 */
import { expect, it } from 'vitest';
import { Annotations, Labels } from '../../src/api/labels.ts';
import { paperWeeks, type WeeksPool } from '../fixtures/disruption/paperWeeks.ts';
import { testPool, testType } from '../fixtures/solver/testObjects.ts';

const TYPES = [
  testType('t2', 2, 4, 0.1),
  testType('t4', 4, 8, 0.19),
  testType('m4', 4, 16, 0.24),
  testType('t8', 8, 16, 0.37),
];
const SIZES = [
  ['300m', '700Mi'],
  ['500m', '300Mi'],
  ['900m', '1500Mi'],
  ['250m', '1200Mi'],
  ['1200m', '1Gi'],
] as const;

function pool(capacityType: 'spot' | 'on-demand'): WeeksPool {
  const requirements = [{ key: Labels.capacityType, operator: 'In' as const, values: [capacityType] }];
  const { spec } = testPool(capacityType, { requirements });
  return {
    name: capacityType,
    spec: { ...spec, disruption: { ...spec.disruption, budgets: [{ nodes: '20%' }] } },
    workloads: SIZES.map(([cpu, memory], at) => ({
      name: `app-${at}`,
      replicas: 6,
      spec: { containers: [{ name: 'main', resources: { requests: { cpu, memory } } }] },
      ...(at === 4 && { annotations: { [Annotations.doNotDisrupt]: 'true' } }),
    })),
  };
}

it('keeps every promise for nine days of waves, spot losses and an image release', () => {
  const spec = { seed: 'weeks', days: 9, step: 6, instanceTypes: TYPES, pools: [pool('on-demand'), pool('spot')] };
  const outcome = paperWeeks({ ...spec, spotLoss: 0.01 });
  expect(outcome.broken).toEqual([]);
  expect(outcome).toMatchObject({ returns: 0, reversals: 0 });
  // The scenario really caused evictions.
  expect(Math.min(...Object.values(outcome.evictions))).toBeGreaterThan(0);
  expect(outcome.saved).toBeGreaterThan(0);
  // A few pods of few sizes do not fill nodes; a bill far above this means that unused nodes are left.
  expect(outcome.paid / outcome.least).toBeLessThan(1.35);
});
