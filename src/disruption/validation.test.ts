import { beforeEach, expect, it } from 'vitest';
import { PaperCluster } from '../../test/fixtures/disruption/paperCluster.ts';
import { commandsText, paperPod } from '../../test/fixtures/disruption/paperPods.ts';
import { testType } from '../../test/fixtures/solver/randomCluster.ts';
import { emptiness } from './emptiness.ts';
import type { Method } from './method.ts';
import { singleNode } from './singleNode.ts';
import { validate, type Validation } from './validation.ts';

let paper: PaperCluster;
beforeEach(() => {
  paper = new PaperCluster();
  paper.addPool([testType('small', 2, 4, 0.1), testType('large', 8, 16, 0.4)], {
    limits: { cpu: '4' },
    disruption: { consolidateAfter: '0s', consolidationPolicy: 'WhenEmptyOrUnderutilized', budgets: [{ nodes: '3' }] },
  });
});

/** Decides, lets something happen, and looks again. */
function afterwards(method: Method, happens: () => void): Validation {
  const { commands } = paper.decide(method);
  expect(commands).not.toEqual([]);
  happens();
  return validate(commands, method, paper.pass().pass);
}

const reasons = ({ rejected }: Validation): string[] => rejected.map(({ reason }) => reason);
const text = (validation: Validation): string[] =>
  commandsText({ ...validation, kept: [], coverage: { evaluated: 0, of: 0 } });

it('leaves nodes out that are no longer empty', () => {
  paper.addNode({ name: 'a', type: 'small' });
  paper.addNode({ name: 'b', type: 'small' });
  const some = afterwards(emptiness, () => paper.bind(paperPod('p'), 'a'));
  expect(text(some)).toEqual(['b']);
  expect(reasons(afterwards(emptiness, () => paper.bind(paperPod('q'), 'b')))).toEqual(['churn']);
});

it('rejects a deletion that budgets do not allow any more', () => {
  for (const name of ['a', 'b', 'c', 'd', 'e']) paper.addNode({ name, type: 'small' });
  const result = afterwards(emptiness, () => {
    for (const name of ['d', 'e']) paper.cluster.markForDeletion(name);
  });
  expect(text(result)).toEqual(['a']);
});

it('rejects a move whose pods have lost their room', () => {
  paper.addNode({ name: 'a', type: 'small', pods: [paperPod('p')] });
  paper.addNode({ name: 'b', type: 'small', pods: [], consolidatable: false });
  const result = afterwards(singleNode, () => paper.bind(paperPod('q', { cpu: '1500m' }), 'b'));
  expect(reasons(result)).toEqual(['scheduling']);
  expect(result.rejected[0]?.cause).toBeDefined();
});

it('rejects a move of a node that is gone, and plans what still holds anew', () => {
  paper.addNode({ name: 'a', type: 'small', pods: [paperPod('p', { cpu: '500m' })] });
  paper.addNode({ name: 'b', type: 'large', consolidatable: false });
  const anew = afterwards(singleNode, () => paper.bind(paperPod('q', { cpu: '500m' }), 'a'));
  expect(anew.commands[0]).toMatchObject({ evictions: 2, onExisting: [{ node: 'b' }] });
  expect(reasons(afterwards(singleNode, () => paper.removeNode('a')))).toEqual(['churn']);
});
