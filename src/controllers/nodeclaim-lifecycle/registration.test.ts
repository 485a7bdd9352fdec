import { startLifecycle } from '../../../test/fixtures/engine/lifecycleBench.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { type Workbench, CLASS_LABEL, conditionOf } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import { Finalizers, Labels, Taints } from '../../api/labels.ts';
import type { RegistrationHook } from './registrationHook.ts';

let bench: Workbench;

const start = async (...setting: Parameters<typeof startLifecycle>): Promise<void> => {
  bench = await startLifecycle(...setting);
};
afterEach(() => bench.close());

const MINUTE = 60_000;
const UP = 30_000;

const node = (name = 'node-a') => bench.kube.get(Kinds.Node, { name });

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
    bench.cloud.bootChange = (instance) => ({
      ...instance,
      labels: { ...instance.labels, [Labels.doNotSyncTaints]: 'true' },
    });
    await bench.createClaim('a', { taints: [taint] });
    await bench.advance(UP);
    expect((await node()).spec?.taints ?? []).toEqual([]);
  });

  it('reports a Node that joined without the unregistered taint, and continues', async () => {
    await start();
    bench.cloud.bootChange = (instance) => ({ ...instance, taints: [] });
    await bench.createClaim('a');
    await bench.advance(UP);
    expect(await bench.events('UnregisteredTaintMissing')).toHaveLength(1);
    expect(await bench.condition('a', 'Registered')).toBe('True Registered');
  });

  it('puts no startup taint back on a Node that a process registered before it ended', async () => {
    await start();
    bench.cloud.bootChange = (instance) => ({
      ...instance,
      labels: { ...instance.labels, [Labels.registered]: 'true' },
      taints: [taint],
    });
    await bench.createClaim('a', { taints: [taint], startupTaints: [startup] });
    await bench.advance(UP);
    expect((await node()).spec?.taints).toEqual([taint]);
    expect(await bench.events('UnregisteredTaintMissing')).toEqual([]);
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

  it('waits for hooks with the taint on, although everything else is done', async () => {
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
    expect(bench.decisions('removal')).toEqual(['NodeClaim a is removed: its node did not join in time']);
  });
});

describe('initialization', () => {
  const startup = { key: 'agent-not-ready', effect: 'NoExecute' as const };

  it('is done when the Node is Ready', async () => {
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

  it('waits for taints that are removed automatically', async () => {
    await start();
    bench.cloud.bootChange = (instance) => ({
      ...instance,
      taints: [...instance.taints, { key: 'readiness.k8s.io/gpu', effect: 'NoSchedule' }],
    });
    await bench.createClaim('a');
    await bench.advance(UP);
    expect(await bench.condition('a', 'Initialized')).toBe('Unknown KnownEphemeralTaintsExist');
  });

  it('waits for every requested resource', async () => {
    await start();
    bench.cloud.bootChange = (instance) => ({ ...instance, allocatable: { ...instance.allocatable, cpu: '0' } });
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
