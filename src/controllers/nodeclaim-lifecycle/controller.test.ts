import { afterEach, describe, expect, it } from 'vitest';
import { interceptedKube } from '../../../test/fixtures/engine/interceptedKube.ts';
import {
  Workbench,
  CLASS_LABEL,
  CLASS_REF,
  conditionOf,
  START,
  type WorkbenchOptions,
} from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import { Annotations, Finalizers, Labels, Taints } from '../../api/labels.ts';
import { InsufficientCapacityError, LaunchError, NodeClassNotReadyError } from '../../cloud/errors.ts';
import { nodeClaimLifecycleController } from './controller.ts';
import type { RegistrationHook } from './registrationHook.ts';

let bench: Workbench;

async function start(hooks: readonly RegistrationHook[] = [], options: Partial<WorkbenchOptions> = {}): Promise<void> {
  bench = await Workbench.start({
    controllers: ({ world }) => [nodeClaimLifecycleController(world, { hooks })],
    ...options,
  });
}

afterEach(() => bench.close());

const MINUTE = 60_000;
const UP = 30_000;

const node = (name = 'node-a') => bench.kube.get(Kinds.Node, { name });

describe('launch', () => {
  it('adds the finalizer before the launch', async () => {
    await start();
    const finalizersAtLaunch: (readonly string[])[] = [];
    const create = bench.cloud.create.bind(bench.cloud);
    bench.cloud.create = async (request) => {
      finalizersAtLaunch.push((await bench.claim(request.claim.metadata.name)).metadata.finalizers ?? []);
      return create(request);
    };
    await bench.createClaim('a');
    await bench.clock.idle();
    expect(finalizersAtLaunch).toEqual([[Finalizers.termination]]);
  });

  it('writes what the cloud returned, and keeps the labels of the claim', async () => {
    await start();
    await bench.createClaim('a', {}, { labels: { team: 'blue', [Labels.zone]: 'chosen' } });
    await bench.clock.idle();
    const claim = await bench.claim('a');
    expect(claim.status).toMatchObject({
      providerID: 'memory://a',
      imageID: 'memory-image',
      capacity: { cpu: '2' },
      allocatable: { cpu: '1900m' },
    });
    expect(claim.metadata.labels).toMatchObject({ team: 'blue', [Labels.zone]: 'chosen', [Labels.instanceType]: 'm2' });
    expect(await bench.condition('a', 'Launched')).toBe('True Launched');
    expect(await bench.condition('a', 'Registered')).toBe('Unknown NodeNotFound');
    expect(await bench.condition('a', 'Ready')).toBe('Unknown ReconcilingDependents');
  });

  it('deletes the claim when there is no capacity', async () => {
    await start();
    bench.cloud.launchFailures.push(new InsufficientCapacityError('sold out everywhere'));
    await bench.createClaim('a');
    await bench.advance(1_000);
    expect(await bench.claims()).toEqual([]);
    expect((await bench.events('InsufficientCapacityError')).map(({ message, type }) => [type, message])).toEqual([
      ['Warning', expect.stringContaining('sold out everywhere')],
    ]);
    expect(bench.metrics.value('karpenter_nodeclaims_disrupted_total', { reason: 'insufficient_capacity' })).toBe(1);
  });

  it('deletes the claim when its class is not ready', async () => {
    await start();
    bench.cloud.launchFailures.push(new NodeClassNotReadyError('AKSNodeClass default', 'is being deleted'));
    await bench.createClaim('a');
    await bench.advance(1_000);
    expect(await bench.claims()).toEqual([]);
    expect(await bench.events('NodeClassNotReady')).toMatchObject([
      { type: 'Warning', message: expect.stringContaining('is being deleted') as string },
    ]);
    expect(bench.metrics.value('karpenter_nodeclaims_disrupted_total', { reason: 'nodeclass_not_ready' })).toBe(1);
  });

  it('deletes the claim when its launch fails after the cloud has accepted it', async () => {
    await start();
    bench.cloud.lateFailure = { delay: 20_000, error: new LaunchError('AllocationFailure', 'no room in the zone') };
    await bench.createClaim('a');
    await bench.advance(10_000);
    expect(await bench.condition('a', 'Launched')).toBe('True Launched');
    await bench.advance(20_000);
    expect(await bench.find(Kinds.NodeClaim, 'a')).toBeUndefined();
    expect(await bench.events('AsyncProvisioningError')).toMatchObject([
      { message: expect.stringMatching(/^Failed to register: .*no room in the zone/) as string },
    ]);
    expect(bench.metrics.value('karpenter_nodeclaims_disrupted_total', { reason: 'async_provisioning' })).toBe(1);
  });

  it('waits a moment for a node class that is not in the informer yet, and deletes the claim when there is none', async () => {
    await start();
    const launched = (): number => bench.cloud.calls.create;
    await bench.createClaim('early', { nodeClassRef: { ...CLASS_REF, name: 'late' } });
    await bench.advance(1_000);
    await bench.kube.create(Kinds.KWOKNodeClass, { metadata: { name: 'late' } });
    await bench.advance(3_000);
    expect(await bench.condition('early', 'Launched')).toBe('True Launched');
    await bench.createClaim('lost', { nodeClassRef: { ...CLASS_REF, name: 'missing' } });
    const before = launched();
    await bench.advance(5_000);
    expect(await bench.find(Kinds.NodeClaim, 'lost')).toBeUndefined();
    expect(launched()).toBe(before);
    expect(await bench.events('NodeClassResolutionError')).toMatchObject([
      { message: 'KWOKNodeClass missing does not exist or is being deleted' },
    ]);
    expect(await bench.events('InsufficientCapacityError')).toHaveLength(1);
  });

  it('counts a node class that is being deleted as missing', async () => {
    await start();
    const metadata = { name: 'leaving', finalizers: ['example.com/kept'] };
    await bench.kube.create(Kinds.KWOKNodeClass, { metadata });
    await bench.kube.delete(Kinds.KWOKNodeClass, { name: 'leaving' });
    await bench.createClaim('a', { nodeClassRef: { ...CLASS_REF, name: 'leaving' } });
    await bench.advance(5_000);
    expect(await bench.find(Kinds.NodeClaim, 'a')).toBeUndefined();
    expect(bench.cloud.calls.create).toBe(0);
  });

  it('reports why a launch failed, and retries', async () => {
    await start();
    bench.cloud.launchFailures.push(new LaunchError('QuotaExceeded', 'no cores left'), new Error('x'.repeat(500)));
    await bench.createClaim('a');
    await bench.clock.idle();
    expect(conditionOf(await bench.claim('a'), 'Launched')).toMatchObject({
      status: 'Unknown',
      reason: 'QuotaExceeded',
      message: 'no cores left',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    });
    await bench.advance(1_000);
    const second = conditionOf(await bench.claim('a'), 'Launched');
    expect(second?.reason).toBe('LaunchFailed');
    expect(second?.message).toHaveLength(300);
    await bench.advance(2_000);
    expect(await bench.condition('a', 'Launched')).toBe('True Launched');
    expect(await bench.events('QuotaExceeded')).toMatchObject([
      { type: 'Warning', involvedObject: { name: 'a' }, message: 'NodeClaim a event: no cores left' },
    ]);
    expect(await bench.events('LaunchFailed')).toHaveLength(1);
  });

  it('deletes the claim after five minutes without a launch', async () => {
    await start();
    bench.cloud.launchOutage = new Error('the cloud is down');
    await bench.createClaim('a');
    await bench.advance(5 * MINUTE - 1_000);
    expect(await bench.claims()).toHaveLength(1);
    await bench.advance(2_000);
    expect(await bench.claims()).toEqual([]);
    expect(bench.metrics.value('karpenter_nodeclaims_disrupted_total', { reason: 'launch_timeout' })).toBe(1);
  });

  it('does not launch again when the answer could not be stored', async () => {
    let refuse = true;
    await start([], {
      decorate: (kube) =>
        interceptedKube(kube, {
          patch: async (kind, ref, patch, options) => {
            if (kind.kind === 'NodeClaim' && options?.subresource === 'status' && refuse) {
              refuse = false;
              throw new Error('the connection broke');
            }
            return kube.patch(kind, ref, patch, options);
          },
        }),
    });
    await bench.createClaim('a');
    await bench.advance(5_000);
    expect(await bench.condition('a', 'Launched')).toBe('True Launched');
    expect(bench.cloud.calls.create).toBe(1);
  });

  it('leaves claims of other providers alone', async () => {
    await start();
    await bench.createClaim('a', { nodeClassRef: { group: 'other.io', kind: 'OtherClass', name: 'x' } });
    await bench.advance(MINUTE);
    expect((await bench.claim('a')).metadata.finalizers).toBeUndefined();
    expect(bench.cloud.calls.create).toBe(0);
  });
});

