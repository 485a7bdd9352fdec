import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { memoryInstanceType } from '../fixtures/engine/memoryCloud.ts';
import { Workbench } from '../fixtures/engine/workbench.ts';
import { Kinds, type Pod } from '../../src/api/kinds.ts';
import { Labels } from '../../src/api/labels.ts';
import { hintedNode } from '../../src/api/placementHint.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { createEngine } from '../../src/cli/compose/engine.ts';

let bench: Workbench;
let ledger: Ledger;
const start = async (schedulers: readonly string[] | undefined = ['default-scheduler']): Promise<void> => {
  bench = await Workbench.start({
    engine: (ports) => {
      ledger = new Ledger({ now: () => ports.clock.now() });
      const placementHints = schedulers.length > 0 && { placementHints: { schedulers } };
      return createEngine({ ...ports, ledger, batchIdle: 1_000, batchMax: 10_000, ...placementHints });
    },
    pace: { boot: 5_000, ready: 3_000, podStart: 100 },
  });
  bench.cloud.types = [memoryInstanceType('m4', 4, 0.19)];
  await bench.createPool('default', {
    disruption: { consolidateAfter: 'Never', consolidationPolicy: 'WhenEmpty', budgets: [{ nodes: '10%' }] },
  });
  await bench.advance(5_000);
};
beforeEach(() => start());
afterEach(() => bench.close());

const sized = (cpu: string): { containers: { name: string; image: string; resources: object }[] } => ({
  containers: [{ name: 'main', image: 'app', resources: { requests: { cpu } } }],
});

/** Two nodes of 3.9 cores, both full: each has one large pod and small ones that only fit together. */
async function tightPods(spec: Partial<NonNullable<Pod['spec']>> = {}): Promise<void> {
  for (const [name, cpu] of [
    ['large-1', '2500m'],
    ['large-2', '2500m'],
    ['small-1', '1400m'],
    ['small-2', '700m'],
    ['small-3', '700m'],
  ] as const) {
    await bench.createPod(name, { ...sized(cpu), ...spec });
  }
}

const bound = async (): Promise<number> => (await bench.pods()).filter(({ spec }) => spec?.nodeName).length;
const get = (name: string): Promise<Pod> => bench.kube.get(Kinds.Pod, { name, namespace: 'default' });
const nominate = (name: string, nominatedNodeName: string | null): Promise<Pod> =>
  bench.kube.patch(
    Kinds.Pod,
    { name, namespace: 'default' },
    { type: 'merge', body: { status: { nominatedNodeName } } },
    { subresource: 'status', fieldManager: 'kube-scheduler' },
  );
const hints = (outcome: string): number => bench.metrics.value('nodewright_placement_hints_total', { outcome }) ?? 0;

/** Until the Nodes of the plan have joined, one step at a time. */
async function untilJoined(count: number): Promise<void> {
  for (let step = 0; step < 2_000 && (await bench.nodes()).length < count; step++) await bench.advance(10);
}

describe('a tight plan', () => {
  it('is what runs: every pod is on its node after one round of buying', async () => {
    await tightPods();
    await bench.advance(30_000);
    expect([await bound(), (await bench.claims()).length]).toEqual([5, 2]);
    expect([hints('followed'), hints('lost')]).toEqual([5, 0]);
    // Once when its node joins, and again when the scheduler tries before the node is ready, which is when a taint goes.
    expect(hints('written')).toBeLessThanOrEqual(10);
    const followed = ledger.entries().flatMap((entry) => (entry.kind === 'hint' ? entry.pods.names : []));
    expect(new Set(followed).size).toBe(5);
  });

  it('is told again when the scheduler has cleared it, as long as the plan stands', async () => {
    await tightPods();
    await untilJoined(2);
    await bench.advance(1_000);
    const { status } = await get('large-1');
    expect(status?.nominatedNodeName).toMatch(/^node-/);
    await nominate('large-1', null);
    await bench.advance(500);
    expect((await get('large-1')).status?.nominatedNodeName).toBe(status?.nominatedNodeName);
  });

  it('outlives the controller: places are read from the claims that were made for them', async () => {
    await tightPods();
    while ((await bench.claims()).length < 2) await bench.advance(100);
    await bench.advance(1_000);
    await bench.stopEngine();
    await bench.advance(1_000);
    bench.startEngine();
    await bench.advance(30_000);
    expect([await bound(), (await bench.claims()).length]).toEqual([5, 2]);
  });

  it('is not told to schedulers that are not on the list', async () => {
    await bench.close();
    await start(['other']);
    await tightPods();
    await bench.advance(30_000);
    expect(hints('written')).toBe(0);
  });

  it('leaves a node alone that the scheduler has chosen', async () => {
    // The scheduler clears what it has chosen for other pods when it tries them again in vain.
    const patient = { metadata: { name: 'patient' }, value: 1, preemptionPolicy: 'Never' };
    await bench.kube.create(Kinds.PriorityClass, patient as never);
    await tightPods({ priorityClassName: 'patient' });
    await untilJoined(1);
    const [node] = await bench.nodes();
    const other = `not-${node?.metadata.name ?? ''}`;
    await nominate('large-1', other);
    await bench.advance(300);
    const pod = await get('large-1');
    expect([pod.status?.nominatedNodeName, hintedNode(pod)]).toEqual([other, undefined]);
  });
});

