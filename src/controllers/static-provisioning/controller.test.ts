import { afterEach, beforeEach, expect, it } from 'vitest';
import { CLASS_REF, conditionOf, Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import { Annotations, Labels } from '../../api/labels.ts';
import { InsufficientCapacityError } from '../../cloud/errors.ts';
import { nodeClaimLifecycleController } from '../nodeclaim-lifecycle/controller.ts';
import { nodePoolReadinessController } from '../nodepool-readiness/controller.ts';
import { nodePoolValidationController } from '../nodepool-validation/controller.ts';
import { staticProvisioningController } from './controller.ts';

let bench: Workbench;
beforeEach(async () => {
  bench = await Workbench.start({
    controllers: ({ world }) => [
      staticProvisioningController(world),
      nodeClaimLifecycleController(world),
      nodePoolReadinessController(world),
      nodePoolValidationController(world),
    ],
    pace: { boot: 5_000, ready: 1_000 },
  });
});
afterEach(() => bench.close());

const template = (nodeClassRef = CLASS_REF): NodePool['spec']['template'] => ({
  spec: {
    nodeClassRef,
    requirements: [{ key: Labels.instanceType, operator: 'In', values: ['m2'] }],
    expireAfter: 'Never',
  },
});
const change = (spec: Record<string, unknown>) =>
  bench.kube.patch(Kinds.NodePool, { name: 'fixed' }, { type: 'merge', body: { spec } });
const active = async (): Promise<string[]> =>
  (await bench.claims()).filter(({ metadata }) => !metadata.deletionTimestamp).map(({ metadata }) => metadata.name);
/** Nodes keep their finalizer here: without this the claim stays for as long as its node. */
const finalizeNodeOf = (claim: string) =>
  bench.kube.patch(Kinds.Node, { name: `node-${claim}` }, { type: 'merge', body: { metadata: { finalizers: null } } });

it('creates the NodeClaims that a static pool lacks', async () => {
  await bench.createPool('fixed', { replicas: 3, template: template() });
  await bench.advance(20_000);
  const claims = await bench.claims();
  expect(claims).toHaveLength(3);
  for (const claim of claims) {
    expect(claim.metadata.labels).toMatchObject({ [Labels.nodePool]: 'fixed' });
    expect(claim.metadata.annotations?.[Annotations.nodePoolHash]).toBeDefined();
    expect(claim.spec.resources).toBeUndefined();
    expect(conditionOf(claim, 'Registered')?.status).toBe('True');
  }
  expect(bench.metrics.value('karpenter_nodeclaims_created_total', { nodepool: 'fixed', reason: 'provisioned' })).toBe(
    3,
  );
  await change({ replicas: 5 });
  await bench.advance(20_000);
  expect(await active()).toHaveLength(5);
  expect(bench.decisions('replicas')).toEqual([
    expect.stringMatching(/^NodePool fixed has 0 of 3 nodes: (fixed-\w+(, )?){3} created$/),
    expect.stringMatching(/^NodePool fixed has 3 of 5 nodes: (fixed-\w+(, )?){2} created$/),
  ]);
});

it('creates none beyond the replicas, and none for a pool without replicas', async () => {
  await bench.createPool('fixed', { replicas: 2, template: template() });
  await bench.createPool('dynamic', { template: template() });
  await bench.advance(20_000);
  await change({ replicas: 1 });
  await bench.advance(5 * 60_000);
  expect(bench.cloud.launches).toHaveLength(2);
});

it('replaces a NodeClaim as soon as it is being deleted', async () => {
  await bench.createPool('fixed', { replicas: 2, template: template() });
  await bench.advance(20_000);
  const [first = ''] = await active();
  await bench.kube.delete(Kinds.NodeClaim, { name: first });
  await bench.clock.idle();
  expect(await active()).toHaveLength(2);
  expect(await active()).not.toContain(first);
  expect((await bench.claim(first)).metadata.deletionTimestamp).toBeDefined();
});

it('stays within the limit of nodes, and counts a node that is being deleted until it is gone', async () => {
  await bench.createPool('fixed', { replicas: 5, limits: { nodes: '3' }, template: template() });
  await bench.advance(90_000);
  expect(await active()).toHaveLength(3);
  expect(bench.decisions('replicas')).toEqual([
    expect.stringMatching(/^NodePool fixed has 0 of 5 nodes: .* created; its limit of 3 nodes allows no more$/),
    'NodePool fixed has 3 of 5 nodes; its limit of 3 nodes allows no more',
  ]);
  const [first = ''] = await active();
  await bench.kube.delete(Kinds.NodeClaim, { name: first });
  await bench.advance(90_000);
  expect(await active()).toHaveLength(2);
  await finalizeNodeOf(first);
  await bench.advance(60_000);
  expect(await active()).toHaveLength(3);
  expect(bench.cloud.launches).toHaveLength(4);
  await change({ limits: { nodes: '4' } });
  await bench.advance(60_000);
  expect(await active()).toHaveLength(4);
});

it('waits until the pool is ready', async () => {
  await bench.createPool('fixed', { replicas: 1, template: template({ ...CLASS_REF, name: 'later' }) });
  await bench.advance(5 * 60_000);
  expect(await bench.claims()).toEqual([]);
  await bench.kube.create(Kinds.KWOKNodeClass, { metadata: { name: 'later' } });
  await bench.advance(5_000);
  expect(await active()).toHaveLength(1);
});

it('leaves a pool of another provider alone', async () => {
  const foreign = template({ ...CLASS_REF, group: 'example.com', kind: 'OtherNodeClass' });
  await bench.createPool('fixed', { replicas: 1, template: foreign });
  const conditions = [
    { type: 'Ready', status: 'True', reason: 'Ready', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
  ];
  const body = { status: { conditions } };
  await bench.kube.patch(Kinds.NodePool, { name: 'fixed' }, { type: 'merge', body }, { subresource: 'status' });
  await bench.advance(5 * 60_000);
  expect(await bench.claims()).toEqual([]);
  const loop = { controller: 'static.provisioning' };
  expect(bench.metrics.value('controller_runtime_reconcile_errors_total', loop)).toBeUndefined();
});

it('retries less and less often while the cloud has no capacity, and at once after it had some', async () => {
  bench.cloud.launchOutage = new InsufficientCapacityError('sold out everywhere');
  await bench.createPool('fixed', { replicas: 3, template: template() });
  await bench.advance(10 * 60_000);
  const created = (): number =>
    bench.metrics.value('karpenter_nodeclaims_created_total', { nodepool: 'fixed', reason: 'provisioned' }) ?? 0;
  // After 1, 2, 4 … 256 s.
  expect(created()).toBeGreaterThanOrEqual(3 * 8);
  expect(created()).toBeLessThanOrEqual(3 * 11);
  bench.cloud.launchOutage = undefined;
  await bench.advance(6 * 60_000);
  const [name] = await active();
  expect(await active()).toHaveLength(3);
  await bench.kube.delete(Kinds.NodeClaim, { name: name ?? '' });
  await bench.advance(1_000);
  expect(await active()).toHaveLength(3);
});
