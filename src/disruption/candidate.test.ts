import { beforeEach, expect, it } from 'vitest';
import type { Pod } from '../api/kinds.ts';
import { PaperCluster, START, type PaperNode } from '../../test/fixtures/disruption/paperCluster.ts';
import { paperPod } from '../../test/fixtures/disruption/paperPods.ts';
import { testType } from '../../test/fixtures/solver/testObjects.ts';
import { timestamp } from '../units/timestamp.ts';
import { drift } from './drift.ts';
import { emptiness } from './emptiness.ts';
import { candidatesFor } from './method.ts';
import { byDrift, bySavings } from './order.ts';

let paper: PaperCluster;
beforeEach(() => {
  paper = new PaperCluster();
  paper.addPool([testType('small', 2, 4, 0.1), testType('large', 8, 16, 0.4)]);
});

const shield = (value: string, extra: Partial<Pod> = {}): Pod => ({
  ...paperPod('p', { annotations: { 'karpenter.sh/do-not-disrupt': value } }),
  ...extra,
});
const UNREADY: Pod['status'] = { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] };
const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'agent', controller: true };
const ofDaemonSet = { ...paperPod('p').metadata, ownerReferences: [owner] };
const tolerant: Pod['spec'] = { containers: [], tolerations: [{ operator: 'Exists' }] };
const since = (minutes: number): Partial<Pod> => ({
  status: { startTime: timestamp(START - minutes * 60_000) },
});

it.each<[string, Partial<PaperNode>, object]>([
  ['not initialized', { initialized: false }, { kind: 'not-initialized' }],
  ['an annotation', { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } }, { kind: 'do-not-disrupt-node' }],
  ['no pool', { labels: { 'karpenter.sh/nodepool': 'gone' } }, { kind: 'pool-not-found', pool: 'gone' }],
])('a node is no candidate with %s', (_, extra, cause) => {
  paper.addNode({ name: 'a', type: 'small', ...extra });
  const { pass, kept } = paper.pass();
  expect(pass.candidates).toEqual([]);
  expect(kept.map((each) => each.cause)).toEqual([cause]);
});

it('leaves out nodes that are queued, nominated or being deleted, and says so', () => {
  for (const name of ['queued', 'nominated', 'deleting']) paper.addNode({ name, type: 'small' });
  paper.cluster.places.hold('plan', [{ target: 'nominated', pods: [paperPod('coming')] }], START + 1);
  paper.cluster.markForDeletion('deleting');
  const { kept } = paper.pass({ isQueued: (claim) => claim === 'queued' });
  expect(kept.map(({ node, cause }) => [node, cause.kind])).toEqual([
    ['deleting', 'deleting'],
    ['nominated', 'nominated'],
    ['queued', 'queued'],
  ]);
});

it('ignores a duration in the annotation of a node', () => {
  paper.addNode({ type: 'small', annotations: { 'karpenter.sh/do-not-disrupt': '1h' } });
  expect(paper.pass().pass.candidates).toHaveLength(1);
});

it.each<[string, Pod, object | undefined]>([
  ['for ever', shield('true'), { kind: 'do-not-disrupt-pod', pod: 'default/p' }],
  ['for a time', shield('1h', since(30)), { kind: 'do-not-disrupt-pod', pod: 'default/p', until: START + 30 * 60_000 }],
  ['for a time that is over', shield('1h', since(61)), undefined],
  ['in words that mean nothing', shield('please'), undefined],
])('a pod with do-not-disrupt %s', (_, pod, cause) => {
  paper.addNode({ type: 'small', pods: [pod] });
  expect(paper.pass().pass.candidates[0]?.heldBy).toEqual(cause);
});

it.each<[string, object, object, boolean]>([
  ['allows none', { disruptionsAllowed: 0 }, { minAvailable: 1 }, true],
  ['allows one', { disruptionsAllowed: 1 }, { minAvailable: 1 }, false],
  ['selects others', { disruptionsAllowed: 0 }, { selector: { matchLabels: { app: 'b' } } }, false],
])('a PodDisruptionBudget that %s', (_, status, spec, held) => {
  paper.podBudgets.push({
    metadata: { name: 'pdb', namespace: 'default' },
    spec: { selector: { matchLabels: { app: 'a' } }, ...spec },
    status: { currentHealthy: 1, desiredHealthy: 1, expectedPods: 1, disruptionsAllowed: 0, ...status },
  });
  paper.addNode({ type: 'small', pods: [paperPod('p', { labels: { app: 'a' } })] });
  const cause = { kind: 'pdb', pod: 'default/p', budgets: ['default/pdb'] };
  expect(paper.pass().pass.candidates[0]?.heldBy).toEqual(held ? cause : undefined);
});

