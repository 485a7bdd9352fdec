import { describe, expect, it } from 'vitest';
import { Labels } from '../api/labels.ts';
import type { InstanceType } from '../cloud/instanceType.ts';
import { Requirement } from '../constraints/requirement.ts';
import { Requirements } from '../constraints/requirements.ts';
import type { Problem } from './problem.ts';
import { testPod, testPool, testType } from '../../test/fixtures/solver/testObjects.ts';
import { solve } from './solve.ts';

function reserved(name: string, price: number, left: number, cpu = 2): InstanceType {
  const type = testType(name, cpu, 4 * cpu, price, ['z1']);
  const requirements = Requirements.of(
    Requirement.of(Labels.zone, 'In', ['z1']),
    Requirement.of(Labels.capacityType, 'In', ['reserved']),
  );
  return {
    ...type,
    requirements: type.requirements.replace(Requirement.of(Labels.capacityType, 'In', ['on-demand', 'reserved'])),
    offerings: [
      ...type.offerings.filter(({ capacityType }) => capacityType === 'on-demand'),
      { requirements, zone: 'z1', capacityType: 'reserved', price: 0.001, available: true, reservationCapacity: left },
    ],
  };
}

const problem = (left: number, spec: object = {}): Problem => ({
  pods: [0, 1, 2].map((index) => testPod(`p${index}`, '1500m', '1Gi', spec)),
  pools: [{ pool: testPool('default'), instanceTypes: [reserved('r2', 0.1, left)], used: {} }],
  nodes: [],
  daemons: [],
});
const kinds = ({ plannedNodes }: ReturnType<typeof solve>): string[] =>
  plannedNodes.map(({ alternatives }) => alternatives[0]!.capacityType).sort();

describe('reservations', () => {
  it('are waited for when this plan uses them up, and not replaced at a higher price', () => {
    const solution = solve(problem(2));
    expect(kinds(solution)).toEqual(['reserved', 'reserved']);
    expect(solution.unplaced.map(({ reason }) => reason)).toEqual([
      { kind: 'reservation', pool: 'default', reservations: ['r2/z1'] },
    ]);
  });

  it('are not waited for when nothing was left before the plan', () => {
    const solution = solve(problem(0));
    expect(kinds(solution)).toEqual(['on-demand', 'on-demand', 'on-demand']);
    expect(solution.unplaced).toEqual([]);
  });

  it('are used up, and the rest is bought, with the policy Fallback', () => {
    const solution = solve(problem(2), { reservedCapacity: 'Fallback' });
    expect(kinds(solution)).toEqual(['on-demand', 'reserved', 'reserved']);
    expect(solution.pricePerHour).toBeCloseTo(0.102);
    const node = solution.plannedNodes.find(({ alternatives }) => alternatives[0]?.capacityType === 'reserved');
    expect(node?.requirements).toContainEqual({ key: Labels.capacityType, operator: 'In', values: ['reserved'] });
  });

  it('are filled before anything is bought, even if smaller nodes would be cheaper', () => {
    const pods = Array.from({ length: 10 }, (_, index) => testPod(`p${index}`, '1500m', '1Gi'));
    const instanceTypes = [testType('small', 2, 8, 0.05, ['z1']), reserved('large', 4, 1, 16)];
    const pools = [{ pool: testPool('default'), instanceTypes, used: {} }];
    const solution = solve({ pods, pools, nodes: [], daemons: [] }, { reservedCapacity: 'Fallback' });
    const [large, ...others] = solution.plannedNodes.toSorted((left, right) => right.pods.length - left.pods.length);
    expect(large?.alternatives[0]?.capacityType).toBe('reserved');
    expect(large?.pods).toHaveLength(8);
    expect(others.map(({ alternatives }) => alternatives[0]?.instanceType)).toEqual(['small', 'small']);
    expect(solution.pricePerHour).toBeCloseTo(0.041);
  });

  it('are never promised twice to pods without alternatives', () => {
    const solution = solve(problem(1, { nodeSelector: { [Labels.capacityType]: 'reserved' } }));
    expect(kinds(solution)).toEqual(['reserved']);
    expect(solution.unplaced).toHaveLength(2);
  });

  it('are shared by pools that sell the same', () => {
    const { pools, ...rest } = problem(1);
    const [offer] = pools;
    const separate = (name: string) => ({
      ...testPod(name, '1500m', '1Gi', { nodeSelector: { [Labels.nodePool]: name } }),
    });
    const asked = {
      ...rest,
      pods: [separate('one'), separate('two')],
      pools: ['one', 'two'].map((name) => ({ ...offer!, pool: testPool(name) })),
    };
    const solution = solve(asked, { reservedCapacity: 'Fallback' });
    expect(kinds(solution)).toEqual(['on-demand', 'reserved']);
  });

  it('are not used by nodes whose minValues require a choice', () => {
    const { pools, ...rest } = problem(3);
    const types = [...pools[0]!.instanceTypes, testType('other', 2, 8, 0.2, ['z1'])];
    const pool = testPool('default');
    pool.spec.template.spec.requirements.push({ key: Labels.instanceType, operator: 'Exists', minValues: 2 });
    const solution = solve({ ...rest, pools: [{ pool, instanceTypes: types, used: {} }] });
    expect(solution.plannedNodes).toHaveLength(3);
    expect(kinds(solution)).not.toContain('reserved');
  });
});
