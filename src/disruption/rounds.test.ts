import { expect, it } from 'vitest';
import type { NodePool } from '../api/kinds/nodePool.ts';
import { Labels } from '../api/labels.ts';
import { SeededRandom } from '../clock/seededRandom.ts';
import { PaperCluster } from '../../test/fixtures/disruption/paperCluster.ts';
import { paperPod } from '../../test/fixtures/disruption/paperPods.ts';
import { testType } from '../../test/fixtures/solver/testObjects.ts';
import { candidatesFor, MOST_PODS, type Decision, type Pass } from './method.ts';
import { multiNode } from './multiNode.ts';

const TYPES = [testType('large', 8, 16, 0.4)];

type CapacityType = 'on-demand' | 'spot';

const templateOf = (capacityType: CapacityType): NodePool['spec']['template'] => ({
  spec: {
    nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' },
    requirements: [{ key: Labels.capacityType, operator: 'In', values: [capacityType] }],
    expireAfter: 'Never',
  },
});

/** Nodes with a few small pods each: most of them can be removed. */
function halfEmpty(seed: string, nodes: string, count = 14, capacityType: CapacityType = 'on-demand'): PaperCluster {
  const paper = new PaperCluster();
  const random = new SeededRandom(seed);
  paper.addPool(TYPES, {
    template: templateOf(capacityType),
    disruption: { consolidateAfter: '0s', consolidationPolicy: 'WhenEmptyOrUnderutilized', budgets: [{ nodes }] },
  });
  for (let at = 0; at < count; at++) {
    const pods = Array.from({ length: 1 + Math.floor(random.next() * 4) }, (_, own) =>
      paperPod(`p-${at}-${own}`, { cpu: `${300 + Math.floor(random.next() * 900)}m` }),
    );
    paper.addNode({ name: `n-${String(at).padStart(2, '0')}`, type: 'large', capacityType, pods });
  }
  return paper;
}

const goingOf = ({ commands }: Decision): readonly string[] =>
  commands.flatMap(({ candidates }) => candidates.map(({ view }) => view.name));

it.each(['a', 'b', 'c', 'd'])('moves no pod to a node that is removed in a later round: %s', (seed) => {
  const all = goingOf(halfEmpty(seed, '100%').decide(multiNode));
  const first = halfEmpty(seed, '2').decide(multiNode);
  expect(all.length).toBeGreaterThan(2);
  expect(all).toEqual(expect.arrayContaining([...goingOf(first)]));
  const destinations = first.commands.flatMap(({ onExisting }) => onExisting.map(({ node }) => node));
  expect(destinations.filter((node) => all.includes(node))).toEqual([]);
});

it('keeps to the budget', () => {
  const going = goingOf(halfEmpty('a', '3').decide(multiNode));
  expect(going.length).toBeGreaterThan(0);
  expect(going.length).toBeLessThanOrEqual(3);
});

it.each([
  ['10%', 'on-demand'],
  ['100%', 'spot'],
] as const)('limits the pods per question in a large cluster: budget %s, %s', (budget, capacityType) => {
  const { pass } = halfEmpty('a', budget, 600, capacityType).pass();
  const asked: number[] = [];
  const counted: Pass = {
    ...pass,
    whatIf: (question) => {
      asked.push(question.without.reduce((sum, { movable }) => sum + movable.length, 0));
      return pass.whatIf(question);
    },
  };
  const work = multiNode.decide(candidatesFor(multiNode, counted).candidates, counted);
  while (work.next().done !== true);
  expect(pass.candidates.reduce((sum, { movable }) => sum + movable.length, 0)).toBeGreaterThan(MOST_PODS);
  expect(asked.length).toBeGreaterThan(0);
  expect(Math.max(...asked)).toBeLessThanOrEqual(MOST_PODS);
});
