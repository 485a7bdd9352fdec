import { beforeEach, expect, it } from 'vitest';
import { PaperCluster } from '../../test/fixtures/disruption/paperCluster.ts';
import { causeOf, commandsText, paperPod, UNSCHEDULABLE } from '../../test/fixtures/disruption/paperPods.ts';
import { testType } from '../../test/fixtures/solver/testObjects.ts';
import { Annotations, Labels } from '../api/labels.ts';
import { timestamp } from '../units/timestamp.ts';
import { drift } from './drift.ts';
import { staticDrift } from './staticDrift.ts';

let paper: PaperCluster;
beforeEach(() => {
  paper = new PaperCluster();
});

const types = [testType('small', 2, 4, 0.1), testType('large', 8, 16, 0.4)];
const budget = (nodes: string) =>
  ({ consolidateAfter: '0s', consolidationPolicy: 'WhenEmpty', budgets: [{ nodes }] }) as const;
const withBudget = (nodes: string) => ({ disruption: { ...budget(nodes), budgets: [{ nodes }] } });

it('replaces as many as the budget allows and packs their pods together', () => {
  paper.addPool(types, withBudget('3'));
  for (const name of ['a', 'b', 'c', 'd']) {
    paper.addNode({ name, type: 'large', driftedFor: 1, zone: 'z1', pods: [paperPod(name)] });
  }
  const decision = paper.decide(drift);
  const gone = decision.commands.flatMap(({ candidates }) => candidates.map(({ view }) => view.name));
  expect(gone.sort()).toEqual(['a', 'b', 'c']);
  const price = decision.commands
    .flatMap(({ replacements }) => replacements)
    .reduce((sum, each) => sum + (each.kind === 'planned' ? (each.plan.alternatives[0]?.pricePerHour ?? 0) : 0), 0);
  expect(price).toBeLessThan(0.4);
  expect(causeOf(decision, 'd')).toEqual({ kind: 'budget', reason: 'Drifted', allowed: 3, window: false });
});

it('yields after each what-if, also when nodes are planned one by one because packing them together costs more', () => {
  const { template } = paper.addPool(types).spec;
  const requirements = [{ key: Labels.capacityType, operator: 'In' as const, values: ['on-demand'] }];
  paper.addPool(types, { template: { ...template, spec: { ...template.spec, requirements } } });
  for (const name of ['a', 'b', 'c', 'd']) {
    paper.addNode({ name, type: 'small', capacityType: 'spot', driftedFor: 1, pods: [paperPod(name)] });
  }
  const { pass } = paper.pass();
  let asked = 0;
  const whatIf: typeof pass.whatIf = (question) => ((asked += 1), pass.whatIf(question));
  const work = drift.decide(pass.candidates, { ...pass, whatIf });
  let yields = 0;
  while (work.next().done !== true) expect(asked).toBe(++yields);
  expect(yields).toBeGreaterThan(4);
});

it('moves no pod to a node that has drifted too', () => {
  paper.addPool(types, withBudget('1'));
  for (const name of ['a', 'b']) paper.addNode({ name, type: 'large', driftedFor: 1, pods: [paperPod(name)] });
  const [command] = paper.decide(drift).commands;
  expect(command?.onExisting).toEqual([]);
  expect(command?.replacements).toHaveLength(1);
});

it('moves no pod to a node that has drifted and is not marked so yet', () => {
  const pool = paper.addPool(types);
  const stamps = (hash: string) => ({ [Annotations.nodePoolHash]: hash, [Annotations.nodePoolHashVersion]: 'v3' });
  pool.metadata.annotations = stamps('new');
  paper.addNode({ name: 'a', type: 'large', driftedFor: 1, claimAnnotations: stamps('old'), pods: [paperPod('p')] });
  paper.addNode({ name: 'b', type: 'large', claimAnnotations: stamps('old'), pods: [paperPod('q')] });
  expect(commandsText(paper.decide(drift))).toEqual(['a > small']);
});

it('uses room that others have, and needs no replacement for an empty node', () => {
  paper.addPool(types);
  paper.addNode({ name: 'a', type: 'small', driftedFor: 1, pods: [paperPod('p')] });
  paper.addNode({ name: 'b', type: 'large' });
  paper.addNode({ name: 'c', type: 'large', driftedFor: 1 });
  expect(commandsText(paper.decide(drift)).sort()).toEqual(['a', 'c']);
});

it('goes zone by zone, starting with the one in progress', () => {
  paper.addPool(types, withBudget('3'));
  for (const [name, zone] of [
    ['a', 'z1'],
    ['b', 'z2'],
    ['c', 'z1'],
    ['d', 'z2'],
    ['going', 'z2'],
  ] as const) {
    paper.addNode({ name, zone, type: 'small', driftedFor: 1, pods: [paperPod(name)] });
  }
  paper.cluster.markForDeletion('going');
  const gone = paper.decide(drift).commands.flatMap(({ candidates }) => candidates.map(({ view }) => view.name));
  expect(gone.sort()).toEqual(['b', 'd']);
});

