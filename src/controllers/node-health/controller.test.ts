import { afterEach, beforeEach, expect, it } from 'vitest';
import { poolSpec, Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import { Annotations, Labels } from '../../api/labels.ts';
import { timestamp } from '../../units/timestamp.ts';
import { EvictionQueue } from '../eviction-queue/controller.ts';
import { nodeClaimLifecycleController } from '../nodeclaim-lifecycle/controller.ts';
import { nodeTerminationController } from '../node-termination/controller.ts';
import { nodeHealthController } from './controller.ts';

const MINUTE = 60_000;

let bench: Workbench;
beforeEach(async () => {
  bench = await Workbench.start({
    controllers: ({ world }) => {
      const evictions = new EvictionQueue(world);
      return [
        nodeHealthController(world),
        nodeClaimLifecycleController(world),
        nodeTerminationController(world, evictions),
        evictions.controller(),
      ];
    },
  });
  bench.cloud.repairPolicies = [
    { conditionType: 'Ready', conditionStatus: 'False', toleration: 30 * MINUTE },
    { conditionType: 'KernelDeadlock', conditionStatus: 'True', toleration: 10 * MINUTE },
  ];
});
afterEach(() => bench.close());

async function launch(names: readonly string[], spec: Parameters<Workbench['createClaim']>[1] = {}): Promise<void> {
  for (const name of names) await bench.createClaim(name, spec);
  await bench.advance(MINUTE);
}

/** Sets this condition on the Node of a claim, from now on. */
async function falls(claim: string, type: string, status: 'True' | 'False', reason = 'Test'): Promise<void> {
  const at = timestamp(bench.clock.now());
  const condition = { type, status, reason, message: '', lastTransitionTime: at, lastHeartbeatTime: at };
  const body = { status: { conditions: [condition] } };
  const name = `node-${claim}`;
  await bench.kube.patch(Kinds.Node, { name }, { type: 'strategic', body }, { subresource: 'status' });
}

const left = async (): Promise<string[]> => (await bench.claims()).map(({ metadata }) => metadata.name);
const counted = (condition: string) =>
  bench.metrics.value('karpenter_nodeclaims_unhealthy_disrupted_total', { condition });

it('deletes a node after the toleration of its condition, unless it recovers before', async () => {
  await launch(['a', 'b', 'c', 'd', 'e', 'f']);
  await falls('a', 'Ready', 'False');
  await falls('b', 'Ready', 'False');
  await bench.advance(29 * MINUTE);
  await falls('b', 'Ready', 'True');
  expect(await left()).toHaveLength(6);
  await bench.advance(2 * MINUTE);
  expect(await left()).toEqual(['b', 'c', 'd', 'e', 'f']);
  expect(counted('ready')).toBe(1);
  const disrupted = 'karpenter_nodeclaims_disrupted_total';
  expect(bench.metrics.value(disrupted, { reason: 'unhealthy', nodepool: 'default' })).toBe(1);
});

it('uses the condition whose toleration ends first', async () => {
  await launch(['a']);
  await falls('a', 'Ready', 'False');
  await falls('a', 'KernelDeadlock', 'True');
  await bench.advance(11 * MINUTE);
  expect(await left()).toEqual([]);
  expect([counted('kernel_deadlock'), counted('ready')]).toEqual([1, undefined]);
});

it('waits neither for do-not-disrupt nor for the grace period of the claim', async () => {
  await launch(['a'], { terminationGracePeriod: '24h' });
  const annotations = { [Annotations.doNotDisrupt]: 'true' };
  await bench.createPod('stays', { nodeName: 'node-a' }, { annotations });
  await falls('a', 'KernelDeadlock', 'True');
  await bench.advance(12 * MINUTE);
  expect([await left(), await bench.nodes()]).toEqual([[], []]);
});

it('shortens the drain of a node that becomes unhealthy meanwhile', async () => {
  await launch(['a'], { terminationGracePeriod: '24h' });
  await bench.createPod('stays', { nodeName: 'node-a' }, { annotations: { [Annotations.doNotDisrupt]: 'true' } });
  await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
  await falls('a', 'KernelDeadlock', 'True');
  await bench.advance(9 * MINUTE);
  expect(await left()).toEqual(['a']);
  await bench.advance(3 * MINUTE);
  expect(await left()).toEqual([]);
});

it('repairs nothing while more than a fifth of the pool is unhealthy, with an event on each object', async () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  await bench.createPool('default');
  await launch(names);
  await bench.createClaim('other', {}, { labels: { [Labels.nodePool]: 'other' } });
  await falls('a', 'Ready', 'False');
  await falls('b', 'Ready', 'False');
  await bench.advance(31 * MINUTE);
  expect(await left()).toEqual([...names, 'other']);
  const told = (await bench.events('NodeRepairBlocked')).map(({ involvedObject }) => involvedObject.kind);
  expect(new Set(told)).toEqual(new Set(['Node', 'NodeClaim', 'NodePool']));
  await falls('b', 'Ready', 'True');
  await bench.advance(6 * MINUTE);
  expect(await left()).toEqual(['b', 'c', 'd', 'e', 'other']);
  const many = 'too many nodes are unhealthy, and new ones would probably be unhealthy too';
  expect(bench.decisions('repair-held', 'removal')).toEqual([
    `node node-a is unhealthy (Ready) and is not replaced: ${many}`,
    `node node-b is unhealthy (Ready) and is not replaced: ${many}`,
    'node node-a (a) is removed: it has been unhealthy for too long (Ready)',
  ]);
});

