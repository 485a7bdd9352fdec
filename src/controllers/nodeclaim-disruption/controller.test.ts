import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { memoryInstanceType } from '../../../test/fixtures/engine/memoryCloud.ts';
import { poolSpec, Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import { Annotations, Labels } from '../../api/labels.ts';
import type { KubeObject, ResourceKind } from '../../api/object.ts';
import type { DriftSubject } from '../../cloud/cloudProvider.ts';
import { nodeClaimLifecycleController } from '../nodeclaim-lifecycle/controller.ts';
import { nodeClaimPodEventsController } from '../nodeclaim-podevents/controller.ts';
import { nodePoolHashController } from '../nodepool-hash/controller.ts';
import { nodeClaimDisruptionController } from './controller.ts';

const MINUTE = 60_000;

let bench: Workbench;
beforeEach(async () => {
  bench = await Workbench.start({
    controllers: ({ world }) => [
      nodeClaimDisruptionController(world),
      nodeClaimLifecycleController(world),
      nodeClaimPodEventsController(world),
      nodePoolHashController(world),
    ],
  });
});
afterEach(() => bench.close());

/** A pool, and a claim that was made from it and runs. */
async function launch(spec: Parameters<Workbench['createPool']>[1] = {}): Promise<void> {
  const { metadata } = await bench.createPool('default', spec);
  await bench.clock.idle();
  const pool = await bench.kube.get(Kinds.NodePool, { name: metadata.name });
  const hash = pool.metadata.annotations?.[Annotations.nodePoolHash] ?? '';
  const version = pool.metadata.annotations?.[Annotations.nodePoolHashVersion] ?? '';
  const annotations = { [Annotations.nodePoolHash]: hash, [Annotations.nodePoolHashVersion]: version };
  await bench.createClaim('a', {}, { annotations });
  await bench.advance(MINUTE);
}

const changePool = (spec: object) =>
  bench.kube.patch(Kinds.NodePool, { name: 'default' }, { type: 'merge', body: { spec } });
const drift = async (): Promise<string | undefined> => {
  await bench.clock.idle();
  return bench.condition('a', 'Drifted');
};

describe('drift', () => {
  it('is set when the template of the pool changes, and cleared when it changes back', async () => {
    await launch();
    expect(await drift()).toBeUndefined();
    await changePool({ template: { metadata: { labels: { team: 'blue' } } } });
    expect(await drift()).toBe('True NodePoolDrifted');
    await changePool({ template: { metadata: null } });
    expect(await drift()).toBeUndefined();
  });

  it('is set on an expired claim with forceful expiration off', async () => {
    await launch();
    const patch = (kind: ResourceKind<KubeObject>, name: string, body: object) =>
      bench.kube.patch(kind, { name }, { type: 'merge', body });
    await patch(Kinds.NodePool, 'default', {
      metadata: { annotations: { [Annotations.forcefulExpiration]: 'false' } },
    });
    await bench.createClaim('old', { expireAfter: '17m' });
    await bench.advance(16 * MINUTE);
    expect(await bench.condition('old', 'Drifted')).toBeUndefined();
    await bench.advance(1.1 * MINUTE);
    expect(await bench.condition('old', 'Drifted')).toBe('True Expired');
    expect(await bench.condition('a', 'Drifted')).toBeUndefined();
  });

  it('is not concluded from hashes of different versions', async () => {
    await launch();
    const body = { metadata: { annotations: { [Annotations.nodePoolHashVersion]: 'v0', other: 'x' } } };
    await bench.kube.patch(Kinds.NodeClaim, { name: 'a' }, { type: 'merge', body });
    await changePool({ template: { metadata: { labels: { team: 'blue' } } } });
    expect(await drift()).toBeUndefined();
  });

  it.each([
    [{ key: Labels.arch, operator: 'In', values: ['arm64'] }, 'True RequirementsDrifted'],
    [{ key: Labels.arch, operator: 'NotIn', values: ['arm64'] }, undefined],
    [{ key: 'example.com/missing', operator: 'Exists' }, 'True RequirementsDrifted'],
    [{ key: 'example.com/missing', operator: 'DoesNotExist' }, undefined],
  ])('from the requirement %j is %s', async (requirement, expected) => {
    await launch();
    await changePool({ template: { spec: { requirements: [requirement] } } });
    expect(await drift()).toBe(expected);
  });

  it('is set when the instance type is no longer offered, except on a new claim', async () => {
    await launch();
    bench.cloud.types = [memoryInstanceType('m4', 4, 0.19)];
    await bench.advance(30 * MINUTE);
    expect(await drift()).toBeUndefined();
    await bench.advance(40 * MINUTE);
    expect(await drift()).toBe('True InstanceTypeNotFound');
    bench.cloud.types = [memoryInstanceType('m2', 2, 0.1, { available: false })];
    await bench.advance(6 * MINUTE);
    expect(await drift()).toBeUndefined();
    bench.cloud.types = [memoryInstanceType('m2', 2, 0.1, { zones: ['zone-9'] })];
    await bench.advance(20 * MINUTE);
    expect(await drift()).toBeUndefined();
    await bench.advance(20 * MINUTE);
    expect(await drift()).toBe('True InstanceTypeNotFound');
  });

  it('is also set by the cloud, which is asked every five minutes', async () => {
    await launch();
    bench.cloud.drift = 'ImageDrift';
    await bench.advance(6 * MINUTE);
    expect(await drift()).toBe('True ImageDrift');
  });

  it('is not set before launch', async () => {
    bench.cloud.launchOutage = new Error('not today');
    bench.cloud.drift = 'ImageDrift';
    await launch();
    expect(await drift()).toBeUndefined();
  });
});

it('passes the node class and the node from the watches to the cloud, and does not ask without a node class', async () => {
  const subjects: (readonly [string, string | undefined])[] = [];
  bench.cloud.driftReason = async ({ nodeClass, node }: DriftSubject) => {
    subjects.push([nodeClass.metadata.name, node?.metadata.name]);
    return undefined;
  };
  await launch();
  expect(subjects.at(-1)).toEqual(['default', 'node-a']);
  await bench.kube.delete(Kinds.KWOKNodeClass, { name: 'default' });
  await bench.clock.idle();
  const asked = subjects.length;
  await bench.advance(10 * MINUTE);
  expect(subjects).toHaveLength(asked);
  expect(await drift()).toBeUndefined();
});

describe('consolidatable', () => {
  const consolidatable = async (): Promise<string | undefined> => {
    await bench.clock.idle();
    return bench.condition('a', 'Consolidatable');
  };
  const after = (consolidateAfter: string) => ({ disruption: { ...poolSpec().disruption, consolidateAfter } });

  it('is every initialized node, when consolidateAfter is zero', async () => {
    bench.cloud.joins = false;
    await launch(after('0s'));
    expect(await consolidatable()).toBeUndefined();
    await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
    await bench.kube.delete(Kinds.NodePool, { name: 'default' });
    await bench.advance(MINUTE);
    bench.cloud.joins = true;
    await launch(after('0s'));
    expect(await consolidatable()).toBe('True Consolidatable');
  });

  it('is a node without pod events for consolidateAfter, until a pod comes', async () => {
    await launch(after('10m'));
    await bench.advance(8 * MINUTE);
    expect(await consolidatable()).toBeUndefined();
    await bench.advance(2 * MINUTE);
    expect(await consolidatable()).toBe('True Consolidatable');
    await bench.createPod('p', { nodeName: 'node-a' });
    expect(await consolidatable()).toBeUndefined();
    await bench.advance(10 * MINUTE);
    expect(await consolidatable()).toBe('True Consolidatable');
  });

  it('follows a change of the pool', async () => {
    await launch(after('Never'));
    expect(await consolidatable()).toBeUndefined();
    await changePool(after('0s'));
    expect(await consolidatable()).toBe('True Consolidatable');
    await changePool(after('Never'));
    expect(await consolidatable()).toBeUndefined();
  });

  it('is no node of a static pool', async () => {
    await launch({ replicas: 1 });
    expect(await consolidatable()).toBeUndefined();
    expect(await bench.condition('a', 'Initialized')).toBe('True Initialized');
  });
});
