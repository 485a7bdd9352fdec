import { afterEach, beforeEach, expect, it } from 'vitest';
import { CLASS_LABEL, CLASS_REF, Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds, type Node } from '../../api/kinds.ts';
import { Finalizers } from '../../api/labels.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { Draft, Kube } from '../../kube/kube.ts';
import { patchObject, patchStatus } from '../../kube/statusPatch.ts';
import { deleteClaim } from '../claims/deleteClaim.ts';
import type { World } from './world.ts';

let bench: Workbench;
let world: World;
/** While true, watches deliver nothing: the cluster learns only from writes. */
let silent = false;

/** A server whose watches can fall silent. */
function mutable(kube: Kube): Kube {
  return new Proxy(kube, {
    get: (target, key) => {
      if (key !== 'watch') {
        const value: unknown = Reflect.get(target, key);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      }
      return async function* watch(...request: Parameters<Kube['watch']>) {
        for await (const event of target.watch(...request)) if (!silent) yield event;
      };
    },
  });
}

beforeEach(async () => {
  silent = false;
  bench = await Workbench.start({
    decorate: mutable,
    controllers: (engine) => {
      ({ world } = engine);
      return [];
    },
  });
  await bench.createClaim('a');
  await bench.kube.create(Kinds.Node, { metadata: { name: 'n', labels: { [CLASS_LABEL]: 'default' } } } as Node);
  await bench.createPod('p', { nodeName: 'n' });
  await bench.clock.idle();
  silent = true;
});
afterEach(() => bench.close());

const draft: Draft<NodeClaim> = {
  metadata: { name: 'new' },
  spec: { nodeClassRef: CLASS_REF, requirements: [], expireAfter: 'Never' },
};

it('shows each write in the cluster before the writer continues', async () => {
  const { kube, cluster } = world;
  const created = await kube.create(Kinds.NodeClaim, draft);
  expect(cluster.claim('new')?.metadata.uid).toBe(created.metadata.uid);

  await patchStatus(kube, Kinds.NodeClaim, created, { ...created, status: { providerID: 'id' } });
  expect(cluster.claimByProviderID('id')?.metadata.name).toBe('new');

  const node = await kube.get(Kinds.Node, { name: 'n' });
  await patchObject(kube, Kinds.Node, node, { ...node, spec: { ...node.spec, providerID: 'id' } });
  expect(cluster.viewOf('new')?.node?.metadata.name).toBe('n');
  await kube.replace(Kinds.Node, {
    ...(await kube.get(Kinds.Node, { name: 'n' })),
    spec: { providerID: 'id', unschedulable: true },
  });
  expect(cluster.node('n')?.spec?.unschedulable).toBe(true);

  const ref = { name: 'p', namespace: 'default' };
  await kube.delete(Kinds.Pod, ref, { gracePeriodSeconds: 30 });
  expect(cluster.pod(ref)?.metadata.deletionTimestamp).toBeDefined();
});

it('shows the result of a deletion: an object kept by finalizers, or none', async () => {
  const { kube, cluster } = world;
  const kept = await kube.create(Kinds.NodeClaim, {
    ...draft,
    metadata: { name: 'kept', finalizers: [Finalizers.termination] },
  });
  expect(await deleteClaim(kube, kept)).toBe(true);
  expect(cluster.viewOf('kept')?.deleting).toBe(true);
  const leaving = await kube.get(Kinds.NodeClaim, { name: 'kept' });
  await patchObject(kube, Kinds.NodeClaim, leaving, { ...leaving, metadata: { ...leaving.metadata, finalizers: [] } });
  expect(cluster.claim('kept')).toBeUndefined();

  const claim = cluster.claim('a');
  expect(claim && (await deleteClaim(kube, claim))).toBe(true);
  expect(cluster.claim('a')).toBeUndefined();
  await kube.delete(Kinds.Node, { name: 'n' });
  expect(cluster.node('n')).toBeUndefined();
});

it('keeps dry-run writes out of the cluster', async () => {
  const { kube, cluster } = world;
  await kube.create(Kinds.NodeClaim, draft, { dryRun: true });
  await kube.delete(Kinds.NodeClaim, { name: 'a' }, { dryRun: true });
  expect([cluster.claim('new'), cluster.claim('a')?.metadata.deletionTimestamp]).toEqual([undefined, undefined]);
  expect(cluster.claim('a')).toBeDefined();
});

it('puts trimmed objects into the cluster, as the watch does', async () => {
  const { kube, cluster } = world;
  const ref = { name: 'p', namespace: 'default' };
  const patch = { type: 'merge', body: { metadata: { labels: { app: 'x' } } } } as const;
  const answer = await kube.patch(Kinds.Pod, ref, patch);
  expect(answer.spec?.containers[0]?.image).toBe('app');
  expect(cluster.pod(ref)?.metadata.labels).toEqual({ app: 'x' });
  expect(cluster.pod(ref)?.spec?.containers[0]?.image).toBeUndefined();
});

it('deletes the claim with the expected UID, not a new one of the same name', async () => {
  const { kube, cluster } = world;
  const claim = cluster.claim('a');
  await bench.kube.delete(Kinds.NodeClaim, { name: 'a' });
  await bench.createClaim('a');
  expect(claim && (await deleteClaim(kube, claim))).toBe(false);
  expect((await bench.claim('a')).metadata.deletionTimestamp).toBeUndefined();
});