describe('a plan that any order fulfils', () => {
  it('needs no hints', async () => {
    for (let at = 0; at < 12; at++) await bench.createPod(`p${at}`, sized('900m'));
    await bench.advance(30_000);
    expect([await bound(), (await bench.claims()).length, hints('written')]).toEqual([12, 3, 0]);
  });
});

describe('a hint', () => {
  it('ends with its node, and the pod is planned again', async () => {
    await tightPods();
    await untilJoined(2);
    await bench.advance(1_000);
    const hinted = (await bench.pods()).filter((pod) => hintedNode(pod) !== undefined && !pod.spec?.nodeName);
    expect(hinted.length).toBeGreaterThan(0);
    const [first] = hinted;
    const node = (await bench.nodes()).find(({ metadata }) => metadata.name === (first && hintedNode(first)));
    const claim = (await bench.claims()).find(({ status }) => status?.providerID === node?.spec?.providerID);
    await bench.kube.delete(Kinds.NodeClaim, { name: claim?.metadata.name ?? '' });
    await bench.advance(60_000);
    expect([await bound(), (await bench.claims()).length]).toEqual([5, 2]);
  });

  it('is not copied to the Node with what else the claim remembers', async () => {
    await tightPods();
    await bench.advance(30_000);
    const texts = (await bench.nodes()).map(({ metadata }) => JSON.stringify(metadata.annotations));
    expect(texts.some((text) => text.includes('planned-pods'))).toBe(false);
    expect((await bench.nodes()).every(({ metadata }) => metadata.labels?.[Labels.registered] === 'true')).toBe(true);
  });
});

it('keeps pods of a drifted node away from others that are still to go, also where the pods are all alike', async () => {
  bench.cloud.types = [memoryInstanceType('m1', 1, 0.05), memoryInstanceType('m4', 4, 0.19)];
  const deploy = (name: string, cpu: string) =>
    bench.kube.create(Kinds.Deployment, {
      metadata: { name, namespace: 'default' },
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: name } },
        template: { metadata: { labels: { app: name } }, spec: sized(cpu) },
      },
    });
  await deploy('large', '3400m');
  await deploy('small', '400m');
  await bench.advance(60_000);
  expect(await bench.nodes()).toHaveLength(2);
  const none = { type: 'merge' as const, body: { spec: { replicas: 0 } } };
  await bench.kube.patch(Kinds.Deployment, { name: 'large', namespace: 'default' }, none);
  await bench.advance(60_000);
  const before = new Set((await bench.nodes()).map(({ metadata }) => metadata.name));
  expect(before.size).toBe(2);
  const relabelled = { type: 'merge' as const, body: { spec: { template: { metadata: { labels: { team: 'a' } } } } } };
  await bench.kube.patch(Kinds.NodePool, { name: 'default' }, relabelled);
  await bench.advance(10 * 60_000);
  expect((await bench.nodes()).filter(({ metadata }) => before.has(metadata.name))).toEqual([]);
  expect(await bound()).toBe(2);
  // Two small pods, each moved once: the scheduler rates the drifted node that has yet to go higher than the new one.
  expect(bench.metrics.value('karpenter_pods_eviction_requests_total', { code: '200' })).toBe(2);
});
