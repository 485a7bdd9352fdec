import { startLifecycle } from '../../../test/fixtures/engine/lifecycleBench.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { interceptedKube } from '../../../test/fixtures/engine/interceptedKube.ts';
import { type Workbench, CLASS_REF, conditionOf, START } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import { Annotations, Finalizers, Labels } from '../../api/labels.ts';
import { InsufficientCapacityError, LaunchError, NodeClassNotReadyError } from '../../cloud/errors.ts';

let bench: Workbench;

const start = async (...setting: Parameters<typeof startLifecycle>): Promise<void> => {
  bench = await startLifecycle(...setting);
};
afterEach(() => bench.close());

const MINUTE = 60_000;
const UP = 30_000;

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
    const annotations = { [Annotations.plannedOfferings]: 'm2/z1/spot,m2/z2/spot' };
    await bench.createClaim('a', {}, { annotations });
    await bench.advance(1_000);
    expect(await bench.claims()).toEqual([]);
    expect(bench.records()).toMatchObject([
      {
        kind: 'launch-failure',
        reason: 'InsufficientCapacity',
        planned: { instanceType: 'm2', zone: 'z1', capacityType: 'spot' },
      },
    ]);
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
