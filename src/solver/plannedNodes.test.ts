import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyProblem } from '../../test/fixtures/solver/randomCluster.ts';
import { testPod, testPool, testType } from '../../test/fixtures/solver/testObjects.ts';
import { Labels } from '../api/labels.ts';
import type { Problem } from './problem.ts';
import { solve } from './solve.ts';

/** Values that are not JSON, by path. */
function foreign(value: unknown, path = ''): string[] {
  if (value === undefined || value === null || typeof value === 'string' || typeof value === 'boolean') return [];
  if (typeof value === 'number') return Number.isFinite(value) ? [] : [`${path}: ${value}`];
  if (typeof value !== 'object') return [`${path}: ${typeof value}`];
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== Array.prototype) return [`${path}: ${value.constructor.name}`];
  return Object.entries(value).flatMap(([key, each]) => foreign(each, `${path}.${key}`));
}

const problem = (parts: Partial<Problem>): Problem => ({
  pods: [],
  pools: [
    { pool: testPool('default'), instanceTypes: [testType('a2', 2, 8, 0.1), testType('a4', 4, 16, 0.2)], used: {} },
  ],
  nodes: [],
  daemons: [],
  ...parts,
});

describe('a solution', () => {
  it('is plain data that JSON keeps', { timeout: 120_000 }, () => {
    fc.assert(
      fc.property(anyProblem, (asked) => {
        const solution = solve(asked, { searchRounds: 0 });
        expect(foreign(solution)).toEqual([]);
        expect(JSON.parse(JSON.stringify(solution))).toEqual(solution);
      }),
      { numRuns: 200 },
    );
  });

  it('names pods, pool and instance types, and gives requests as quantities', () => {
    const daemons = [testPod('agent', '100m', '64Mi')];
    const [node] = solve(
      problem({ pods: [testPod('a', '1', '1Gi'), testPod('b', '500m', '1Gi')], daemons }),
    ).plannedNodes;
    expect(node).toMatchObject({
      pool: 'default',
      pods: ['default/a', 'default/b'],
      requests: { cpu: '1600m', memory: '2112Mi', pods: '3' },
    });
    expect(node?.requirements).toContainEqual({ key: Labels.nodePool, operator: 'In', values: ['default'] });
  });
});

describe('alternatives', () => {
  const large = Array.from({ length: 12 }, (_, at) => testPod(`p${at}`, `${1100 + at}m`, '1Gi'));

  it('are one list for nodes with different loads that fit the same instance types', () => {
    const { plannedNodes } = solve(problem({ pods: large }), { maxPodsSharePerNode: 0.01 });
    expect(new Set(plannedNodes.map(({ requests }) => requests['cpu'])).size).toBe(12);
    const lists = new Set(plannedNodes.map(({ alternatives }) => alternatives));
    // One for each preferred zone.
    const zones = new Set(plannedNodes.map((node) => node.alternatives[0]?.zone));
    expect(lists.size).toBe(zones.size);
  });

  it('come cheapest first, and at equal prices in the zone with fewest planned nodes', () => {
    const { plannedNodes } = solve(problem({ pods: large.slice(0, 2) }), { maxPodsSharePerNode: 0.01 });
    const [first, second] = plannedNodes;
    expect(first?.alternatives[0]?.zone).not.toBe(second?.alternatives[0]?.zone);
    for (const { alternatives } of plannedNodes) {
      const prices = alternatives.map(({ pricePerHour }) => pricePerHour);
      expect(prices).toEqual(prices.toSorted((left, right) => left - right));
    }
  });

  it('are of at most 600 instance types, the cheapest', () => {
    const instanceTypes = Array.from({ length: 650 }, (_, at) => testType(`t${at}`, 2, 8, 0.1 + at / 1000));
    const pools = [{ pool: testPool('default'), instanceTypes, used: {} }];
    const [node] = solve(problem({ pods: [testPod('a', '1', '1Gi')], pools })).plannedNodes;
    const names = new Set(node?.alternatives.map(({ instanceType }) => instanceType));
    expect(names.size).toBe(600);
    expect(names.has('t649')).toBe(false);
  });
});
