import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { conditionOf, Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import type { CapacityBuffer } from '../../api/kinds/capacityBuffer.ts';
import { parseResources } from '../../units/resources.ts';
import { nodeClaimLifecycleController } from '../nodeclaim-lifecycle/controller.ts';
import { nodePoolReadinessController } from '../nodepool-readiness/controller.ts';
import { nodePoolValidationController } from '../nodepool-validation/controller.ts';
import { Batcher } from '../provisioner/batcher.ts';
import { Planner } from '../planning/planner.ts';
import { provisionerControllers } from '../provisioner/controller.ts';
import { bufferSize } from './bufferSize.ts';
import { CapacityBuffers } from './capacityBuffers.ts';
import { capacityBufferController } from './controller.ts';
import { BufferReferences } from './resolution.ts';

const STRATEGY = 'buffer.x-k8s.io/active-capacity';

it.each<[string, Partial<CapacityBuffer['spec']>, number | undefined, number]>([
  ['a number', { replicas: 3 }, undefined, 3],
  ['a share, rounded up', { percentage: 30 }, 4, 2],
  ['a share of little is one', { percentage: 1 }, 2, 1],
  ['a share of nothing is nothing', { percentage: 50 }, 0, 0],
  ['the larger of number and share', { replicas: 3, percentage: 100 }, 2, 3],
  ['no more than limits hold', { replicas: 9, limits: { cpu: '2' } }, undefined, 4],
  ['as many as limits hold', { limits: { cpu: '2', memory: '3Gi' } }, undefined, 3],
  ['limits on something else do not count', { replicas: 2, limits: { 'example.com/x': '0' } }, undefined, 2],
  ['nothing at all', {}, undefined, 0],
])('the size of a buffer: %s', (_what, spec, replicas, expected) => {
  const requests = parseResources({ cpu: '500m', memory: '1Gi' });
  expect(bufferSize({ provisioningStrategy: STRATEGY, ...spec }, requests, replicas)).toBe(expected);
});

describe('a buffer', () => {
  let bench: Workbench;
  beforeEach(async () => {
    bench = await Workbench.start({
      pace: { boot: 5_000, ready: 1_000 },
      controllers: ({ world, informers }) => {
        const batcher = new Batcher({ clock: world.clock, idle: 1_000, max: 10_000 });
        const buffers = informers.of(Kinds.CapacityBuffer);
        const capacity = new CapacityBuffers({ kube: world.kube, clock: world.clock, buffers });
        return [
          ...provisionerControllers(world, {
            batcher,
            nominationPeriod: 20_000,
            planner: new Planner(world, { buffers: capacity }),
          }),
          capacityBufferController(world, {
            buffers,
            references: new BufferReferences(informers),
            capacity,
            trigger: (element) => batcher.trigger(element),
          }),
          nodeClaimLifecycleController(world),
          nodePoolReadinessController(world),
          nodePoolValidationController(world),
        ];
      },
    });
    await bench.createPool();
  });
  afterEach(() => bench.close());

  const ref = { name: 'b', namespace: 'default' };
  const containers = [{ name: 'c', image: 'i', resources: { requests: { cpu: '900m' } } }];
  const create = (spec: Partial<CapacityBuffer['spec']>) =>
    bench.kube.create(Kinds.CapacityBuffer, { metadata: ref, spec: { provisioningStrategy: STRATEGY, ...spec } });
  const createTemplate = () =>
    bench.kube.create(Kinds.PodTemplate, {
      metadata: { name: 't', namespace: 'default' },
      template: { spec: { containers } },
    });
  const conditions = async () => {
    const buffer = await bench.kube.get(Kinds.CapacityBuffer, ref);
    return ['ReadyForProvisioning', 'Provisioning'].map((type) => {
      const condition = conditionOf(buffer, type);
      return condition && `${condition.status} ${condition.reason}`;
    });
  };

  it('has nodes for it, without events on its virtual pods', async () => {
    await createTemplate();
    await create({ podTemplateRef: { name: 't' }, replicas: 2 });
    await bench.advance(1_100);
    expect(await bench.claims()).toHaveLength(1);
    expect(await conditions()).toEqual(['True Resolved', 'False RequiresNewCapacity']);
    await bench.advance(60_000);
    expect(await conditions()).toEqual(['True Resolved', 'True FitsExistingCapacity']);
    expect((await bench.kube.get(Kinds.CapacityBuffer, ref)).status).toMatchObject({
      replicas: 2,
      podTemplateRef: { name: 't' },
      podTemplateGeneration: expect.any(Number) as number,
      provisioningStrategy: STRATEGY,
    });
    expect(bench.cloud.launches).toHaveLength(1);
    expect(await bench.events('Nominated')).toEqual([]);
    expect(await bench.pods()).toEqual([]);
  });

  it('is refilled when pods have taken its room', async () => {
    await createTemplate();
    await create({ podTemplateRef: { name: 't' }, replicas: 2 });
    await bench.advance(30_000);
    await bench.createPod('p', { containers });
    await bench.advance(90_000);
    expect((await bench.pods())[0]?.spec?.nodeName).toBeDefined();
    expect(bench.cloud.launches).toHaveLength(2);
    expect(await conditions()).toEqual(['True Resolved', 'True FitsExistingCapacity']);
  });

  it('finds a workload that is created after it, within seconds', async () => {
    await create({ scalableRef: { apiGroup: 'apps', kind: 'Deployment', name: 'web' }, replicas: 1 });
    await bench.advance(20_000);
    expect((await conditions())[0]).toBe('False ScalableRefNotFound');
    const labels = { app: 'web' };
    await bench.kube.create(Kinds.Deployment, {
      metadata: { name: 'web', namespace: 'default' },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
    });
    await bench.advance(6_000);
    expect((await conditions())[0]).toBe('True Resolved');
  });

  it('grows with its workload', async () => {
    await bench.kube.create(Kinds.Deployment, {
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        replicas: 0,
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers } },
      },
    });
    await create({ scalableRef: { apiGroup: 'apps', kind: 'Deployment', name: 'web' }, percentage: 50 });
    await bench.advance(5_000);
    expect(await conditions()).toEqual(['True Resolved', 'False BufferEmpty']);
    const body = { spec: { replicas: 3 } };
    await bench.kube.patch(Kinds.Deployment, { name: 'web', namespace: 'default' }, { type: 'merge', body });
    await bench.advance(120_000);
    expect((await bench.kube.get(Kinds.CapacityBuffer, ref)).status?.replicas).toBe(2);
    expect(await conditions()).toEqual(['True Resolved', 'True FitsExistingCapacity']);
  });

  it.each<[string, Partial<CapacityBuffer['spec']>]>([
    ['PodTemplateNotFound', { podTemplateRef: { name: 'missing' }, replicas: 1 }],
    ['ScalableRefNotFound', { scalableRef: { kind: 'Deployment', name: 'missing' }, replicas: 1 }],
    ['ResolutionFailed', { scalableRef: { apiGroup: 'batch', kind: 'Job', name: 'x' }, replicas: 1 }],
    ['ResolutionFailed', { replicas: 1 }],
  ])('reports %s when it cannot be resolved', async (reason, spec) => {
    await create(spec);
    await bench.advance(5_000);
    expect(await conditions()).toEqual([`False ${reason}`, 'False NotReadyForProvisioning']);
    expect(await bench.claims()).toEqual([]);
  });

  it('notices its template as soon as it comes', async () => {
    await create({ podTemplateRef: { name: 't' }, replicas: 1 });
    await bench.advance(1_000);
    await createTemplate();
    await bench.advance(2_000);
    expect(await bench.claims()).toHaveLength(1);
  });

  it('has no demand once it is deleted', async () => {
    await createTemplate();
    await create({ podTemplateRef: { name: 't' }, replicas: 2 });
    await bench.clock.idle();
    await bench.kube.delete(Kinds.CapacityBuffer, ref);
    await bench.advance(60_000);
    expect(bench.cloud.launches).toEqual([]);
  });
});
