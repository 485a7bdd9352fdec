import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { conditionOf, Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds, type Pod } from '../../api/kinds.ts';
import { Annotations, Finalizers, Labels, Taints } from '../../api/labels.ts';
import { EvictionQueue } from '../eviction-queue/controller.ts';
import { nodeClaimLifecycleController } from '../nodeclaim-lifecycle/controller.ts';
import { nodeTerminationController } from './controller.ts';

let bench: Workbench;

beforeEach(async () => {
  bench = await Workbench.start({
    controllers: ({ world }) => {
      const evictions = new EvictionQueue(world);
      return [nodeClaimLifecycleController(world), nodeTerminationController(world, evictions), evictions.controller()];
    },
  });
});
afterEach(() => bench.close());

const NODE = { name: 'node-a' };
const UP = 30_000;

/** A claim with its node, initialised. */
async function up(spec: Parameters<Workbench['createClaim']>[1] = {}): Promise<void> {
  await bench.createClaim('a', spec);
  await bench.advance(UP);
}

async function runningPod(
  name: string,
  spec: Partial<Pod['spec']> = {},
  metadata: Partial<Pod['metadata']> = {},
): Promise<void> {
  await bench.createPod(name, { nodeName: 'node-a', ...spec }, metadata);
}

const podNames = async (): Promise<string[]> => (await bench.pods()).map(({ metadata }) => metadata.name);
const leaving = async (): Promise<string[]> =>
  (await bench.pods()).filter(({ metadata }) => metadata.deletionTimestamp).map(({ metadata }) => metadata.name);
const nothingIsLeft = async (): Promise<void> => {
  expect(await bench.nodes()).toEqual([]);
  expect(await bench.claims()).toEqual([]);
  expect(bench.cloud.instances).toEqual([]);
};

