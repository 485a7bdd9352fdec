import { beforeEach, expect, it } from 'vitest';
import type { Pod } from '../api/kinds.ts';
import { PaperCluster } from '../../test/fixtures/disruption/paperCluster.ts';
import { testType } from '../../test/fixtures/solver/randomCluster.ts';
import { emptiness } from './emptiness.ts';
import type { Decision } from './method.ts';

let paper: PaperCluster;
beforeEach(() => {
  paper = new PaperCluster();
});

const pod = (name: string, extra: Partial<Pod['metadata']> = {}): Pod => ({
  metadata: { name, namespace: 'default', uid: name, ...extra },
  spec: { containers: [{ name: 'main', resources: { requests: { cpu: '1', memory: '1Gi' } } }] },
});
const types = [testType('small', 2, 4, 0.1), testType('large', 8, 16, 0.4)];
const gone = ({ commands }: Decision): string[][] =>
  commands.map(({ candidates }) => candidates.map(({ view }) => view.name));
const causeOf = ({ kept }: Decision, node: string): string | undefined =>
  kept.find((each) => each.node === node)?.cause.kind;

it('deletes nodes without pods in one command and says why the others stay', () => {
  paper.addPool(types);
  paper.addNode({ name: 'a', type: 'small' });
  paper.addNode({ name: 'b', type: 'large' });
  paper.addNode({ name: 'busy', type: 'small', pods: [pod('p')] });
  paper.addNode({ name: 'young', type: 'small', consolidatable: false });
  const decision = paper.decide(emptiness);
  expect(gone(decision)).toEqual([['a', 'b']]);
  expect(decision.commands[0]).toMatchObject({ replacements: [], savingsPerHour: 0.5, evictions: 0 });
  expect(causeOf(decision, 'busy')).toBe('not-empty');
  expect(causeOf(decision, 'young')).toBe('too-young');
});

it('takes the dearest first when the budget is short', () => {
  paper.addPool(types, {
    disruption: { consolidateAfter: '0s', consolidationPolicy: 'WhenEmpty', budgets: [{ nodes: '1' }] },
  });
  paper.addNode({ name: 'a', type: 'small' });
  paper.addNode({ name: 'b', type: 'large' });
  const decision = paper.decide(emptiness);
  expect(gone(decision)).toEqual([['b']]);
  expect(decision.kept).toEqual([
    {
      node: 'a',
      nodeClaim: 'a',
      nodePool: 'default',
      cause: { kind: 'budget', reason: 'Empty', allowed: 1, window: false },
    },
  ]);
});

it('never strands a pod that counts for nothing', () => {
  paper.addPool([testType('small', 2, 4, 0.1)], { limits: { cpu: '4' } });
  const worthless = { annotations: { 'controller.kubernetes.io/pod-deletion-cost': '-2147483648' } };
  paper.addNode({ name: 'a', type: 'small', pods: [pod('p', worthless)] });
  expect(gone(paper.decide(emptiness))).toEqual([]);
  paper.addNode({ name: 'b', type: 'small', consolidatable: false });
  expect(gone(paper.decide(emptiness))).toEqual([['a']]);
});

it('keeps the room of pods that wait for it', () => {
  paper.addPool(types);
  paper.addNode({ name: 'a', type: 'small' });
  paper.cluster.setPod({
    ...pod('waiting'),
    status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] },
  });
  const decision = paper.decide(emptiness);
  expect(gone(decision)).toEqual([]);
  expect(causeOf(decision, 'a')).toBe('buffer-pods');
});

it.each(['Never'])('leaves pools alone whose consolidateAfter is %s', (consolidateAfter) => {
  paper.addPool(types, { disruption: { consolidateAfter, consolidationPolicy: 'WhenEmpty', budgets: [] } });
  paper.addNode({ name: 'a', type: 'small' });
  expect(causeOf(paper.decide(emptiness), 'a')).toBe('consolidation-disabled');
});
