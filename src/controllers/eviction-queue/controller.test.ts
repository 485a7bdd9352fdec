import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { interceptedKube } from '../../../test/fixtures/engine/interceptedKube.ts';
import { Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds, type Pod } from '../../api/kinds.ts';
import { Annotations } from '../../api/labels.ts';
import { KubeError } from '../../kube/errors.ts';
import { EvictionQueue } from './controller.ts';

let bench: Workbench;
let queue: EvictionQueue;
/** Virtual seconds at which an eviction was requested. */
let asked: number[];
let answer: (() => KubeError | undefined) | undefined;

beforeEach(async () => {
  asked = [];
  answer = undefined;
  bench = await Workbench.start({
    controllers: ({ world }) => {
      queue = new EvictionQueue(world);
      return [queue.controller()];
    },
    decorate: (kube) =>
      interceptedKube(kube, {
        evict: async (...request) => {
          asked.push((bench.clock.now() - start) / 1000);
          const refusal = answer?.();
          if (refusal) throw refusal;
          return kube.evict(...request);
        },
      }),
  });
  await bench.kube.create(Kinds.Node, { metadata: { name: 'n' }, spec: { providerID: 'memory://x' } });
});
afterEach(() => bench.close());

let start = 0;

async function queued(pod: Promise<Pod>, deadlineIn?: number): Promise<Pod> {
  const created = await pod;
  await bench.clock.idle();
  start = bench.clock.now();
  queue.add(created, deadlineIn === undefined ? undefined : start + deadlineIn);
  return created;
}

const onNode = (more: Partial<NonNullable<Pod['spec']>> = {}) => ({ nodeName: 'n', ...more });
/** Budgets protect pods that run; a pod that never started is evicted without asking them. */
async function running(metadata: Partial<Pod['metadata']>): Promise<Pod> {
  await bench.createPod('p', onNode(), metadata);
  const body = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } };
  return bench.kube.patch(
    Kinds.Pod,
    { name: 'p', namespace: 'default' },
    { type: 'merge', body },
    { subresource: 'status' },
  );
}

const find = (name = 'p') => bench.find(Kinds.Pod, name, 'default');

it('evicts the pod, with an event and metrics', async () => {
  await queued(bench.createPod('p', onNode()));
  await bench.clock.idle();
  expect((await find())?.metadata.deletionTimestamp).toBeDefined();
  expect((await bench.events('Evicted')).map(({ involvedObject, type }) => [type, involvedObject.name])).toEqual([
    ['Normal', 'p'],
  ]);
  expect(bench.metrics.value('karpenter_pods_eviction_requests_total', { code: '200' })).toBe(1);
  expect(bench.metrics.value('karpenter_pods_drained_total')).toBe(1);
});

it('gives the disruption reason that the claim has', async () => {
  await bench.createClaim('x');
  const condition = {
    type: 'DisruptionReason',
    status: 'True',
    reason: 'Drifted',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  const body = { status: { providerID: 'memory://x', conditions: [condition] } };
  await bench.kube.patch(Kinds.NodeClaim, { name: 'x' }, { type: 'merge', body }, { subresource: 'status' });
  await queued(bench.createPod('p', onNode()));
  await bench.clock.idle();
  expect(bench.metrics.value('karpenter_pods_drained_total', { reason: 'Drifted' })).toBe(1);
});

it('retries with growing waits while a disruption budget refuses', async () => {
  await bench.kube.create(Kinds.PodDisruptionBudget, {
    metadata: { name: 'b', namespace: 'default' },
    spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'a' } } },
  });
  await queued(running({ labels: { app: 'a' } }));
  await bench.advance(35_000);
  expect(asked).toEqual([0, 0.1, 0.3, 0.7, 1.5, 3.1, 6.3, 12.7, 22.7, 32.7]);
  expect(bench.metrics.value('karpenter_pods_eviction_requests_total', { code: '429' })).toBe(10);
  const [event] = await bench.events('FailedDraining');
  expect(event?.involvedObject).toMatchObject({ kind: 'Node', name: 'n' });
  await bench.kube.delete(Kinds.PodDisruptionBudget, { name: 'b', namespace: 'default' });
  await bench.advance(10_000);
  expect((await find())?.metadata.deletionTimestamp).toBeDefined();
});

it('keeps retrying when several budgets cover the pod', async () => {
  for (const name of ['b', 'c']) {
    await bench.kube.create(Kinds.PodDisruptionBudget, {
      metadata: { name, namespace: 'default' },
      spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'a' } } },
    });
  }
  await queued(running({ labels: { app: 'a' } }));
  await bench.advance(5_000);
  expect(asked.length).toBeGreaterThan(3);
  expect(await bench.events('FailedDraining')).toHaveLength(1);
  expect((await find())?.metadata.deletionTimestamp).toBeUndefined();
});

it.each([404, 409])('drops a pod silently on %i', async (code) => {
  answer = () => new KubeError({ code, reason: code === 404 ? 'NotFound' : 'Conflict' });
  await queued(bench.createPod('p', onNode()));
  await bench.advance(30_000);
  expect(asked).toEqual([0]);
  expect(await bench.events('Evicted')).toEqual([]);
});