describe('a node that is deleted', () => {
  it.each(['NodeClaim', 'Node'] as const)('goes with all that belongs to it when the %s is deleted', async (kind) => {
    await up();
    await runningPod('p');
    await bench.advance(5_000);
    await bench.kube.delete(Kinds[kind], { name: kind === 'Node' ? 'node-a' : 'a' });
    await bench.clock.idle();
    const node = await bench.kube.get(Kinds.Node, NODE);
    expect(node.spec?.taints).toEqual([Taints.disrupted]);
    expect(node.metadata.labels?.[Labels.excludeFromLoadBalancers]).toBe('karpenter');
    expect((await bench.claim('a')).metadata.deletionTimestamp).toBeDefined();
    await bench.advance(30_000);
    expect(await podNames()).toEqual([]);
    await nothingIsLeft();
    expect(bench.decisions('removal')).toEqual(
      kind === 'Node' ? ['node node-a (a) is removed: its Node was deleted, 1 pod moves'] : [],
    );
    expect(bench.metrics.value('karpenter_nodes_terminated_total', { nodepool: 'default' })).toBe(1);
    expect(bench.metrics.value('karpenter_nodes_drained_total', { nodepool: 'default' })).toBe(1);
    expect(bench.metrics.observed('karpenter_nodes_termination_duration_seconds')).toHaveLength(1);
    expect(bench.metrics.observed('karpenter_nodes_lifetime_duration_seconds')).toHaveLength(1);
  });

  it('stays five seconds even when it is empty, while a waiting pod may have been bound to it just before the taint', async () => {
    await up();
    await bench.createPod('late', { schedulerName: 'slow' });
    await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
    await bench.advance(4_000);
    expect(await bench.condition('a', 'Drained')).toBe('Unknown Draining');
    expect(bench.cloud.calls.delete).toBe(0);
    await bench.advance(8_000);
    await nothingIsLeft();
  });

  it.each([
    ['no pod waits', undefined],
    ['only pods wait that are not to be scheduled yet', { schedulingGates: [{ name: 'later' }] }],
  ])('is removed sooner when it is empty and %s', async (_, waiting) => {
    await up();
    if (waiting) await bench.createPod('gated', waiting);
    await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
    await bench.advance(1_000);
    expect(bench.cloud.calls.delete).toBe(0);
    await bench.advance(1_500);
    expect(bench.cloud.calls.delete).toBe(1);
    await bench.advance(5_000);
    await nothingIsLeft();
  });

  it('evicts a pod that was bound just before the taint', async () => {
    await up();
    await bench.createPod('late', { schedulerName: 'slow' });
    await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
    await bench.advance(3_000);
    await bench.kube.bind({ name: 'late', namespace: 'default' }, 'node-a');
    await bench.advance(1_000);
    expect(await leaving()).toEqual(['late']);
    expect(bench.cloud.calls.delete).toBe(0);
  });

  it('replaces a taint of the same key and keeps the others', async () => {
    await up();
    const odd = [
      { key: Taints.disrupted.key, effect: 'NoExecute' },
      { key: 'mine', effect: 'NoSchedule' },
    ];
    await bench.kube.patch(Kinds.Node, NODE, { type: 'merge', body: { spec: { taints: odd } } });
    await bench.kube.delete(Kinds.Node, NODE);
    await bench.clock.idle();
    expect((await bench.kube.get(Kinds.Node, NODE)).spec?.taints).toEqual([
      { key: 'mine', effect: 'NoSchedule' },
      Taints.disrupted,
    ]);
  });

  it('is not touched when another provider manages it', async () => {
    await bench.kube.create(Kinds.Node, { metadata: { name: 'foreign', finalizers: [Finalizers.termination] } });
    await bench.kube.delete(Kinds.Node, { name: 'foreign' });
    await bench.advance(60_000);
    expect((await bench.kube.get(Kinds.Node, { name: 'foreign' })).metadata.finalizers).toEqual([
      Finalizers.termination,
    ]);
  });

  it('does not wait for pods when its instance is gone already', async () => {
    await up();
    await runningPod('p', {}, { annotations: { [Annotations.doNotDisrupt]: 'true' } });
    await bench.advance(5_000);
    const body = { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } };
    await bench.kube.patch(Kinds.Node, NODE, { type: 'strategic', body }, { subresource: 'status' });
    bench.cloud.get = () => bench.cloud.delete({ metadata: { name: 'none' } } as never) as never;
    await bench.kube.delete(Kinds.Node, NODE);
    await bench.advance(10_000);
    expect(await bench.find(Kinds.Node, 'node-a')).toBeUndefined();
  });

  it('asks the cloud for the instance of a node that is not ready twice a minute, not in every reconcile', async () => {
    await up();
    await runningPod('p', {}, { annotations: { [Annotations.doNotDisrupt]: 'true' } });
    await bench.advance(5_000);
    bench.local.kubelets.powerOff('node-a');
    const body = { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } };
    await bench.kube.patch(Kinds.Node, NODE, { type: 'strategic', body }, { subresource: 'status' });
    const before = bench.cloud.calls.get;
    await bench.kube.delete(Kinds.Node, NODE);
    await bench.advance(119_000);
    expect(bench.cloud.calls.get - before).toBe(4);
  });

  it('waits until the instance is gone, not only until its deletion was accepted', async () => {
    await up();
    bench.cloud.deletionTime = 42_000;
    await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
    await bench.advance(40_000);
    expect(await bench.condition('a', 'InstanceTerminating')).toBe('True InstanceTerminating');
    expect(await bench.find(Kinds.Node, 'node-a')).toBeDefined();
    await bench.advance(20_000);
    await nothingIsLeft();
  });

  it('drains without a claim, too', async () => {
    await up();
    await runningPod('p');
    await bench.advance(5_000);
    await bench.stopEngine();
    await bench.kube.patch(Kinds.NodeClaim, { name: 'a' }, { type: 'merge', body: { metadata: { finalizers: null } } });
    await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
    bench.startEngine();
    await bench.kube.delete(Kinds.Node, NODE);
    await bench.advance(10_000);
    expect(await podNames()).toEqual([]);
    expect(await bench.find(Kinds.Node, 'node-a')).toBeUndefined();
  });

  it('continues after a restart in the middle of the drain', async () => {
    await up();
    await runningPod('p', {}, { annotations: { [Annotations.doNotDisrupt]: '2m' } });
    await bench.advance(5_000);
    await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
    await bench.advance(30_000);
    await bench.stopEngine();
    await bench.advance(30_000);
    bench.startEngine();
    await bench.advance(30_000);
    expect(await podNames()).toEqual(['p']);
    await bench.advance(60_000);
    await nothingIsLeft();
    expect(bench.metrics.value('karpenter_nodes_drained_total')).toBe(1);
  });
});

