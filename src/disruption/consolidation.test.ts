import { beforeEach, expect, it } from 'vitest';
import type { NodePool } from '../api/kinds/nodePool.ts';
import { finish, PaperCluster, type PaperNode } from '../../test/fixtures/disruption/paperCluster.ts';
import { causeOf, commandsText, paperPod, UNSCHEDULABLE } from '../../test/fixtures/disruption/paperPods.ts';
import { withReserved } from '../../test/fixtures/solver/randomOffers.ts';
import { testType } from '../../test/fixtures/solver/testObjects.ts';
import { candidatesFor, type Pass } from './method.ts';
import { multiNode } from './multiNode.ts';
import { singleNode } from './singleNode.ts';

let paper: PaperCluster;
beforeEach(() => {
  paper = new PaperCluster();
});

const types = [testType('small', 2, 4, 0.1), testType('medium', 4, 8, 0.2), testType('large', 8, 16, 0.4)];
const capacityTypes = (...values: string[]): Partial<NodePool['spec']> => ({
  template: {
    spec: {
      nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' },
      requirements: [{ key: 'karpenter.sh/capacity-type', operator: 'In', values }],
      expireAfter: 'Never',
    },
  },
});
const onDemand = capacityTypes('on-demand');

it('deletes a node whose pods fit elsewhere', () => {
  paper.addPool(types, onDemand);
  paper.addNode({ name: 'a', type: 'large', pods: [paperPod('p')] });
  paper.addNode({ name: 'b', type: 'small', pods: [paperPod('q', { cpu: '500m' })] });
  const decision = paper.decide(singleNode);
  expect(commandsText(decision)).toEqual(['a']);
  expect(decision.commands[0]).toMatchObject({
    consolidationType: 'single',
    savingsPerHour: 0.4,
    evictions: 1,
    onExisting: [{ node: 'b', pods: ['default/p'] }],
  });
});

it('replaces a node by a cheaper one and excludes anything dearer', () => {
  paper.addPool(types, onDemand);
  paper.addNode({ name: 'a', type: 'large', pods: [paperPod('p'), paperPod('q')] });
  const [command] = paper.decide(singleNode).commands;
  const [replacement] = command?.replacements ?? [];
  expect(replacement?.kind === 'planned' && replacement.plan.alternatives.map((each) => each.instanceType)).toEqual([
    'medium',
    'medium',
    'medium',
  ]);
  expect(command?.savingsPerHour).toBeCloseTo(0.2);
  expect(replacement?.kind === 'planned' && replacement.plan.choice).toMatchObject({
    boundByResource: 'cpu',
    candidates: {
      offered: 3,
      removed: [
        { stage: 'resources', count: 1 },
        { stage: 'replacement', count: 1 },
      ],
    },
  });
});

it('keeps a node without a cheaper replacement, with both prices', () => {
  paper.addPool(types, onDemand);
  paper.addNode({ name: 'a', type: 'small', pods: [paperPod('p', { cpu: '1800m' })] });
  expect(causeOf(paper.decide(singleNode), 'a')).toMatchObject({ kind: 'not-cheaper', pricePerHour: 0.1 });
});

it('replaces several nodes by fewer', () => {
  paper.addPool(types, onDemand);
  for (const name of ['a', 'b', 'c', 'd']) paper.addNode({ name, type: 'medium', pods: [paperPod(name)] });
  const decision = paper.decide(multiNode);
  for (const command of decision.commands) paper.apply(command);
  expect(paper.bill()).toBeLessThan(0.5);
  expect(decision.commands.reduce((sum, { evictions }) => sum + evictions, 0)).toBeLessThan(4);
});