it.each([
  [undefined, ['a', 'c']],
  ['2', ['a', 'b', 'c', 'd']],
  ['many', ['a', 'c']],
])('leaves other zones alone while one is in progress, unless the pool allows %s at once', (allowed, expected) => {
  const pool = paper.addPool(types, withBudget('100%'));
  if (allowed !== undefined) pool.metadata.annotations = { [Annotations.driftZonesAtOnce]: allowed };
  for (const [name, zone] of [
    ['a', 'z1'],
    ['b', 'z2'],
    ['c', 'z1'],
    ['d', 'z2'],
  ] as const) {
    paper.addNode({ name, zone, type: 'small', driftedFor: 1, pods: [paperPod(name)] });
  }
  paper.addNode({ name: 'empty', zone: 'z2', type: 'small', driftedFor: 1 });
  const decision = paper.decide(drift);
  const gone = decision.commands.flatMap(({ candidates }) => candidates.map(({ view }) => view.name));
  expect(gone.sort()).toEqual([...expected, 'empty']);
  const waiting = decision.kept.filter(({ cause }) => cause.kind === 'other-zone-first').map(({ node }) => node);
  expect(new Set([...gone, ...waiting])).toEqual(new Set(['a', 'b', 'c', 'd', 'empty']));
});

it.each([
  ['ReplicaSet', ['b']],
  ['StatefulSet', []],
])(
  'starts the next zone while pods of the first are terminating, where a %s has already replaced them',
  (kind, expected) => {
    paper.addPool(types, withBudget('100%'));
    const owner = { apiVersion: 'apps/v1', kind, name: 'web', uid: 'web', controller: true };
    const pod = paperPod('a');
    const ending = { ...pod.metadata, deletionTimestamp: timestamp(paper.now), ownerReferences: [owner] };
    paper.addNode({ name: 'a', zone: 'z1', type: 'small', driftedFor: 1, pods: [{ ...pod, metadata: ending }] });
    paper.addNode({ name: 'b', zone: 'z2', type: 'small', driftedFor: 1, pods: [paperPod('b')] });
    paper.cluster.markForDeletion('a');
    const gone = paper.decide(drift).commands.flatMap(({ candidates }) => candidates.map(({ view }) => view.name));
    expect(gone).toEqual(expected);
  },
);

it('a pod without another place blocks only its own node', () => {
  paper.addPool(types);
  const bound = paperPod('bound', { spec: { nodeSelector: { 'kubernetes.io/hostname': 'a' } } });
  paper.addNode({ name: 'a', type: 'small', driftedFor: 2, pods: [bound] });
  paper.addNode({ name: 'b', type: 'small', driftedFor: 1, pods: [paperPod('p')] });
  const decision = paper.decide(drift);
  expect(commandsText(decision)).toEqual(['b > small']);
  expect(causeOf(decision, 'a')).toMatchObject({ kind: 'would-strand', count: 1, pods: [{ pod: 'default/bound' }] });
});

it('an unschedulable pod blocks nothing', () => {
  paper.addPool(types);
  paper.addNode({ name: 'a', type: 'small', driftedFor: 2, pods: [paperPod('p')] });
  const impossible = paperPod('impossible', { cpu: '900' });
  paper.cluster.setPod({ ...impossible, status: UNSCHEDULABLE });
  expect(commandsText(paper.decide(drift))).toEqual(['a > small']);
});

it('pauses while replacements of the pool fail', () => {
  paper.addPool(types);
  paper.addNode({ name: 'a', type: 'small', driftedFor: 2, pods: [paperPod('p')] });
  const decision = paper.decide(drift, { pausedUntil: () => 5 });
  expect(commandsText(decision)).toEqual([]);
  expect(causeOf(decision, 'a')).toEqual({ kind: 'recent-launch-failure', until: 5 });
});

it('avoids offerings that failed recently while there is an alternative', () => {
  paper.addPool(types);
  paper.addNode({ name: 'a', type: 'small', driftedFor: 2, pods: [paperPod('p')] });
  const decision = paper.decide(drift, {
    failedUntil: (_, { instanceType }) => (instanceType === 'small' ? 5 : undefined),
  });
  expect(commandsText(decision)).toEqual(['a > large']);
});

it('replaces drifted nodes of a static pool one for one, within budget and limit', () => {
  paper.addPool(types, { name: 'fixed', replicas: 3, limits: { nodes: '5' }, ...withBudget('100%') });
  for (const name of ['a', 'b', 'c']) paper.addNode({ name, pool: 'fixed', type: 'small', driftedFor: 1 });
  const decision = paper.decide(staticDrift);
  expect(commandsText(decision)).toEqual(['a > fixed', 'b > fixed']);
  expect(causeOf(decision, 'c')).toEqual({ kind: 'node-limit' });
  paper.addNode({ name: 'd', pool: 'fixed', type: 'small' });
  expect(causeOf(paper.decide(staticDrift), 'a')).toEqual({ kind: 'scale-down-first', nodes: 4, replicas: 3 });
});