it('retries after server errors', async () => {
  answer = () => (asked.length < 3 ? new KubeError({ code: 500, reason: 'InternalError' }) : undefined);
  await queued(bench.createPod('p', onNode()));
  await bench.advance(1_000);
  expect(asked).toHaveLength(3);
  expect(bench.metrics.value('karpenter_pods_eviction_requests_total', { code: '500' })).toBe(2);
  expect((await find())?.metadata.deletionTimestamp).toBeDefined();
});

it('does not touch another pod of the same name', async () => {
  const created = await bench.createPod('p', onNode());
  await bench.kube.delete(Kinds.Pod, { name: 'p', namespace: 'default' }, { gracePeriodSeconds: 0 });
  await bench.createPod('p', onNode());
  await bench.clock.idle();
  queue.add(created);
  await bench.advance(10_000);
  expect(asked).toEqual([]);
  expect((await find())?.metadata.deletionTimestamp).toBeUndefined();
});

describe('do-not-disrupt', () => {
  const shielded = (value: string) => ({ annotations: { [Annotations.doNotDisrupt]: value } });
  const startedAt = async (time: string): Promise<void> => {
    const body = { status: { startTime: time } };
    await bench.kube.patch(
      Kinds.Pod,
      { name: 'p', namespace: 'default' },
      { type: 'merge', body },
      { subresource: 'status' },
    );
    await bench.clock.idle();
  };

  it('blocks eviction for good when it is "true"', async () => {
    await queued(bench.createPod('p', onNode(), shielded('true')));
    await bench.advance(3_600_000);
    expect(asked).toEqual([]);
  });

  it('blocks eviction for a duration since the pod started, and reports its end', async () => {
    const pod = await bench.createPod('p', onNode(), shielded('1m'));
    await startedAt('2026-01-01T00:00:00Z');
    await queued(Promise.resolve(pod));
    await bench.advance(59_000);
    expect(asked).toEqual([]);
    expect((await bench.events('DoNotDisruptUntil')).map(({ message }) => message)).toEqual([
      'The karpenter.sh/do-not-disrupt grace period will elapse at 2026-01-01T00:01:00Z',
    ]);
    await bench.advance(15_000);
    expect(asked).toHaveLength(1);
    expect(await bench.events('DoNotDisruptGracePeriodElapsed')).toHaveLength(1);
  });

  it('blocks eviction of a pod that has not started yet', async () => {
    await queued(bench.createPod('p', onNode(), shielded('1m')));
    await bench.advance(600_000);
    expect(asked).toEqual([]);
  });

  it.each(['soon', '0s', '-5m'])('is ignored with an event when it says %s', async (value) => {
    await queued(bench.createPod('p', onNode(), shielded(value)));
    await bench.clock.idle();
    expect(asked).toEqual([0]);
    expect(await bench.events('InvalidDoNotDisruptAnnotation')).toHaveLength(1);
  });
});

describe('a deadline', () => {
  it('gives the pod its whole grace period before it, despite budgets and do-not-disrupt', async () => {
    const shield = { annotations: { [Annotations.doNotDisrupt]: 'true' } };
    await queued(bench.createPod('p', onNode({ terminationGracePeriodSeconds: 30 }), shield), 60_000);
    await bench.advance(29_999);
    expect((await find())?.metadata.deletionTimestamp).toBeUndefined();
    await bench.advance(1);
    expect((await find())?.metadata).toMatchObject({
      deletionTimestamp: '2026-01-01T00:01:00Z',
      deletionGracePeriodSeconds: 30,
    });
    expect(await bench.events('Disrupted')).toHaveLength(1);
    expect(asked).toEqual([]);
  });

  it('of zero deletes at once, with the shortest grace period', async () => {
    await queued(bench.createPod('p', onNode()), 0);
    await bench.clock.idle();
    expect((await find())?.metadata.deletionGracePeriodSeconds).toBe(1);
  });

  it('shortens a longer grace period of a terminating pod, once', async () => {
    await bench.createPod('p', onNode({ terminationGracePeriodSeconds: 600 }));
    await bench.kube.delete(Kinds.Pod, { name: 'p', namespace: 'default' });
    const pod = await queued(bench.kube.get(Kinds.Pod, { name: 'p', namespace: 'default' }), 10_000);
    await bench.clock.idle();
    expect((await find())?.metadata.deletionTimestamp).toBe('2026-01-01T00:00:10Z');
    queue.add(pod, start + 10_000);
    await bench.clock.idle();
    expect(bench.metrics.value('karpenter_pods_drained_total')).toBe(1);
  });

  it('that is moved earlier takes effect', async () => {
    const shield = { annotations: { [Annotations.doNotDisrupt]: 'true' } };
    const pod = await queued(bench.createPod('p', onNode({ terminationGracePeriodSeconds: 1 }), shield), 3_600_000);
    await bench.advance(60_000);
    queue.add(pod, start + 70_000);
    queue.add(pod, start + 900_000);
    await bench.advance(9_500);
    expect((await find())?.metadata.deletionTimestamp).toBeDefined();
  });
});