it.each([2, 3, 7])('of %i half-empty nodes empties every other one onto its neighbour, and buys none', (count) => {
  paper.addPool([testType('medium', 4, 8, 0.2)], onDemand);
  const names = Array.from({ length: count }, (_, at) => `n${at}`);
  for (const name of names) paper.addNode({ name, type: 'medium', pods: [paperPod(name, { cpu: '1500m' })] });
  const { commands } = paper.decide(multiNode);
  expect(commands.flatMap(({ replacements }) => replacements)).toEqual([]);
  expect(commands.reduce((sum, { evictions }) => sum + evictions, 0)).toBe(Math.floor(count / 2));
});

it('moves nothing when the savings do not pay for the restarts', () => {
  paper.addPool([testType('a', 4, 8, 0.2), testType('b', 4, 8, 0.1999)], onDemand);
  paper.addNode({ name: 'n', type: 'a', pods: [paperPod('p')] });
  expect(causeOf(paper.decide(singleNode), 'n')).toMatchObject({ kind: 'no-payback' });
});

it.each<[string, Partial<PaperNode>, object]>([
  ['WhenEmpty', {}, { kind: 'policy', policy: 'WhenEmpty' }],
  ['WhenEmptyOrUnderutilized', { consolidatable: false }, { kind: 'too-young', consolidateAfter: '0s' }],
] as const)('policy %s with %j', (consolidationPolicy, extra, cause) => {
  paper.addPool(types, {
    ...onDemand,
    disruption: {
      consolidateAfter: '0s',
      consolidationPolicy: consolidationPolicy as 'WhenEmpty' | 'WhenEmptyOrUnderutilized',
      budgets: [{ nodes: '100%' }],
    },
  });
  paper.addNode({ name: 'a', type: 'large', pods: [paperPod('p')], ...extra });
  expect(causeOf(paper.decide(singleNode), 'a')).toEqual(cause);
});

it('does not move pods to a node within its own consolidateAfter', () => {
  paper.addPool(types, {
    ...onDemand,
    disruption: {
      consolidateAfter: '10m',
      consolidationPolicy: 'WhenEmptyOrUnderutilized',
      budgets: [{ nodes: '100%' }],
    },
  });
  paper.addNode({ name: 'a', type: 'small', pods: [paperPod('p', { cpu: '1800m' })] });
  paper.addNode({ name: 'b', type: 'large', lastPodEventTime: new Date(paper.now).toISOString() });
  expect(commandsText(paper.decide(singleNode))).toEqual([]);
  paper.now += 11 * 60_000;
  expect(commandsText(paper.decide(singleNode))).toEqual(['a']);
});

it('does not use room needed by waiting pods', () => {
  paper.addPool(types, { ...onDemand, limits: { cpu: '10' } });
  paper.addNode({ name: 'a', type: 'small', pods: [paperPod('p')] });
  paper.addNode({ name: 'b', type: 'large', consolidatable: false });
  expect(commandsText(paper.decide(singleNode))).toEqual(['a']);
  paper.cluster.setPod({ ...paperPod('waiting', { cpu: '7500m' }), status: UNSCHEDULABLE });
  expect(commandsText(paper.decide(singleNode))).toEqual([]);
});

it('is not blocked by an unschedulable pod', () => {
  paper.addPool(types, onDemand);
  paper.cluster.setPod({ ...paperPod('impossible', { cpu: '900' }), status: UNSCHEDULABLE });
  paper.addNode({ name: 'a', type: 'large', pods: [paperPod('p')] });
  expect(commandsText(paper.decide(singleNode))).toEqual(['a > small']);
});

it('buys spot in place of on-demand, and then only spot', () => {
  paper.addPool(types, capacityTypes('spot', 'on-demand'));
  paper.addNode({ name: 'a', type: 'small', pods: [paperPod('p', { cpu: '1800m' })] });
  const [command] = paper.decide(singleNode).commands;
  const [replacement] = command?.replacements ?? [];
  const bought = replacement?.kind === 'planned' ? replacement.plan.alternatives : [];
  expect([...new Set(bought.map(({ capacityType }) => capacityType))]).toEqual(['spot']);
  expect(bought.every(({ pricePerHour }) => pricePerHour < 0.1)).toBe(true);
});

