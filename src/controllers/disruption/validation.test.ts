import { beforeEach, expect, it } from 'vitest';
import { finish, PaperCluster } from '../../../test/fixtures/disruption/paperCluster.ts';
import { paperPod } from '../../../test/fixtures/disruption/paperPods.ts';
import { testType } from '../../../test/fixtures/solver/testObjects.ts';
import { Labels } from '../../api/labels.ts';
import type { Command } from '../../disruption/command.ts';
import type { Pass } from '../../disruption/method.ts';
import { multiNode } from '../../disruption/multiNode.ts';
import { validate } from './validation.ts';

const NODES = 24;

let paper: PaperCluster;
let commands: readonly Command[];

function addPool(nodes: string): void {
  const types = [testType('large', 8, 16, 0.4)];
  const { template } = paper.addPool(types).spec;
  const requirements = [{ key: Labels.capacityType, operator: 'In' as const, values: ['on-demand'] }];
  paper.addPool(types, {
    disruption: {
      consolidateAfter: '0s',
      consolidationPolicy: 'WhenEmptyOrUnderutilized',
      budgets: [{ nodes }],
    },
    template: { ...template, spec: { ...template.spec, requirements } },
  });
}

beforeEach(() => {
  paper = new PaperCluster();
  addPool('100%');
  for (let at = 0; at < NODES; at++) {
    paper.addNode({ name: `n-${String(at).padStart(2, '0')}`, type: 'large', pods: [paperPod(`p-${at}`)] });
  }
  ({ commands } = paper.decide(multiNode));
});

interface Asked {
  readonly pass: Pass;
  /** Nodes per what-if. */
  readonly questions: number[];
}

function counted(): Asked {
  const { pass } = paper.pass();
  const questions: number[] = [];
  const whatIf: Pass['whatIf'] = (question) => {
    questions.push(question.without.length);
    return pass.whatIf(question);
  };
  return { pass: { ...pass, whatIf }, questions };
}

const nodesOf = (all: readonly Command[]): readonly string[] =>
  all.flatMap(({ candidates }) => candidates.map(({ view }) => view.name));

it('asks once when all decisions are still valid', () => {
  expect(commands.length).toBeGreaterThan(NODES / 2);
  const { pass, questions } = counted();
  const { valid, rejected, dropped } = finish(validate(multiNode, commands, pass, false));
  expect(nodesOf(valid)).toEqual(nodesOf(commands));
  expect([rejected, dropped]).toEqual([[], 0]);
  expect(questions).toEqual([nodesOf(commands).length]);
});

it('rejects only the decision whose pod no longer fits, in few what-ifs that each yield', () => {
  const [gone = ''] = nodesOf(commands.slice(3, 4));
  const bound = { spec: { nodeSelector: { 'kubernetes.io/hostname': gone } } };
  paper.bind(paperPod(`p-${Number(gone.slice(2))}`, bound), gone);
  const { pass, questions } = counted();
  const work = validate(multiNode, commands, pass, false);
  let yields = 0;
  let step = work.next();
  for (; step.done !== true; step = work.next()) expect(questions).toHaveLength(++yields);
  expect(nodesOf(step.value.valid)).toEqual(nodesOf(commands).filter((name) => name !== gone));
  expect(step.value.rejected.map(({ command, reason }) => [nodesOf([command]), reason])).toEqual([
    [[gone], 'scheduling'],
  ]);
  expect(step.value.dropped).toBe(1);
  expect(questions.length).toBeLessThanOrEqual(1 + 2 * Math.ceil(Math.log2(commands.length)));
});

it('keeps to a budget that has become smaller', () => {
  addPool('2');
  const { valid, rejected } = finish(validate(multiNode, commands, paper.pass().pass, false));
  expect(nodesOf(valid)).toHaveLength(2);
  expect(new Set(rejected.map(({ reason }) => reason))).toEqual(new Set(['budget']));
});
