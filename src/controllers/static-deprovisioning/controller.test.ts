import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CLASS_REF, Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import { Annotations, Labels } from '../../api/labels.ts';
import { nodeClaimLifecycleController } from '../nodeclaim-lifecycle/controller.ts';
import { staticDeprovisioningController } from './controller.ts';

let bench: Workbench;
beforeEach(async () => {
  bench = await Workbench.start({
    controllers: ({ world }) => [staticDeprovisioningController(world), nodeClaimLifecycleController(world)],
    pace: { boot: 5_000, ready: 1_000 },
  });
});
afterEach(() => bench.close());

const scale = (replicas: number) =>
  bench.kube.patch(Kinds.NodePool, { name: 'fixed' }, { type: 'merge', body: { spec: { replicas } } });
const active = async (): Promise<string[]> =>
  (await bench.claims()).filter(({ metadata }) => !metadata.deletionTimestamp).map(({ metadata }) => metadata.name);
const claim = (name: string, expireAfter = 'Never') =>
  bench.createClaim(name, { expireAfter }, { labels: { [Labels.nodePool]: 'fixed' } });
const podOn = (node: string, annotations: Record<string, string> = {}) =>
  bench.createPod(`on-${node}`, { nodeName: `node-${node}` }, { annotations });

/** Names of the NodeClaims in deletion order while the pool shrinks to zero, one by one. */
async function orderOfDeletion(): Promise<string[]> {
  const order: string[] = [];
  for (let left = await active(); left.length > 0;) {
    await scale(left.length - 1);
    await bench.clock.idle();
    const after = await active();
    order.push(...left.filter((name) => !after.includes(name)));
    expect(after).toHaveLength(left.length - 1);
    left = after;
  }
  return order;
}

describe('a static pool with too many nodes', () => {
  it('deletes unlaunched ones first, then empty ones, then by the cost of their pods', async () => {
    await bench.createPool('fixed', { replicas: 5 });
    for (const name of ['shielded', 'costly', 'cheap', 'empty']) await claim(name);
    await bench.advance(20_000);
    bench.cloud.launchOutage = new Error('not now');
    await claim('unlaunched');
    await podOn('shielded', { [Annotations.doNotDisrupt]: 'true', [Annotations.podDeletionCost]: '-134217728' });
    await podOn('costly', { [Annotations.podDeletionCost]: '134217728' });
    await podOn('cheap');
    await bench.advance(5_000);
    expect(await orderOfDeletion()).toEqual(['unlaunched', 'empty', 'cheap', 'costly', 'shielded']);
  });

  it('treats a node with only DaemonSet pods as empty', async () => {
    await bench.createPool('fixed', { replicas: 2 });
    for (const name of ['busy', 'daemons']) await claim(name);
    await bench.advance(20_000);
    // Its pod costs nothing to move, and still the other node goes first.
    await podOn('busy', { [Annotations.podDeletionCost]: '-134217728' });
    const { metadata } = await bench.kube.create(Kinds.DaemonSet, {
      metadata: { name: 'agent', namespace: 'default' },
      spec: {
        selector: { matchLabels: { app: 'agent' } },
        template: {
          metadata: { labels: { app: 'agent' } },
          spec: { containers: [{ name: 'main', image: 'agent' }] },
        },
      },
    });
    const owner = {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      name: 'agent',
      uid: metadata.uid ?? '',
      controller: true,
    };
    await bench.createPod('agent', { nodeName: 'node-daemons' }, { ownerReferences: [owner] });
    await bench.advance(5_000);
    expect((await bench.pods()).map((pod) => pod.metadata.name)).toEqual(['agent', 'on-busy']);
    expect(await orderOfDeletion()).toEqual(['daemons', 'busy']);
  });

  it('prefers the node that expires sooner when pods cost the same', async () => {
    await bench.createPool('fixed', { replicas: 3 });
    await claim('never');
    await claim('late', '10h');
    await claim('soon', '1h');
    await bench.advance(20_000);
    for (const name of ['never', 'late', 'soon']) await podOn(name);
    await bench.advance(30 * 60_000);
    expect(await orderOfDeletion()).toEqual(['soon', 'late', 'never']);
  });

  it('deletes all surplus nodes in one pass', async () => {
    await bench.createPool('fixed', { replicas: 4 });
    for (const name of ['a', 'b', 'c', 'd']) await claim(name);
    await bench.advance(20_000);
    expect(await active()).toHaveLength(4);
    await scale(1);
    await bench.clock.idle();
    expect(await active()).toHaveLength(1);
    const told = bench.decisions('removal');
    expect(told).toHaveLength(3);
    expect(told[0]).toMatch(/is removed: its static NodePool has more nodes than replicas$/);
  });

  it('shrinks when a NodeClaim is added', async () => {
    await bench.createPool('fixed', { replicas: 1 });
    await claim('a');
    await bench.advance(20_000);
    await claim('b');
    await bench.clock.idle();
    expect(await active()).toHaveLength(1);
  });
});

it('does not count nodes that are being deleted', async () => {
  await bench.createPool('fixed', { replicas: 2 });
  for (const name of ['a', 'b']) await claim(name);
  await bench.advance(20_000);
  // The node keeps its finalizer here, so that the claim stays too.
  await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
  await claim('c');
  await bench.advance(2 * 60_000);
  expect(await active()).toEqual(['b', 'c']);
});

it('leaves pools without replicas and pools of other providers alone', async () => {
  const nodeClassRef = { ...CLASS_REF, group: 'example.com', kind: 'OtherNodeClass' };
  await bench.createPool('default');
  await bench.createPool('fixed', {
    replicas: 0,
    template: { spec: { nodeClassRef, requirements: [], expireAfter: 'Never' } },
  });
  await bench.createClaim('a');
  await claim('b');
  await bench.advance(2 * 60_000);
  expect(await active()).toEqual(['a', 'b']);
});
