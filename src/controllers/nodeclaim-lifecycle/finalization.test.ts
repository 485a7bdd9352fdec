import { startLifecycle } from '../../../test/fixtures/engine/lifecycleBench.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { interceptedKube } from '../../../test/fixtures/engine/interceptedKube.ts';
import type { Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import { Annotations, Labels, Taints } from '../../api/labels.ts';

let bench: Workbench;

const start = async (...setting: Parameters<typeof startLifecycle>): Promise<void> => {
  bench = await startLifecycle(...setting);
};
afterEach(() => bench.close());

const MINUTE = 60_000;
const UP = 30_000;

const node = (name = 'node-a') => bench.kube.get(Kinds.Node, { name });

describe('the end of a claim', () => {
  it('waits for a Node that has registered, though the claim does not say so yet', async () => {
    await start();
    await bench.createClaim('a');
    await bench.advance(60_000);
    const { status } = await bench.claim('a');
    const conditions = status?.conditions?.map((each) =>
      each.type === 'Registered' ? { ...each, status: 'Unknown', reason: 'NodeNotFound' } : each,
    );
    // The state between the two writes of a registration, when the process died there.
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

  it('deletes the Node, waits for it, then deletes the instance, then releases the claim', async () => {
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
    expect(bench.decisions('instance')).toEqual([
      expect.stringMatching(/^a: bought m2 in zone-\d on-demand$/),
      'a: leaving',
      'a: gone',
    ]);
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
