import { expect, it } from 'vitest';
import { testPod, testPool, testType } from '../../test/fixtures/solver/testObjects.ts';
import { parseResources } from '../units/resources.ts';
import type { ExistingNode } from './problem.ts';
import { solve } from './solve.ts';

const PAIRS = 190;
const onDemand = {
  requirements: [{ key: 'karpenter.sh/capacity-type', operator: 'In' as const, values: ['on-demand'] }],
};

function roomyNode(at: number): ExistingNode {
  const free = parseResources({ cpu: '4', memory: '16Gi', pods: 8 });
  return { name: `node-${at}`, labels: {}, taints: [], free, pods: [], initialized: true };
}

/** Half of the nodes can hold the pods of either kind; too many pods for first-fit plans in other orders. */
function planned([bulky, slim]: readonly [cpu: string, memory: string][], priority = 0) {
  const pods = Array.from({ length: PAIRS }, (_, at) => [
    testPod(`bulky-${at}`, ...(bulky ?? ['0', '0'])),
    testPod(`slim-${at}`, ...(slim ?? ['0', '0']), { priority }),
  ]).flat();
  const nodes = Array.from({ length: PAIRS / 2 }, (_, at) => roomyNode(at));
  const instanceTypes = [testType('lean', 4, 4, 0.1), testType('fat', 4, 64, 0.3)];
  return solve({ pods, nodes, daemons: [], pools: [{ pool: testPool('default', onDemand), instanceTypes, used: {} }] });
}

const typesOf = ({ plannedNodes }: ReturnType<typeof planned>): Set<string> =>
  new Set(plannedNodes.map(({ alternatives }) => alternatives[0]?.instanceType ?? ''));

it('gives existing room to pods that would need expensive nodes', () => {
  const solution = planned([
    ['1900m', '7Gi'],
    ['1950m', '1Gi'],
  ]);
  expect(solution.unplaced).toEqual([]);
  expect(solution.onExisting.flatMap(({ pods }) => pods).every((pod) => pod.includes('bulky'))).toBe(true);
  expect(typesOf(solution)).toEqual(new Set(['lean']));
});

it('does not give it to pods of lower priority', () => {
  const solution = planned(
    [
      ['1900m', '7Gi'],
      ['1950m', '1Gi'],
    ],
    1,
  );
  expect(solution.onExisting.flatMap(({ pods }) => pods).every((pod) => pod.includes('slim'))).toBe(true);
});