it('repairs nodes that the cloud removes, however many they are', async () => {
  bench.cloud.repairPolicies = [
    { conditionType: 'PreemptionScheduled', conditionStatus: 'True', toleration: 0, isLeaving: true },
    { conditionType: 'Ready', conditionStatus: 'False', toleration: 30 * MINUTE },
  ];
  await launch(['a', 'b', 'c', 'd', 'e', 'f']);
  for (const name of ['a', 'b', 'c']) await falls(name, 'PreemptionScheduled', 'True');
  await bench.advance(MINUTE);
  expect(await left()).toEqual(['d', 'e', 'f']);
  expect(await bench.events('NodeRepairBlocked')).toEqual([]);
});

it('only considers the reasons named in a policy', async () => {
  const reasons = ['PreemptScheduled', 'RedeployScheduled'];
  bench.cloud.repairPolicies = [
    { conditionType: 'VMEventScheduled', conditionStatus: 'True', reasons, toleration: 0, isLeaving: true },
  ];
  await launch(['a', 'b', 'c']);
  await falls('a', 'VMEventScheduled', 'True', 'PreemptScheduled');
  await falls('b', 'VMEventScheduled', 'True', 'FreezeScheduled');
  await bench.advance(MINUTE);
  expect(await left()).toEqual(['b', 'c']);
});

it('respects budgets and the grace period with forceful expiration off', async () => {
  const annotations = { [Annotations.forcefulExpiration]: 'false' };
  const { disruption, ...spec } = poolSpec();
  const withBudget = (nodes: string) => ({ ...spec, disruption: { ...disruption, budgets: [{ nodes }] } });
  await bench.kube.create(Kinds.NodePool, { metadata: { name: 'default', annotations }, spec: withBudget('0') });
  await launch(['a', 'b', 'c'], { terminationGracePeriod: '24h' });
  await bench.createPod('stays', { nodeName: 'node-a' }, { annotations: { [Annotations.doNotDisrupt]: 'true' } });
  await falls('a', 'KernelDeadlock', 'True');
  await bench.advance(20 * MINUTE);
  expect((await bench.claim('a')).metadata.deletionTimestamp).toBeUndefined();
  const [event] = await bench.events('NodeRepairBlocked');
  expect(event?.message).toBe('No allowed disruptions for disruption reason Drifted due to blocking budget');
  await bench.kube.patch(Kinds.NodePool, { name: 'default' }, { type: 'merge', body: { spec: withBudget('1') } });
  await bench.advance(6 * MINUTE);
  const { metadata } = await bench.claim('a');
  expect(metadata.deletionTimestamp).toBeDefined();
  // The pod with do-not-disrupt keeps running until the end of the grace period.
  expect((await bench.pods()).map(({ metadata: { name } }) => name)).toEqual(['stays']);
});