describe('the drain', () => {
  async function daemonOwned(): Promise<Partial<Pod['metadata']>> {
    const { metadata } = await bench.kube.create(Kinds.DaemonSet, {
      metadata: { name: 'd', namespace: 'default' },
      spec: {
        selector: { matchLabels: { app: 'd' } },
        template: { metadata: { labels: { app: 'd' } }, spec: { containers: [{ name: 'main', image: 'agent' }] } },
      },
    });
    return { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: metadata.uid ?? '' }] };
  }
  const critical = { priorityClassName: 'system-node-critical' };

  it('goes tier by tier, each waiting until the one before is gone', async () => {
    await up();
    const daemon = await daemonOwned();
    await runningPod('ordinary');
    await runningPod('daemon', {}, daemon);
    await runningPod('critical', critical);
    await runningPod('critical-daemon', critical, daemon);
    await bench.advance(5_000);
    await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
    const order: string[] = [];
    for (let step = 0; step < 40; step++) {
      await bench.advance(500);
      const now = (await leaving()).join(',');
      if (now !== '' && order.at(-1) !== now) order.push(now);
    }
    expect(order).toEqual(['ordinary', 'daemon', 'critical', 'critical-daemon']);
    expect(await podNames()).toEqual([]);
    const [event] = await bench.events('FailedDraining');
    expect(event?.involvedObject.name).toBe('node-a');
  });

  it('leaves pods that tolerate the taint, mirror pods and finished pods', async () => {
    await up();
    await runningPod('tolerant', { tolerations: [{ key: Taints.disrupted.key, operator: 'Exists' }] });
    const { uid = '' } = (await bench.kube.get(Kinds.Node, NODE)).metadata;
    const mirrored = { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-a', uid }] };
    await runningPod('mirror', {}, mirrored);
    await runningPod('finished');
    await bench.advance(5_000);
    const body = { status: { phase: 'Succeeded' } };
    const ref = { name: 'finished', namespace: 'default' };
    await bench.kube.patch(Kinds.Pod, ref, { type: 'merge', body }, { subresource: 'status' });
    bench.cloud.deletionTime = 60_000;
    await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
    await bench.advance(10_000);
    expect(await bench.condition('a', 'Drained')).toBe('True Drained');
    expect(await leaving()).toEqual([]);
    expect(await podNames()).toHaveLength(3);
  });

  it('stops waiting for a pod that is a minute past its grace period', async () => {
    await up();
    await runningPod('stuck', { terminationGracePeriodSeconds: 1 });
    await bench.advance(5_000);
    // Without its kubelet nothing ends the pod.
    bench.local.kubelets.powerOff('node-a');
    await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
    await bench.advance(55_000);
    expect(await bench.condition('a', 'Drained')).toBe('Unknown Draining');
    await bench.advance(20_000);
    expect(await bench.find(Kinds.Node, 'node-a')).toBeUndefined();
  });

  it('waits for a budget as long as it takes', async () => {
    await up();
    await runningPod('guarded', {}, { labels: { app: 'guarded' } });
    await bench.kube.create(Kinds.PodDisruptionBudget, {
      metadata: { name: 'budget', namespace: 'default' },
      spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'guarded' } } },
    });
    await bench.advance(5_000);
    await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
    await bench.advance(600_000);
    expect(await podNames()).toEqual(['guarded']);
    const messages = (await bench.events('FailedDraining')).map(({ message }) => message);
    expect(messages).toContain('Failed to drain node, 1 pods are waiting to be evicted');
    expect(messages).toContainEqual(
      expect.stringMatching(/violates a PDB \(Pod=default\/guarded\): .*disruption budget/),
    );
    await bench.kube.delete(Kinds.PodDisruptionBudget, { name: 'budget', namespace: 'default' });
    await bench.advance(40_000);
    await nothingIsLeft();
  });

  it('ends at the deadline, which gives pods their grace period before it', async () => {
    await up({ terminationGracePeriod: '5m' });
    const shield = { annotations: { [Annotations.doNotDisrupt]: 'true' } };
    await runningPod('shielded', { terminationGracePeriodSeconds: 60 }, shield);
    await bench.advance(5_000);
    await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
    await bench.advance(4 * 60_000 - 2_000);
    expect(await leaving()).toEqual([]);
    await bench.advance(3_000);
    expect(await leaving()).toEqual(['shielded']);
    await bench.advance(30_000);
    await nothingIsLeft();
    const warned = (await bench.events('TerminationGracePeriodExpiring')).map(
      ({ involvedObject }) => involvedObject.kind,
    );
    expect(new Set(warned)).toEqual(new Set(['Node', 'NodeClaim']));
  });

  it('with a grace period of zero deletes every pod of every tier at once', async () => {
    await up({ terminationGracePeriod: '0s' });
    await runningPod('ordinary', { terminationGracePeriodSeconds: 600 });
    await runningPod('critical-daemon', critical, await daemonOwned());
    await bench.advance(5_000);
    await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
    await bench.clock.idle();
    await bench.advance(1_000);
    expect(await podNames()).toEqual([]);
    await bench.advance(20_000);
    await nothingIsLeft();
  });

  it('ignores a deadline that is not a valid time', async () => {
    await up();
    const body = { metadata: { annotations: { [Annotations.terminationTimestamp]: 'tomorrow' } } };
    await bench.kube.patch(Kinds.NodeClaim, { name: 'a' }, { type: 'merge', body });
    await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
    await bench.advance(30_000);
    expect(bench.cloud.calls.delete).toBe(0);
  });
});