describe('registration', () => {
  const taint = { key: 'dedicated', value: 'db', effect: 'NoSchedule' as const };
  const startup = { key: 'agent-not-ready', effect: 'NoExecute' as const };

  it('gives the Node the labels, taints and annotations of the claim', async () => {
    await start();
    const { metadata } = await bench.createClaim(
      'a',
      { taints: [taint], startupTaints: [startup] },
      { labels: { team: 'blue' }, annotations: { note: 'kept' } },
    );
    await bench.advance(UP);
    const joined = await node();
    expect(joined.metadata.labels).toMatchObject({
      [Labels.registered]: 'true',
      [Labels.nodePool]: 'default',
      [CLASS_LABEL]: 'default',
      team: 'blue',
    });
    expect(joined.metadata.annotations).toMatchObject({ note: 'kept' });
    expect(joined.metadata.finalizers).toEqual([Finalizers.termination]);
    expect(joined.metadata.ownerReferences).toEqual([
      { apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', name: 'a', uid: metadata.uid, blockOwnerDeletion: true },
    ]);
    expect(joined.spec?.taints).toEqual([taint, startup]);
    expect((await bench.claim('a')).status?.nodeName).toBe('node-a');
    expect(await bench.condition('a', 'Registered')).toBe('True Registered');
    expect(bench.metrics.value('karpenter_nodes_created_total', { nodepool: 'default' })).toBe(1);
    expect(await bench.events('UnregisteredTaintMissing')).toEqual([]);
  });

  it('leaves taints alone when the Node has the label for it', async () => {
    await start();
    bench.cloud.machineChange = (machine) => ({
      ...machine,
      labels: { ...machine.labels, [Labels.doNotSyncTaints]: 'true' },
    });
    await bench.createClaim('a', { taints: [taint] });
    await bench.advance(UP);
    expect((await node()).spec?.taints ?? []).toEqual([]);
  });

  it('reports a Node that joined without the unregistered taint, and continues', async () => {
    await start();
    bench.cloud.machineChange = (machine) => ({ ...machine, taints: [] });
    await bench.createClaim('a');
    await bench.advance(UP);
    expect(await bench.events('UnregisteredTaintMissing')).toHaveLength(1);
    expect(await bench.condition('a', 'Registered')).toBe('True Registered');
  });

  it('refuses to choose between two Nodes', async () => {
    await start();
    await bench.kube.create(Kinds.Node, { metadata: { name: 'impostor' }, spec: { providerID: 'memory://a' } });
    bench.cloud.joins = false;
    await bench.kube.create(Kinds.Node, { metadata: { name: 'impostor-2' }, spec: { providerID: 'memory://a' } });
    await bench.createClaim('a');
    await bench.advance(1_000);
    expect(await bench.condition('a', 'Registered')).toBe('False MultipleNodesFound');
    expect(await bench.condition('a', 'Ready')).toBe('False UnhealthyDependents');
  });

  it('waits for hooks with the taint on, although the rest is in place', async () => {
    let done = false;
    const hook: RegistrationHook = { name: 'network', isDone: async () => done || { requeueAfter: 3_000 } };
    await start([hook]);
    await bench.createClaim('a', {}, { labels: { team: 'blue' } });
    await bench.advance(UP);
    expect(conditionOf(await bench.claim('a'), 'Registered')).toMatchObject({
      status: 'Unknown',
      reason: 'RegistrationHookPending',
      message: 'network',
    });
    expect((await node()).spec?.taints).toContainEqual(Taints.unregistered);
    expect((await node()).metadata.labels).toMatchObject({ team: 'blue' });
    expect((await node()).metadata.labels?.[Labels.registered]).toBeUndefined();
    done = true;
    await bench.advance(3_000);
    expect(await bench.condition('a', 'Registered')).toBe('True Registered');
    expect((await node()).spec?.taints ?? []).toEqual([]);
  });

  it('deletes the claim and its instance after a quarter of an hour', async () => {
    await start();
    bench.cloud.joins = false;
    await bench.createClaim('a');
    await bench.advance(15 * MINUTE - 1_000);
    expect(await bench.claims()).toHaveLength(1);
    await bench.advance(10_000);
    expect(await bench.claims()).toEqual([]);
    expect(bench.cloud.instances).toEqual([]);
    expect(bench.metrics.value('karpenter_nodeclaims_disrupted_total', { reason: 'registration_timeout' })).toBe(1);
  });
});

describe('initialization', () => {
  const startup = { key: 'agent-not-ready', effect: 'NoExecute' as const };

  it('comes when the Node is Ready', async () => {
    await start();
    await bench.createClaim('a');
    await bench.advance(21_000);
    expect(await bench.condition('a', 'Initialized')).toBe('Unknown NodeNotReady');
    await bench.advance(5_000);
    expect(await bench.condition('a', 'Initialized')).toBe('True Initialized');
    expect(await bench.condition('a', 'Ready')).toBe('True Ready');
    expect((await node()).metadata.labels?.[Labels.initialized]).toBe('true');
  });

  it('waits for start-up taints, whatever their value, and does not put them back', async () => {
    await start();
    await bench.createClaim('a', { startupTaints: [startup] });
    await bench.advance(UP);
    expect(await bench.condition('a', 'Initialized')).toBe('Unknown StartupTaintsExist');
    await bench.kube.patch(Kinds.Node, { name: 'node-a' }, { type: 'merge', body: { spec: { taints: [] } } });
    await bench.clock.idle();
    expect(await bench.condition('a', 'Initialized')).toBe('True Initialized');
    expect((await node()).spec?.taints ?? []).toEqual([]);
  });

  it('waits for taints that go away by themselves', async () => {
    await start();
    bench.cloud.machineChange = (machine) => ({
      ...machine,
      taints: [...machine.taints, { key: 'readiness.k8s.io/gpu', effect: 'NoSchedule' }],
    });
    await bench.createClaim('a');
    await bench.advance(UP);
    expect(await bench.condition('a', 'Initialized')).toBe('Unknown KnownEphemeralTaintsExist');
  });

  it('waits for every resource that was asked for', async () => {
    await start();
    bench.cloud.machineChange = (machine) => ({ ...machine, allocatable: { ...machine.allocatable, cpu: '0' } });
    await bench.createClaim('a');
    await bench.advance(UP);
    expect(conditionOf(await bench.claim('a'), 'Initialized')).toMatchObject({
      reason: 'ResourceNotRegistered',
      message: expect.stringContaining('"cpu"') as string,
    });
    await bench.kube.patch(
      Kinds.Node,
      { name: 'node-a' },
      { type: 'merge', body: { status: { allocatable: { cpu: '2' } } } },
      { subresource: 'status' },
    );
    await bench.clock.idle();
    expect(await bench.condition('a', 'Initialized')).toBe('True Initialized');
  });
});

describe('the end of a claim', () => {
  it('waits for a Node that has registered, though the claim does not say so yet', async () => {
    await start();
    await bench.createClaim('a');
    await bench.advance(60_000);
    const { status } = await bench.claim('a');
    const conditions = status?.conditions?.map((each) =>
      each.type === 'Registered' ? { ...each, status: 'Unknown', reason: 'NodeNotFound' } : each,
    );
    // As it stands between the two writes of a registration, with a process that died there.
    await bench.stopEngine();
    const body = { status: { conditions } };
    await bench.kube.patch(Kinds.NodeClaim, { name: 'a' }, { type: 'merge', body }, { subresource: 'status' });
    await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
    bench.startEngine();
    await bench.advance(30_000);
    expect(bench.cloud.instances).toHaveLength(1);
    expect((await bench.nodes())[0]?.metadata.deletionTimestamp).toBeDefined();
    await bench.kube.patch(Kinds.Node, { name: 'node-a' }, { type: 'merge', body: { metadata: { finalizers: null } } });
    await bench.advance(30_000);
    expect(bench.cloud.instances).toEqual([]);
    expect(await bench.claims()).toEqual([]);
  });

  it('deletes the Node, waits for it, then the instance, then lets the claim go', async () => {
    await start();
    bench.cloud.deletionTime = 8_000;
    await bench.createClaim('a');
    await bench.advance(UP);
    await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
    await bench.advance(MINUTE);
    // No controller finalizes Nodes here: the claim waits for that.
    expect((await node()).metadata.deletionTimestamp).toBe('2026-01-01T00:00:30Z');
    expect(bench.cloud.calls.delete).toBe(0);
    await bench.kube.patch(Kinds.Node, { name: 'node-a' }, { type: 'merge', body: { metadata: { finalizers: null } } });
    await bench.clock.idle();
    expect(await bench.condition('a', 'InstanceTerminating')).toBe('True InstanceTerminating');
    await bench.advance(5_000);
    expect(await bench.claims()).toHaveLength(1);
    await bench.advance(5_000);
    expect(await bench.claims()).toEqual([]);
    expect(bench.cloud.instances).toEqual([]);
    expect(bench.metrics.value('karpenter_nodeclaims_terminated_total', { nodepool: 'default' })).toBe(1);
    expect(bench.metrics.observed('karpenter_nodeclaims_termination_duration_seconds')).toEqual([70]);
    expect(bench.metrics.observed('karpenter_nodeclaims_instance_termination_duration_seconds')).toEqual([70]);
  });

  it('writes the termination time once, with an event', async () => {
    await start();
    await bench.createClaim('a', { terminationGracePeriod: '10m' });
    await bench.advance(UP);
    await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
    await bench.clock.idle();
    const { annotations } = (await bench.claim('a')).metadata;
    expect(annotations?.[Annotations.terminationTimestamp]).toBe('2026-01-01T00:10:30Z');
    expect(
      (await bench.events('TerminationGracePeriodExpiring')).map(({ involvedObject }) => involvedObject.kind),
    ).toEqual(['NodeClaim']);
  });

  it('keeps a termination time that is already set', async () => {
    await start();
    await bench.createClaim('a', { terminationGracePeriod: '10m' });
    await bench.advance(UP);
    const body = { metadata: { annotations: { [Annotations.terminationTimestamp]: '2026-01-01T00:00:31Z' } } };
    await bench.kube.patch(Kinds.NodeClaim, { name: 'a' }, { type: 'merge', body });
    await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
    await bench.clock.idle();
    expect((await bench.claim('a')).metadata.annotations?.[Annotations.terminationTimestamp]).toBe(
      '2026-01-01T00:00:31Z',
    );
  });

  it('does not touch the Node of a claim that never registered', async () => {
    await start([{ name: 'never', isDone: async () => ({ requeueAfter: 60_000 }) }]);
    bench.cloud.deletionTime = MINUTE;
    await bench.createClaim('a');
    await bench.advance(UP);
    await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
    await bench.advance(10_000);
    expect((await node()).metadata.deletionTimestamp).toBeUndefined();
    expect(bench.cloud.instances).toMatchObject([{ deleting: true }]);
  });

  it('lets no pod onto a Node whose instance the claim does not name yet', async () => {
    let isBroken = true;
    await start([], {
      decorate: (kube) =>
        interceptedKube(kube, {
          patch: async (kind, ref, patch, options) => {
            const isStatus = kind.kind === 'NodeClaim' && options?.subresource === 'status';
            if (isBroken && isStatus) throw new Error('the connection broke');
            return kube.patch(kind, ref, patch, options);
          },
        }),
    });
    await bench.createClaim('a');
    await bench.advance(UP + MINUTE);
    expect((await node()).spec?.taints).toContainEqual(expect.objectContaining(Taints.unregistered));
    isBroken = false;
    await bench.advance(2 * MINUTE);
    expect((await node()).metadata.labels).toMatchObject({ [Labels.registered]: 'true' });
  });

  it('deletes an instance whose launch was never recorded', async () => {
    await start([], {
      decorate: (kube) =>
        interceptedKube(kube, {
          patch: async (kind, ref, patch, options) => {
            if (kind.kind === 'NodeClaim' && options?.subresource === 'status') throw new Error('the connection broke');
            return kube.patch(kind, ref, patch, options);
          },
        }),
    });
    bench.cloud.joins = false;
    await bench.createClaim('a');
    await bench.clock.idle();
    expect(bench.cloud.instances).toHaveLength(1);
    expect((await bench.claim('a')).status?.providerID).toBeUndefined();
    await bench.stopEngine();
    bench.startEngine();
    await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
    await bench.advance(10_000);
    expect(bench.cloud.instances).toEqual([]);
    expect(await bench.claims()).toEqual([]);
  });

  it('keeps trying when the cloud does not answer', async () => {
    await start();
    bench.cloud.joins = false;
    await bench.createClaim('a');
    await bench.clock.idle();
    const remove = bench.cloud.delete.bind(bench.cloud);
    bench.cloud.delete = async () => Promise.reject(new Error('throttled'));
    await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
    await bench.advance(10_000);
    expect(await bench.claims()).toHaveLength(1);
    bench.cloud.delete = remove;
    await bench.advance(MINUTE);
    expect(await bench.claims()).toEqual([]);
  });
});

describe('a restart', () => {
  it('continues a claim where it was left', async () => {
    await start();
    await bench.createClaim('a');
    await bench.advance(10_000);
    await bench.stopEngine();
    await bench.advance(UP);
    bench.startEngine();
    await bench.advance(1_000);
    expect(await bench.condition('a', 'Ready')).toBe('True Ready');
    expect(bench.cloud.launches).toEqual(['a']);
  });

  it('counts timeouts from the creation of the claim, not from the start of the process', async () => {
    await start();
    bench.cloud.joins = false;
    await bench.createClaim('a');
    await bench.advance(14 * MINUTE);
    await bench.stopEngine();
    bench.startEngine();
    await bench.advance(START + 15 * MINUTE + 10_000 - bench.clock.now());
    expect(await bench.claims()).toEqual([]);
  });
});