it.each<[string, Partial<Pod>, string | undefined, boolean]>([
  ['a healthy pod', {}, 'AlwaysAllow', true],
  ['an unhealthy pod where it may always go', { status: UNREADY }, 'AlwaysAllow', false],
  ['an unhealthy pod that counts like any other', { status: UNREADY }, undefined, true],
  ['a pod that has ended', { status: { phase: 'Succeeded' } }, undefined, false],
  ['a pod that stays on a disrupted node', { spec: tolerant }, undefined, false],
  ['a pod of a DaemonSet', { metadata: ofDaemonSet }, undefined, true],
])('a PodDisruptionBudget that allows none, for %s', (_, extra, unhealthyPodEvictionPolicy, held) => {
  paper.podBudgets.push({
    metadata: { name: 'pdb', namespace: 'default' },
    spec: { selector: {}, maxUnavailable: '10%', ...(unhealthyPodEvictionPolicy && { unhealthyPodEvictionPolicy }) },
    status: { currentHealthy: 0, desiredHealthy: 1, expectedPods: 1, disruptionsAllowed: 0 },
  });
  const name = paper.addNode({ type: 'small' });
  const pod = { ...paperPod('p'), ...extra };
  paper.cluster.setPod({ ...pod, spec: { containers: [], ...pod.spec, nodeName: name } });
  expect(paper.pass().pass.candidates[0]?.heldBy?.kind).toBe(held ? 'pdb' : undefined);
});

it('a budget of another namespace holds no pod', () => {
  paper.podBudgets.push({
    metadata: { name: 'pdb', namespace: 'other' },
    spec: { selector: {}, maxUnavailable: 0 },
    status: { currentHealthy: 1, desiredHealthy: 1, expectedPods: 1, disruptionsAllowed: 0 },
  });
  paper.addNode({ type: 'small', pods: [paperPod('p')] });
  const [candidate] = paper.pass().pass.candidates;
  expect(candidate?.heldBy).toBeUndefined();
  expect(candidate?.movable).toHaveLength(1);
});

it('two budgets for one pod always block it', () => {
  for (const name of ['one', 'two']) {
    paper.podBudgets.push({
      metadata: { name, namespace: 'default' },
      spec: { selector: {} },
      status: { currentHealthy: 9, desiredHealthy: 1, expectedPods: 9, disruptionsAllowed: 8 },
    });
  }
  paper.addNode({ type: 'small', pods: [paperPod('p')] });
  expect(paper.pass().pass.candidates[0]).toMatchObject({
    heldBy: { kind: 'pdb', budgets: ['default/one', 'default/two'] },
    movable: [],
  });
});

it('only eventual methods ignore blocking pods on a node with a grace period', () => {
  const pod = (name: string): Pod => shield('true', { metadata: { ...shield('true').metadata, name, uid: name } });
  paper.addNode({ name: 'a', type: 'small', pods: [pod('p')], driftedFor: 1, spec: { terminationGracePeriod: '1h' } });
  paper.addNode({ name: 'b', type: 'small', pods: [pod('q')], driftedFor: 1 });
  const { pass } = paper.pass();
  expect(candidatesFor(drift, pass).candidates.map(({ view }) => view.name)).toEqual(['a']);
  expect(candidatesFor(emptiness, pass).candidates).toEqual([]);
});

it('costs are one for the node and one for each ordinary pod, within bounds', () => {
  const cost = (value: string): Pod =>
    paperPod(value, { annotations: { 'controller.kubernetes.io/pod-deletion-cost': value } });
  paper.addNode({
    type: 'small',
    pods: [
      paperPod('ordinary'),
      cost(String(2 ** 27)),
      cost(String(-(2 ** 28))),
      cost('words'),
      paperPod('dear', { spec: { priority: 2_000_000_000 } }),
    ],
  });
  const [candidate] = paper.pass().pass.candidates;
  expect(candidate?.disruptionCost).toBe(1 + 1 + 2 + 0 + 1 + 10);
  expect(candidate?.pricePerHour).toBe(0.1);
  expect(candidate?.savingsRatio).toBeCloseTo(0.1 / 15);
});

it('sorts by savings, or by the oldest drift, with ties by name', () => {
  paper.addNode({ name: 'c', type: 'small', driftedFor: 1 });
  paper.addNode({ name: 'b', type: 'small', driftedFor: 2, pods: [paperPod('p')] });
  paper.addNode({ name: 'a', type: 'small', driftedFor: 1 });
  paper.addNode({ name: 'd', type: 'large', driftedFor: 3, pods: [paperPod('q')] });
  const { candidates } = paper.pass().pass;
  expect(bySavings(candidates).map(({ view }) => view.name)).toEqual(['d', 'a', 'c', 'b']);
  expect(byDrift(candidates).map(({ view }) => view.name)).toEqual(['a', 'c', 'd', 'b']);
});
