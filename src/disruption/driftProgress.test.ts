import { expect, it } from 'vitest';
import { PaperCluster } from '../../test/fixtures/disruption/paperCluster.ts';
import { paperPod } from '../../test/fixtures/disruption/paperPods.ts';
import { testType } from '../../test/fixtures/solver/testObjects.ts';
import { drift } from './drift.ts';
import { driftProgress } from './driftProgress.ts';

const MINUTE = 60_000;
const types = [testType('small', 2, 4, 0.1, ['z1'])];

function paperOf(budgets: readonly object[], nodes = 4): PaperCluster {
  const paper = new PaperCluster();
  paper.addPool(types, {
    disruption: { consolidateAfter: 'Never', consolidationPolicy: 'WhenEmpty', budgets: budgets as [] },
  });
  for (let at = 0; at < nodes; at++) {
    paper.addNode({ name: `n${at}`, type: 'small', driftedFor: 1, pods: [paperPod(`p${at}`)] });
  }
  return paper;
}

const progressOf = (paper: PaperCluster, waveTime?: number) =>
  driftProgress(paper.pass().pass, paper.decide(drift).kept, waveTime)[0];

it('reports how many nodes are left, what blocks them, and when the last wave ends', () => {
  const paper = paperOf([{ nodes: '2' }]);
  paper.cluster.markForDeletion('n0');
  const { now } = paper.pass().pass;
  expect(progressOf(paper, MINUTE)).toMatchObject({
    nodePool: 'default',
    drifted: 4,
    underWay: 1,
    allowed: 2,
    blocker: { cause: { kind: 'budget' }, nodes: 2 },
    expectedEnd: now + 2 * MINUTE,
  });
  expect(progressOf(paper)?.expectedEnd).toBeUndefined();
});

it('ignores times in which budgets allow nothing', () => {
  const paper = paperOf([{ nodes: '0', schedule: '0 * * * *', duration: '30m' }, { nodes: '1' }]);
  const { now } = paper.pass().pass;
  const opens = Math.floor(now / (60 * MINUTE)) * 60 * MINUTE + 30 * MINUTE;
  expect(progressOf(paper, 10 * MINUTE)?.expectedEnd).toBe(opens + 60 * MINUTE + 10 * MINUTE);
});

it('reports nothing for pools without drift', () => {
  expect(progressOf(paperOf([{ nodes: '1' }], 0))).toBeUndefined();
});

it('ignores causes that only block consolidation', () => {
  const { pass } = paperOf([{ nodes: '2' }]).pass();
  const budget = { kind: 'budget', reason: 'Underutilized', allowed: 0, window: false } as const;
  const kept = ['n0', 'n1'].map((nodeClaim) => ({ node: nodeClaim, nodeClaim, nodePool: 'default', cause: budget }));
  expect(driftProgress(pass, kept, undefined)[0]?.blocker).toBeUndefined();
  const drifted = kept.map((each) => ({ ...each, cause: { ...budget, reason: 'Drifted' as const } }));
  expect(driftProgress(pass, [...drifted, ...kept], undefined)[0]?.blocker).toMatchObject({
    cause: { reason: 'Drifted' },
    nodes: 2,
  });
});
