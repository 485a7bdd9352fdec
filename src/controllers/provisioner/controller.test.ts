import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { memoryInstanceType } from '../../../test/fixtures/engine/memoryCloud.ts';
import { interceptedKube } from '../../../test/fixtures/engine/interceptedKube.ts';
import { CLASS_LABEL, CLASS_REF, Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds, type Pod } from '../../api/kinds.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import { Annotations, Labels } from '../../api/labels.ts';
import { EvictionQueue } from '../eviction-queue/controller.ts';
import { nodeClaimLifecycleController } from '../nodeclaim-lifecycle/controller.ts';
import { nodePoolReadinessController } from '../nodepool-readiness/controller.ts';
import { nodePoolValidationController } from '../nodepool-validation/controller.ts';
import { nodeTerminationController } from '../node-termination/controller.ts';
import { Batcher } from './batcher.ts';
import { Planner } from '../planning/planner.ts';
import { provisionerControllers } from './controller.ts';

let bench: Workbench;
let refuseClaims = 0;

beforeEach(async () => {
  refuseClaims = 0;
  bench = await Workbench.start({
    decorate: (kube) =>
      interceptedKube(kube, {
        create: async (kind, draft, options) => {
          if (kind.kind === 'NodeClaim' && refuseClaims-- > 0) throw new Error('the server is busy');
          return kube.create(kind, draft, options);
        },
      }),
    controllers: ({ world }) => {
      const evictions = new EvictionQueue(world);
      return [
        ...provisionerControllers(world, {
          batcher: new Batcher({ clock: world.clock, idle: 1_000, max: 10_000 }),
          nominationPeriod: 20_000,
          planner: new Planner(world),
        }),
        nodeClaimLifecycleController(world),
        nodePoolReadinessController(world),
        nodePoolValidationController(world),
        nodeTerminationController(world, evictions),
        evictions.controller(),
      ];
    },
  });
});
afterEach(() => bench.close());

const sized = (cpu: string) => ({
  containers: [{ name: 'main', image: 'app', resources: { requests: { cpu } } }],
});
const boundPods = async (): Promise<string[]> =>
  (await bench.pods()).filter(({ spec }) => spec?.nodeName).map(({ metadata }) => metadata.name);

describe('an unschedulable pod', () => {
  it('gets a node after the batch has closed, and an event', async () => {
    await bench.createPool();
    await bench.createPod('p', sized('1'));
    await bench.advance(900);
    expect(await bench.claims()).toEqual([]);
    await bench.advance(200);
    const [claim] = await bench.claims();
    expect(claim?.metadata).toMatchObject({
      generateName: 'default-',
      labels: { [Labels.nodePool]: 'default', [CLASS_LABEL]: 'default' },
      annotations: {
        [Annotations.nodePoolHash]: expect.stringMatching(/^\d+$/) as string,
        [Annotations.minValuesRelaxed]: 'false',
      },
      ownerReferences: [{ apiVersion: 'karpenter.sh/v1', kind: 'NodePool', name: 'default', blockOwnerDeletion: true }],
    });
    expect(claim?.spec.resources?.requests).toEqual({ cpu: '1', pods: '1' });
    expect((await bench.events('Nominated')).map(({ message }) => message)).toEqual([
      `Pod should schedule on: nodeclaim/${claim?.metadata.name}`,
    ]);
    await bench.advance(30_000);
    expect(await boundPods()).toEqual(['p']);
    expect(
      bench.metrics.value('karpenter_nodeclaims_created_total', { reason: 'provisioned', nodepool: 'default' }),
    ).toBe(1);
    expect(bench.metrics.observed('karpenter_pods_scheduling_decision_duration_seconds')).toEqual([1]);
  });

  it('shares one pass with pods of the same batch window', async () => {
    await bench.createPool();
    for (let at = 0; at < 4; at++) {
      await bench.createPod(`p${at}`, sized('400m'));
      await bench.advance(500);
    }
    await bench.advance(1_000);
    expect(await bench.claims()).toHaveLength(1);
  });

  it('never gets a second node, however slow the first one is', async () => {
    await bench.createPool();
    bench.cloud.joins = false;
    await bench.createPod('p', sized('1'));
    await bench.advance(10 * 60_000);
    expect(bench.cloud.launches).toHaveLength(1);
  });

  it('never gets a second node after a restart either, launched or not', async () => {
    await bench.createPool();
    bench.cloud.launchOutage = new Error('the cloud is down');
    await bench.createPod('p', sized('1'));
    await bench.advance(5_000);
    await bench.stopEngine();
    bench.startEngine();
    await bench.advance(20_000);
    expect(await bench.claims()).toHaveLength(1);
    bench.cloud.launchOutage = undefined;
    await bench.advance(90_000);
    expect(await bench.claims()).toHaveLength(1);
    expect(await boundPods()).toEqual(['p']);
  });

  it('gets its node although another claim cannot be launched', async () => {
    await bench.createPool();
    bench.cloud.launchFailures.push(...Array.from({ length: 3 }, () => new Error('not now')));
    await bench.createPod('first', sized('1500m'));
    await bench.advance(1_100);
    await bench.createPod('second', sized('1500m'));
    await bench.advance(1_500);
    expect(await bench.claims()).toHaveLength(2);
  });

  it('gets another node when its first claim is deleted', async () => {
    await bench.createPool();
    bench.cloud.joins = false;
    await bench.createPod('p', sized('1'));
    await bench.advance(10_000);
    bench.cloud.joins = true;
    await bench.advance(16 * 60_000);
    expect(bench.cloud.launches).toHaveLength(2);
    expect(await boundPods()).toEqual(['p']);
  });

  it('gets its node when writing the claim failed at first', async () => {
    await bench.createPool();
    refuseClaims = 2;
    await bench.createPod('p', sized('1'));
    await bench.advance(60_000);
    expect(await bench.claims()).toHaveLength(1);
    expect(await boundPods()).toEqual(['p']);
  });

  it('gets an event that says why there is no node', async () => {
    await bench.createPool();
    await bench.createPod('huge', sized('500'));
    await bench.advance(2_000);
    const [event] = await bench.events('FailedScheduling');
    expect(event).toMatchObject({ type: 'Warning', involvedObject: { name: 'huge' } });
    expect(bench.metrics.value('karpenter_scheduler_unschedulable_pods_count')).toBe(1);
  });

  it('uses existing and launching nodes before new ones', async () => {
    await bench.createPool();
    await bench.createPod('p', sized('1'));
    await bench.advance(5_000);
    await bench.createPod('q', sized('500m'));
    await bench.advance(5_000);
    expect(await bench.claims()).toHaveLength(1);
    await bench.advance(40_000);
    expect(await boundPods()).toEqual(['p', 'q']);
    expect(bench.cloud.launches).toHaveLength(1);
  });
});