it.each([
  [1, 'reserved'],
  [0, undefined],
])('with %i reserved nodes left buys %s in place of on-demand', (left, expected) => {
  paper.addPool(
    types.map((type) => (type.name === 'small' ? withReserved(type, left) : type)),
    capacityTypes('reserved', 'on-demand'),
  );
  paper.addNode({ name: 'a', type: 'small', pods: [paperPod('p', { cpu: '1800m' })] });
  const [replacement] = paper.decide(singleNode).commands[0]?.replacements ?? [];
  const bought = replacement?.kind === 'planned' ? replacement.plan.alternatives : [];
  expect(bought[0]?.capacityType).toBe(expected);
});

it('does not use reserved capacity that is already paid for', () => {
  paper.addPool(
    types.map((type) => (type.name === 'large' ? withReserved(type, 0) : type)),
    capacityTypes('reserved', 'on-demand'),
  );
  const pods = [paperPod('p')];
  paper.addNode({ name: 'a', type: 'large', capacityType: 'reserved', zone: 'z1', pods });
  expect(causeOf(paper.decide(singleNode), 'a')).toMatchObject({ kind: 'not-cheaper', pricePerHour: 0.001 });
});

it('replaces spot by spot only with the gate, and a single node only with a wide choice', () => {
  paper.addPool(types, capacityTypes('spot'));
  const pods = [paperPod('p')];
  paper.addNode({ name: 'a', type: 'large', capacityType: 'spot', zone: 'z1', pods });
  expect(causeOf(paper.decide(singleNode), 'a')).toEqual({ kind: 'spot-to-spot-disabled' });
  const settings = { spotToSpot: true, minValuesPolicy: 'Strict' } as const;
  expect(causeOf(paper.decide(singleNode, { settings }), 'a')).toMatchObject({
    kind: 'spot-to-spot-flexibility',
    needed: 15,
  });
  const many = Array.from({ length: 20 }, (_, at) => testType(`t${at}`, 2, 4, 0.1 + at / 1000));
  paper.addPool([...many, ...types], capacityTypes('spot'));
  const [command] = paper.decide(singleNode, { settings }).commands;
  const [replacement] = command?.replacements ?? [];
  const bought = replacement?.kind === 'planned' ? replacement.plan.alternatives : [];
  expect(new Set(bought.map(({ instanceType }) => instanceType)).size).toBe(15);
});

it('pins the zone where the type is dearer elsewhere than what it replaces', () => {
  const type = testType('small', 2, 4, 0.1);
  const offerings = type.offerings.map((each) => ({ ...each, price: each.zone === 'z1' ? 0.1 : 0.5 }));
  paper.addPool([{ ...type, offerings }, testType('large', 8, 16, 0.4)], onDemand);
  paper.addNode({ name: 'a', type: 'large', pods: [paperPod('p')] });
  const [command] = paper.decide(singleNode).commands;
  const [replacement] = command?.replacements ?? [];
  const plan = replacement?.kind === 'planned' ? replacement.plan : undefined;
  expect(plan?.alternatives.map(({ zone }) => zone)).toEqual(['z1']);
  expect(plan?.requirements).toContainEqual({
    key: 'topology.kubernetes.io/zone',
    operator: 'In',
    values: ['z1'],
  });
});