describe('volumes', () => {
  const attach = (name: string, persistentVolumeName: string) =>
    bench.kube.create(Kinds.VolumeAttachment, {
      metadata: { name },
      spec: { attacher: 'disk.csi.azure.com', nodeName: 'node-a', source: { persistentVolumeName } },
    });

  it('are detached before the instance is deleted', async () => {
    await up();
    await attach('va-1', 'pv-1');
    await bench.clock.idle();
    await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
    await bench.advance(60_000);
    expect(conditionOf(await bench.claim('a'), 'VolumesDetached')).toMatchObject({
      status: 'Unknown',
      reason: 'AwaitingVolumeDetachment',
    });
    expect((await bench.events('AwaitingVolumeDetachment'))[0]?.message).toContain('va-1');
    await bench.kube.delete(Kinds.VolumeAttachment, { name: 'va-1' });
    await bench.advance(10_000);
    await nothingIsLeft();
  });

  it('are not waited for past the deadline', async () => {
    await up({ terminationGracePeriod: '1m' });
    await attach('va-1', 'pv-1');
    bench.cloud.deletionTime = 60_000;
    await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
    await bench.advance(50_000);
    expect(bench.cloud.calls.delete).toBe(0);
    await bench.advance(12_000);
    expect(await bench.condition('a', 'VolumesDetached')).toBe('False TerminationGracePeriodElapsed');
    expect(bench.cloud.calls.delete).toBeGreaterThan(0);
  });

  it('of pods that stay until the end are ignored', async () => {
    await up();
    await bench.kube.create(Kinds.PersistentVolumeClaim, {
      metadata: { name: 'data', namespace: 'default' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, volumeName: 'pv-1' },
    });
    await runningPod('tolerant', {
      tolerations: [{ operator: 'Exists' }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
    });
    await attach('va-1', 'pv-1');
    await bench.advance(5_000);
    await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
    await bench.advance(15_000);
    expect(bench.cloud.instances).toEqual([]);
  });
});