describe('pods without a plan', () => {
  const affinity = (key: string, operator: string, values?: string[]): Partial<NonNullable<Pod['spec']>> => ({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key, operator, ...(values && { values }) }] }],
        },
      },
    },
  });

  it('get an event when their selectors are invalid', async () => {
    await bench.createPool();
    await bench.createPod('odd', affinity('karpenter.sh/unknown', 'In', ['x']));
    await bench.advance(5_000);
    expect(await bench.claims()).toEqual([]);
    expect(await bench.events('FailedScheduling')).toHaveLength(1);
    expect(bench.metrics.value('karpenter_scheduler_ignored_pods_count')).toBe(1);
  });

  it('get no event when they select nodes that are not managed', async () => {
    await bench.createPool();
    await bench.createPod('apart', affinity(Labels.nodePool, 'DoesNotExist'));
    await bench.advance(5_000);
    expect(await bench.claims()).toEqual([]);
    expect(await bench.events('FailedScheduling')).toEqual([]);
  });

  it('are those that another node has been nominated for', async () => {
    await bench.createPool();
    // The scheduler clears the nomination of a pod that fits nowhere, unless the pod may not preempt.
    const patient = { metadata: { name: 'patient' }, value: 1, preemptionPolicy: 'Never' };
    await bench.kube.create(Kinds.PriorityClass, patient as never);
    await bench.createPod('p', { ...sized('1'), priorityClassName: 'patient' });
    const body = { status: { nominatedNodeName: 'some-node' } };
    const ref = { name: 'p', namespace: 'default' };
    await bench.kube.patch(Kinds.Pod, ref, { type: 'merge', body }, { subresource: 'status' });
    await bench.advance(30_000);
    expect(await bench.claims()).toEqual([]);
  });
});

