import { expect, it } from 'vitest';
import { PaperCluster } from '../../test/fixtures/disruption/paperCluster.ts';
import { paperPod } from '../../test/fixtures/disruption/paperPods.ts';
import { testType } from '../../test/fixtures/solver/testObjects.ts';
import { savingsBacklog } from './backlog.ts';
import { singleNode } from './singleNode.ts';

const types = [testType('small', 2, 4, 0.1, ['z1']), testType('large', 8, 16, 0.4, ['z1'])];

const template = {
  spec: {
    nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' },
    requirements: [{ key: 'karpenter.sh/capacity-type', operator: 'In' as const, values: ['on-demand'] }],
    expireAfter: 'Never',
  },
};
const disruption = { consolidateAfter: '0s', consolidationPolicy: 'WhenEmptyOrUnderutilized' } as const;

it('says what holds how many dollars', () => {
  const paper = new PaperCluster();
  paper.addPool(types, { template, disruption: { ...disruption, budgets: [{ nodes: '100%' }] } });
  paper.addPool(types, {
    name: 'closed',
    template,
    disruption: { ...disruption, budgets: [{ nodes: '0', schedule: '@daily', duration: '24h' }] },
  });
  const shield = { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } };
  paper.addNode({ name: 'a', type: 'large', pods: [paperPod('p', shield)] });
  paper.addNode({ name: 'b', type: 'large', pods: [paperPod('q'), paperPod('r')], pool: 'closed' });
  paper.addNode({ name: 'c', type: 'small', pods: [paperPod('s', { cpu: '1900m', memory: '4Gi' })] });
  const backlog = savingsBacklog(paper.pass().pass, paper.decide(singleNode).kept);
  const summary = backlog.pools.map(({ pool, blockers }) => [
    pool,
    blockers.map(({ cause, nodes, example }) => [cause, nodes, example]),
  ]);
  expect(summary).toEqual([
    ['closed', [['window', 1, 'b']]],
    [
      'default',
      [
        ['do-not-disrupt', 1, 'a'],
        // Its pod fits beside that of the first: it is about to be removed.
        ['under-way', 1, 'c'],
      ],
    ],
  ]);
  expect(backlog.pricePerHour).toBeCloseTo(0.9);
  expect(backlog.leastPricePerHour + backlog.savingsPerHour).toBeCloseTo(0.9);
  const held = backlog.pools.flatMap(({ blockers }) => blockers.map(({ savingsPerHour }) => savingsPerHour));
  expect(held.reduce((sum, each) => sum + each, 0)).toBeCloseTo(backlog.savingsPerHour);
  expect(backlog.pools[0]?.savingsPerHour).toBeGreaterThan(0.25);
});

it('counts no savings on a node that is full of pods which may not leave it', () => {
  const paper = new PaperCluster();
  paper.addPool(types, { template, disruption: { ...disruption, budgets: [{ nodes: '100%' }] } });
  const shield = { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } };
  paper.addNode({ name: 'a', type: 'small', pods: [paperPod('p', { cpu: '2', memory: '4Gi', ...shield })] });
  const [before] = paper.pass().pass.candidates;
  expect(before?.movable).toEqual([]);
  const backlog = savingsBacklog(paper.pass().pass, paper.decide(singleNode).kept);
  expect(backlog.leastPricePerHour).toBeGreaterThan(0.8 * backlog.pricePerHour);
});