it('keeps a node whose replacement would offer too few types', () => {
  const pool = capacityTypes('on-demand');
  const requirements = [
    ...(pool.template?.spec.requirements ?? []),
    { key: 'node.kubernetes.io/instance-type', operator: 'Exists' as const, minValues: 2 },
  ];
  const spec = { ...pool.template?.spec, requirements } as NodePool['spec']['template']['spec'];
  paper.addPool(types, { template: { spec } });
  paper.addNode({ name: 'a', type: 'medium', pods: [paperPod('p')] });
  expect(causeOf(paper.decide(singleNode), 'a')).toEqual({
    kind: 'min-values',
    key: 'node.kubernetes.io/instance-type',
    atLeast: 2,
    offered: 1,
  });
  paper.addNode({ name: 'b', type: 'large', pods: [paperPod('q')], consolidatable: false });
  expect(commandsText(paper.decide(singleNode))).toEqual(['a']);
});

it('deletes a node of unknown price, but never replaces it', () => {
  paper.addPool(types, onDemand);
  paper.addNode({ name: 'a', type: 'large', zone: 'elsewhere', pods: [paperPod('p')] });
  expect(causeOf(paper.decide(singleNode), 'a')).toEqual({ kind: 'unknown-price' });
  paper.addNode({ name: 'b', type: 'large', consolidatable: false });
  expect(commandsText(paper.decide(singleNode))).toEqual(['a']);
});

it('Balanced refuses a move that disturbs more than it saves', () => {
  paper.addPool(types, {
    ...onDemand,
    disruption: { consolidateAfter: '0s', consolidationPolicy: 'Balanced', budgets: [{ nodes: '100%' }] },
  });
  const crowd = Array.from({ length: 7 }, (_, at) => paperPod(`crowd-${at}`, { cpu: '200m', memory: '128Mi' }));
  paper.addNode({ name: 'a', type: 'small', pods: crowd });
  paper.addNode({ name: 'b', type: 'large', pods: [paperPod('b')], consolidatable: false });
  expect(causeOf(paper.decide(singleNode), 'a')).toMatchObject({ kind: 'balanced-score', threshold: 0.5 });
});

it('asks once for equivalent nodes', () => {
  paper.addPool([testType('small', 2, 4, 0.1)], onDemand);
  for (let node = 0; node < 40; node++) {
    const pod = paperPod(`p${node}`, { cpu: '1500m', memory: '2Gi' });
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'web', controller: true }];
    paper.addNode({ type: 'small', zone: 'z1', pods: [{ ...pod, metadata: { ...pod.metadata, ownerReferences } }] });
  }
  const { pass } = paper.pass();
  let asked = 0;
  const counting: Pass = {
    ...pass,
    whatIf: (question) => {
      asked += 1;
      return pass.whatIf(question);
    },
  };
  const { candidates } = candidatesFor(singleNode, pass);
  const { kept, commands } = finish(singleNode.decide(candidates, counting));
  expect(commands).toEqual([]);
  expect(kept.map(({ cause }) => cause.kind)).toEqual(Array.from({ length: 40 }, () => 'not-cheaper'));
  expect(asked).toBe(1);
});

it('empties spot nodes onto each other where replacements are not allowed', () => {
  paper.addPool(types, capacityTypes('spot'));
  for (let at = 0; at < 9; at++) {
    const name = `n${at}`;
    paper.addNode({
      name,
      type: 'large',
      capacityType: 'spot',
      pods: [paperPod(name, { cpu: '2500m', memory: '1Gi' })],
    });
  }
  const { commands } = paper.decide(multiNode);
  expect(commands.flatMap(({ replacements }) => replacements)).toEqual([]);
  // Three of these pods fit on a node, so three nodes hold all nine.
  expect(commands.flatMap(({ candidates }) => candidates)).toHaveLength(6);
});

it('does not move pods for savings that will end soon because demand returns', () => {
  paper.addPool(types, onDemand);
  paper.addNode({ name: 'a', type: 'large', pods: [paperPod('p'), paperPod('q')] });
  expect(paper.decide(singleNode).commands).toHaveLength(1);
  const decision = paper.decide(singleNode, { calmFor: () => 20_000 });
  expect(decision.commands).toEqual([]);
  expect(causeOf(decision, 'a')).toMatchObject({ kind: 'no-payback' });
});