describe('pools', () => {
  const template = (more: Partial<NodePool['spec']['template']['spec']>): Partial<NodePool['spec']> => ({
    template: { spec: { nodeClassRef: CLASS_REF, requirements: [], expireAfter: 'Never', ...more } },
  });

  it('of higher weight come first, and of equals the name that sorts last', async () => {
    await bench.createPool('light', { weight: 1 });
    await bench.createPool('heavy-a', { weight: 50 });
    await bench.createPool('heavy-b', { weight: 50 });
    await bench.createPod('p', sized('1'));
    await bench.advance(2_000);
    expect((await bench.claims()).map(({ metadata }) => metadata.labels?.[Labels.nodePool])).toEqual(['heavy-b']);
  });

  it('that are not ready, static, being deleted or not ours are left out', async () => {
    await bench.createPool('static', { replicas: 0 });
    await bench.createPool('classless', template({ nodeClassRef: { ...CLASS_REF, name: 'missing' } }));
    await bench.createPool('foreign', template({ nodeClassRef: { ...CLASS_REF, group: 'other.io' } }));
    await bench.createPod('p', sized('1'));
    await bench.advance(5_000);
    expect(await bench.claims()).toEqual([]);
    await bench.createPool('good');
    await bench.advance(12_000);
    expect(await bench.claims()).toHaveLength(1);
  });

  it('give labels, taints and terms to their claims', async () => {
    const taint = { key: 'dedicated', value: 'x', effect: 'NoSchedule' as const };
    await bench.createPool('default', {
      template: {
        metadata: { labels: { team: 'blue' }, annotations: { note: 'n' } },
        spec: {
          nodeClassRef: CLASS_REF,
          requirements: [{ key: 'example.com/slot', operator: 'Gt', values: ['5'] }],
          expireAfter: '24h',
          terminationGracePeriod: '1h',
          taints: [taint],
          startupTaints: [{ key: 'wait', effect: 'NoSchedule' }],
        },
      },
    });
    await bench.createPod('p', { ...sized('1'), tolerations: [{ operator: 'Exists' }] });
    await bench.advance(2_000);
    const [claim] = await bench.claims();
    expect(claim?.metadata.labels).toMatchObject({
      team: 'blue',
      'example.com/slot': expect.stringMatching(/^\d+$/) as string,
    });
    expect(claim?.metadata.annotations).toMatchObject({ note: 'n' });
    expect(claim?.spec).toMatchObject({
      expireAfter: '24h',
      terminationGracePeriod: '1h',
      taints: [taint],
      startupTaints: [{ key: 'wait', effect: 'NoSchedule' }],
    });
  });

  it('do not grow past their limits', async () => {
    await bench.createPool('default', { limits: { cpu: '4' } });
    bench.cloud.types = [memoryInstanceType('m2', 2, 0.1)];
    for (let at = 0; at < 5; at++) await bench.createPod(`p${at}`, sized('1500m'));
    await bench.advance(60_000);
    expect(await bench.claims()).toHaveLength(2);
    expect(await boundPods()).toHaveLength(2);
  });

  it('do not grow past their limits when they fill up while their instance types are listed', async () => {
    await bench.createPool('default', { limits: { cpu: '4' } });
    bench.cloud.types = [memoryInstanceType('m2', 2, 0.1)];
    const taint = { key: 'taken', effect: 'NoSchedule' as const };
    bench.cloud.instanceTypes = async () => {
      if ((await bench.claims()).length === 0) {
        for (const name of ['one', 'two']) await bench.createClaim(name, { taints: [taint] });
        await bench.clock.sleep(2_000);
      }
      return bench.cloud.types;
    };
    await bench.createPod('p', sized('1500m'));
    await bench.advance(30_000);
    expect((await bench.claims()).map(({ metadata }) => metadata.name)).toEqual(['one', 'two']);
    expect((await bench.events('FailedScheduling')).map(({ message }) => message)).toContainEqual(
      expect.stringContaining('spec.limits of cpu would be exceeded'),
    );
  });

  it('whose types cannot be listed do not hold the others up', async () => {
    const list = bench.cloud.instanceTypes.bind(bench.cloud);
    bench.cloud.instanceTypes = (async (pool: NodePool) => {
      if (pool.metadata.name === 'z-broken') throw new Error('not now');
      return list();
    }) as typeof list;
    await bench.createPool('z-broken');
    await bench.createPool('working');
    await bench.createPod('p', sized('1'));
    await bench.advance(2_000);
    expect((await bench.claims()).map(({ metadata }) => metadata.labels?.[Labels.nodePool])).toEqual(['working']);
  });

  it('without instance types are reported in an event', async () => {
    bench.cloud.types = [];
    await bench.createPool();
    await bench.createPod('p', sized('1'));
    await bench.advance(2_000);
    expect(await bench.events('NoCompatibleInstanceTypes')).toHaveLength(1);
  });
});

describe('daemons', () => {
  it('have their room on new nodes', async () => {
    await bench.createPool();
    const labels = { app: 'agent' };
    await bench.kube.create(Kinds.DaemonSet, {
      metadata: { name: 'agent', namespace: 'default' },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { containers: [{ name: 'main', image: 'agent', resources: { limits: { cpu: '1' } } }] },
        },
      },
    });
    await bench.createPod('p', sized('1'));
    await bench.advance(2_000);
    const [claim] = await bench.claims();
    expect(claim?.spec.resources?.requests).toMatchObject({ cpu: '2', pods: '2' });
    expect(claim?.spec.requirements.find(({ key }) => key === Labels.instanceType)?.values).not.toContain('m2');
  });

  it('without requests get the LimitRange defaults, and room for them', async () => {
    await bench.createPool();
    await bench.kube.create(Kinds.LimitRange, {
      metadata: { name: 'defaults', namespace: 'default' },
      spec: { limits: [{ type: 'Container', defaultRequest: { cpu: '1' } }] },
    });
    const labels = { app: 'agent' };
    await bench.kube.create(Kinds.DaemonSet, {
      metadata: { name: 'agent', namespace: 'default' },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'agent' }] } },
      },
    });
    await bench.createPod('p', sized('1'));
    await bench.advance(2_000);
    const [claim] = await bench.claims();
    expect(claim?.spec.resources?.requests).toMatchObject({ cpu: '2', pods: '2' });
  });
});

