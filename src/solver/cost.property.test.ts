import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Labels } from '../api/labels.ts';
import { coveringDuals } from './packing/coveringDuals.ts';
import type { Pod } from '../api/kinds.ts';
import type { InstanceType } from '../cloud/instanceType.ts';
import { parseResources } from '../units/resources.ts';
import type { Problem } from './problem.ts';
import { Rows } from './rows.ts';
import {
  firstFitReference,
  type PlainLimits,
  type PlainNode,
  type PlainPod,
} from '../../test/fixtures/solver/firstFitReference.ts';
import { testPod, testPool, testType } from '../../test/fixtures/solver/testObjects.ts';
import { solve } from './solve.ts';

const ZONES = ['z1', 'z2'];
const machine = fc.record({
  cpu: fc.integer({ min: 4, max: 32 }),
  memory: fc.integer({ min: 8, max: 128 }),
  price: fc.integer({ min: 10, max: 2000 }).map((cents) => cents / 1000),
});
const workload = fc.record({
  replicas: fc.integer({ min: 1, max: 12 }),
  millicores: fc.integer({ min: 10, max: 3900 }),
  mebibytes: fc.integer({ min: 16, max: 8 * 1024 }),
  zone: fc.constantFrom(undefined, undefined, undefined, ...ZONES),
  isSpread: fc.boolean(),
  isApart: fc.constantFrom(false, false, true),
});
const running = fc.record({
  zone: fc.constantFrom(...ZONES),
  millicores: fc.integer({ min: 0, max: 8000 }),
  mebibytes: fc.integer({ min: 0, max: 16 * 1024 }),
  pods: fc.integer({ min: 0, max: 8 }),
});
const UNLIMITED: PlainLimits = { cpu: Number.POSITIVE_INFINITY, nodes: Number.POSITIVE_INFINITY };
const limits = fc.oneof(
  fc.constant(UNLIMITED),
  fc.record({ cpu: fc.integer({ min: 8, max: 200 }), nodes: fc.integer({ min: 1, max: 30 }) }),
);

function podOf({ name, millicores, mebibytes, app, zone, isSpread, isApart }: PlainPod): Pod {
  const labelSelector = { matchLabels: { app } };
  const term = { topologyKey: Labels.hostname, labelSelector };
  const spread = { maxSkew: 1, topologyKey: Labels.zone, whenUnsatisfiable: 'DoNotSchedule', labelSelector };
  const spec = {
    ...(zone && { nodeSelector: { [Labels.zone]: zone } }),
    ...(isSpread && { topologySpreadConstraints: [spread] }),
    ...(isApart && { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } }),
  };
  return testPod(name, `${millicores}m`, `${mebibytes}Mi`, spec, { labels: { app } });
}

function problemOf(
  pods: readonly PlainPod[],
  types: readonly InstanceType[],
  nodes: readonly PlainNode[],
  { cpu, nodes: most }: PlainLimits,
): Problem {
  const limited = cpu === Number.POSITIVE_INFINITY ? {} : { limits: { cpu: String(cpu), nodes: String(most) } };
  return {
    pods: pods.map(podOf),
    pools: [{ pool: testPool('default', {}, limited), instanceTypes: types, used: {} }],
    nodes: nodes.map((node, index) => ({
      name: `node-${index}`,
      labels: { [Labels.zone]: node.zone, [Labels.hostname]: `node-${index}` },
      taints: [],
      free: parseResources({ cpu: `${node.millicores}m`, memory: `${node.mebibytes}Mi`, pods: node.pods }),
      pods: [],
      initialized: true,
    })),
    daemons: [],
  };
}

describe('cost', () => {
  it('is never above plain first-fit-decreasing, and never below the bound', { timeout: 300_000 }, () => {
    fc.assert(
      fc.property(
        fc.array(workload, { minLength: 1, maxLength: 12 }),
        fc.array(machine, { minLength: 1, maxLength: 8 }),
        fc.array(running, { maxLength: 4 }),
        limits,
        fc.constantFrom(0, 30),
        (workloads, machines, nodes, limit, searchRounds) => {
          const types = machines.map(({ cpu, memory, price }, at) => testType(`t${at}`, cpu, memory, price, ZONES));
          types.push(testType('safe', 8, 16, 1.5, ZONES));
          const pods = workloads.flatMap(({ replicas, ...shape }, index) =>
            Array.from({ length: replicas }, (_, replica): PlainPod => ({
              ...shape,
              name: `w${index}-${replica}`,
              app: `w${index}`,
            })),
          );
          const solution = solve(problemOf(pods, types, nodes, limit), { searchRounds });
          expect(solution.lowerBound.pricePerHour).toBeLessThanOrEqual(solution.pricePerHour + 1e-9);
          const parts = solution.lowerBound.gap.map(({ pricePerHour }) => pricePerHour);
          expect(Math.min(0, ...parts)).toBe(0);
          const gap = solution.pricePerHour - solution.lowerBound.pricePerHour;
          expect(parts.reduce((sum, part) => sum + part, 0)).toBeCloseTo(gap, 6);
          const blind = firstFitReference(pods, types, ZONES, nodes, limit);
          // When the limits do not suffice for all pods, plans place different pods and cannot be compared.
          if (blind.waiting > 0) return;
          expect(solution.unplaced).toEqual([]);
          expect(solution.pricePerHour).toBeLessThanOrEqual(blind.price + 1e-9);
        },
      ),
      { numRuns: Number(process.env['NODEWRIGHT_PROPERTY_RUNS'] ?? 250) },
    );
  });

  it('adds up the parts of the gap to the gap', () => {
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

describe('coveringDuals', () => {
  it('never values a type above its price, and buys enough of everything', () => {
    const amounts = fc.integer({ min: 0, max: 1000 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(amounts, amounts, fc.integer({ min: 1, max: 500 })), { minLength: 1, maxLength: 12 }),
        fc.tuple(amounts, amounts),
        (types, need) => {
          const supply = Float64Array.from(types.flatMap(([first, second]) => [first, second]));
          const price = Float64Array.from(types, ([, , each]) => each);
          const { duals, bound, purchase } = coveringDuals({
            demand: Float64Array.from(need),
            supply: new Rows(2, supply),
            price,
          });
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
