import { beforeEach, expect, it } from 'vitest';
import { PaperCluster } from '../../test/fixtures/disruption/paperCluster.ts';
import { causeOf, commandsText, paperPod, UNSCHEDULABLE } from '../../test/fixtures/disruption/paperPods.ts';
import { testType } from '../../test/fixtures/solver/testObjects.ts';
import { emptiness } from './emptiness.ts';

let paper: PaperCluster;
beforeEach(() => {
  paper = new PaperCluster();
});

const types = [testType('small', 2, 4, 0.1), testType('large', 8, 16, 0.4)];

it('deletes nodes without pods in one command and reports why the others stay', () => {
  paper.addPool(types);
  paper.addNode({ name: 'a', type: 'small' });
  paper.addNode({ name: 'b', type: 'large' });
  paper.addNode({ name: 'busy', type: 'small', pods: [paperPod('p')] });
  paper.addNode({ name: 'young', type: 'small', consolidatable: false });
  const decision = paper.decide(emptiness);
  expect(commandsText(decision)).toEqual(['a b']);
  expect(decision.commands[0]).toMatchObject({ replacements: [], savingsPerHour: 0.5, evictions: 0 });
  expect(causeOf(decision, 'busy')).toEqual({ kind: 'not-empty' });
  expect(causeOf(decision, 'young')).toEqual({ kind: 'too-young', consolidateAfter: '0s' });
});

it('takes the most expensive first when the budget is short', () => {
  paper.addPool(types, {
    disruption: { consolidateAfter: '0s', consolidationPolicy: 'WhenEmpty', budgets: [{ nodes: '1' }] },
  });
  paper.addNode({ name: 'a', type: 'small' });
  paper.addNode({ name: 'b', type: 'large' });
  const decision = paper.decide(emptiness);
  expect(commandsText(decision)).toEqual(['b']);
  expect(decision.kept).toEqual([
    {
      node: 'a',
      nodeClaim: 'a',
      nodePool: 'default',
      cause: { kind: 'budget', reason: 'Empty', allowed: 1, window: false },
    },
  ]);
});

it('never strands a pod with disruption cost zero', () => {
  paper.addPool([testType('small', 2, 4, 0.1)], { limits: { cpu: '4' } });
  const annotations = { 'controller.kubernetes.io/pod-deletion-cost': '-2147483648' };
  paper.addNode({ name: 'a', type: 'small', pods: [paperPod('p', { annotations })] });
  expect(commandsText(paper.decide(emptiness))).toEqual([]);
  paper.addNode({ name: 'b', type: 'small', consolidatable: false });
  const decision = paper.decide(emptiness);
  expect(commandsText(decision)).toEqual(['a']);
  expect(decision.commands[0]?.onExisting).toEqual([{ node: 'b', pods: ['default/p'] }]);
});

it('keeps room for pods that wait for it', () => {
  paper.addPool(types);
  paper.addNode({ name: 'a', type: 'small' });
  paper.cluster.setPod({ ...paperPod('waiting'), status: UNSCHEDULABLE });
  const decision = paper.decide(emptiness);
  expect(commandsText(decision)).toEqual([]);
  expect(causeOf(decision, 'a')).toEqual({ kind: 'buffer-pods' });
});

it('ignores pools whose consolidateAfter is Never, and static ones', () => {
  const disruption = { consolidateAfter: 'Never', consolidationPolicy: 'WhenEmpty', budgets: [] } as const;
  paper.addPool(types, { disruption: { ...disruption, budgets: [] } });
  paper.addPool(types, { name: 'static', replicas: 1 });
  paper.addNode({ name: 'a', type: 'small' });
  paper.addNode({ name: 'b', type: 'small', pool: 'static' });
  const decision = paper.decide(emptiness);
  expect(causeOf(decision, 'a')).toEqual({ kind: 'consolidation-disabled' });
  expect(causeOf(decision, 'b')).toEqual({ kind: 'static-pool' });
});