describe('a node being deleted', () => {
  async function twoPodsOnOneNode(metadata: Partial<Pod['metadata']> = {}): Promise<string> {
    await bench.createPool();
    await bench.kube.create(Kinds.Deployment, {
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: 'web' } },
        template: { metadata: { labels: { app: 'web' }, ...metadata }, spec: sized('900m') },
      },
    });
    await bench.advance(40_000);
    expect(await boundPods()).toHaveLength(2);
    const [claim] = await bench.claims();
    return claim?.metadata.name ?? '';
  }

  it('gets one replacement before its pods have left', async () => {
    const old = await twoPodsOnOneNode();
    const minAvailable = {
      metadata: { name: 'b', namespace: 'default' },
      spec: { minAvailable: 2, selector: { matchLabels: { app: 'web' } } },
    };
    await bench.kube.create(Kinds.PodDisruptionBudget, minAvailable);
    await bench.clock.idle();
    await bench.kube.delete(Kinds.NodeClaim, { name: old });
    await bench.advance(5 * 60_000);
    expect((await bench.claims()).map(({ metadata }) => metadata.name)).toContain(old);
    expect(bench.cloud.launches).toHaveLength(2);
    await bench.kube.delete(Kinds.PodDisruptionBudget, { name: 'b', namespace: 'default' });
    await bench.advance(60_000);
    expect(bench.cloud.launches).toHaveLength(2);
    expect(bench.cloud.instances).toHaveLength(1);
    expect(await boundPods()).toHaveLength(2);
  });

  it('gets no replacement for pods that cannot leave it', async () => {
    const old = await twoPodsOnOneNode({ annotations: { [Annotations.doNotDisrupt]: 'true' } });
    await bench.kube.delete(Kinds.NodeClaim, { name: old });
    await bench.advance(60_000);
    expect(bench.cloud.launches).toHaveLength(1);
  });
});

describe('volumes', () => {
  const withVolume = { ...sized('1'), volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] };
  const zoneOf = async (): Promise<readonly string[] | undefined> =>
    (await bench.claims())[0]?.spec.requirements.find(({ key }) => key === Labels.zone)?.values;
  const storageClass = (volumeBindingMode: 'Immediate' | 'WaitForFirstConsumer') =>
    bench.kube.create(Kinds.StorageClass, {
      metadata: { name: 'disk' },
      provisioner: 'disk.csi.azure.com',
      volumeBindingMode,
      allowedTopologies: [{ matchLabelExpressions: [{ key: Labels.zone, values: ['zone-2'] }] }],
    });
  const volumeClaim = (spec: object, annotations: Record<string, string> = {}) =>
    bench.kube.create(Kinds.PersistentVolumeClaim, {
      metadata: { name: 'data', namespace: 'default', annotations },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
    });

  it('that do not exist yet put the node where they may be provisioned', async () => {
    await bench.createPool();
    await storageClass('WaitForFirstConsumer');
    await volumeClaim({ storageClassName: 'disk' });
    await bench.createPod('p', withVolume);
    await bench.advance(2_000);
    expect(await zoneOf()).toEqual(['zone-2']);
  });

  it('that exist put the node where they are', async () => {
    await bench.createPool();
    await bench.kube.create(Kinds.PersistentVolume, {
      metadata: { name: 'pv' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '1Gi' },
        csi: { driver: 'disk.csi.azure.com', volumeHandle: 'x' },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: Labels.zone, operator: 'In', values: ['zone-2'] }] }],
          },
        },
      },
    });
    await volumeClaim({ volumeName: 'pv' }, { 'pv.kubernetes.io/bind-completed': 'yes' });
    await bench.createPod('p', withVolume);
    await bench.advance(2_000);
    expect(await zoneOf()).toEqual(['zone-2']);
  });

  it('keep a pod pending, with an event, while they are invalid', async () => {
    await bench.createPool();
    await bench.createPod('p', withVolume);
    await bench.advance(5_000);
    expect(await bench.claims()).toEqual([]);
    expect((await bench.events('FailedScheduling'))[0]?.message).toContain(
      'PersistentVolumeClaim "data" does not exist',
    );
    await storageClass('Immediate');
    await volumeClaim({ storageClassName: 'disk' });
    await bench.advance(20_000);
    expect(await bench.claims()).toEqual([]);
  });
});
