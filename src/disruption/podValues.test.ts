import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PaperCluster } from '../../test/fixtures/disruption/paperCluster.ts';
import { paperPod } from '../../test/fixtures/disruption/paperPods.ts';
import { testType } from '../../test/fixtures/solver/testObjects.ts';
import { solve } from '../solver/solve.ts';
import { FreeRooms, loadOf, PodValues, sumOf, type Load } from './podValues.ts';

const types = [
  testType('a', 2, 4, 0.1),
  testType('b', 4, 8, 0.18),
  testType('c', 4, 32, 0.3),
  testType('d', 8, 16, 0.4),
];

it('values pods at no more than new nodes for them cost', () => {
  const pool = new PaperCluster().addPool(types);
  const sizes = fc.array(fc.tuple(fc.integer({ min: 1, max: 70 }), fc.integer({ min: 1, max: 150 })), {
    minLength: 1,
    maxLength: 12,
  });
  fc.assert(
    fc.property(sizes, (all) => {
      const pods = all.map(([cpu, memory], at) => paperPod(`p${at}`, { cpu: `${cpu}00m`, memory: `${memory}00Mi` }));
      const demand = sumOf(pods.map(loadOf));
      const values = new PodValues([{ pool, instanceTypes: types }], demand);
      const offer = { pool, instanceTypes: types, used: {} };
      const { pricePerHour, unplaced } = solve({ pods, pools: [offer], nodes: [], daemons: [] });
      fc.pre(unplaced.length === 0);
      expect(values.of(demand)).toBeLessThanOrEqual(pricePerHour + 1e-9);
      expect(values.of(demand)).toBeGreaterThan(0);
    }),
    { numRuns: 60 },
  );
});

it('counts fractions of a core', () => {
  expect(loadOf(paperPod('p', { cpu: '250m', memory: '1Ki' }))).toEqual([250, 1024]);
});

it('knows whether any other node could hold a load', () => {
  const load = fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 9 }));
  fc.assert(
    fc.property(fc.array(load, { maxLength: 8 }), load, fc.integer({ min: 0, max: 8 }), (frees, asked: Load, own) => {
      const nodes = frees.map((free, at) => ({ name: `n${at}`, free }));
      const expected = nodes.some(
        ({ name, free }) =>
          name !== `n${own}` && free[0] > 0 && free[1] > 0 && free[0] >= asked[0] && free[1] >= asked[1],
      );
      expect(new FreeRooms(nodes).mayHold(asked, `n${own}`)).toBe(expected);
    }),
  );
});
