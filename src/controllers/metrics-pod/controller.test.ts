import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Workbench } from '../../../test/fixtures/engine/workbench.ts';
import { Kinds } from '../../api/kinds.ts';
import { Labels } from '../../api/labels.ts';
import { nodeClaimLifecycleController } from '../nodeclaim-lifecycle/controller.ts';
import { nodePoolReadinessController } from '../nodepool-readiness/controller.ts';
import { nodePoolValidationController } from '../nodepool-validation/controller.ts';
import { Batcher } from '../provisioner/batcher.ts';
import { Planner } from '../planning/planner.ts';
import { provisionerControllers } from '../provisioner/controller.ts';
import { podMetricsController } from './controller.ts';

let bench: Workbench;
beforeEach(async () => {
  bench = await Workbench.start({
    controllers: ({ world }) => [
      podMetricsController(world),
      ...provisionerControllers(world, {
        batcher: new Batcher({ clock: world.clock, idle: 1_000, max: 10_000 }),
        nominationPeriod: 20_000,
        planner: new Planner(world),
      }),
      nodeClaimLifecycleController(world),
      nodePoolReadinessController(world),
      nodePoolValidationController(world),
    ],
    pace: { boot: 5_000, ready: 1_000, podStart: 1_000 },
  });
});
afterEach(() => bench.close());

const metric = (name: string) => bench.metrics.value(`karpenter_pods_${name}`, { name: 'p', namespace: 'default' });
const observed = (name: string) => bench.metrics.observed(`karpenter_pods_${name}`);
const state = (labels: Record<string, string>) =>
  bench.metrics.value('karpenter_pods_state', { name: 'p', namespace: 'default', ...labels });
const remove = () => bench.kube.delete(Kinds.Pod, { name: 'p', namespace: 'default' }, { gracePeriodSeconds: 0 });

const WAITS = ['unbound', 'unstarted', 'provisioning_unbound', 'provisioning_unstarted'];
const DURATIONS = ['bound', 'startup', 'provisioning_bound', 'provisioning_startup'];

describe('the waiting times of a pod', () => {
  it('grow while it waits, and become durations afterwards', async () => {
    await bench.createPod('p');
    await bench.advance(20_000);
    expect([metric('unbound_time_seconds'), metric('unstarted_time_seconds')]).toEqual([20, 20]);
    expect(metric('provisioning_unbound_time_seconds')).toBeUndefined();
    expect(metric('state')).toBe(1);

    await bench.createPool();
    await bench.advance(4_000);
    expect(metric('provisioning_unbound_time_seconds')).toBeGreaterThan(0);
    await bench.advance(30_000);
    for (const gone of WAITS) expect(metric(`${gone}_time_seconds`)).toBeUndefined();
    const [bound = 0] = observed('bound_duration_seconds');
    const [started = 0] = observed('startup_duration_seconds');
    expect(bound).toBeGreaterThan(20);
    expect(started).toBeGreaterThan(bound);
    expect(observed('provisioning_bound_duration_seconds')[0]).toBeLessThan(bound - 19);
    for (const each of DURATIONS) expect(observed(`${each}_duration_seconds`)).toHaveLength(1);
  });

  it('end with the pod', async () => {
    await bench.createPod('p');
    await bench.advance(5_000);
    expect(metric('unbound_time_seconds')).toBe(5);
    await remove();
    await bench.advance(1_000);
    expect(metric('unbound_time_seconds')).toBeUndefined();
    expect(metric('state')).toBeUndefined();
  });

  it('start again for a new pod of the same name', async () => {
    await bench.createPod('p');
    await bench.advance(20_000);
    await remove();
    await bench.createPod('p');
    await bench.advance(5_000);
    expect([metric('unbound_time_seconds'), metric('unstarted_time_seconds')]).toEqual([5, 5]);
  });

  it('show how long a pod has had no decision', async () => {
    await bench.createPod('p');
    await bench.advance(500);
    expect(metric('provisioning_scheduling_undecided_time_seconds')).toBeCloseTo(0.5, 0);
    await bench.advance(10_000);
    expect(metric('provisioning_scheduling_undecided_time_seconds')).toBeUndefined();
  });

  it('are not observed for pods that were ready before the controller started', async () => {
    await bench.stopEngine();
    await bench.createClaim('a');
    await bench.createPod('p', { nodeName: 'node-a' });
    bench.local.kubelets.powerOn({
      name: 'node-a',
      providerID: 'memory://a',
      labels: {},
      taints: [],
      capacity: { cpu: '2', memory: '8Gi', pods: '110' },
      allocatable: { cpu: '2', memory: '8Gi', pods: '110' },
      kubeletVersion: 'v1.36.3',
      osImage: 'Memory Linux',
    });
    await bench.advance(20_000);
    bench.startEngine();
    await bench.advance(5_000);
    expect(state({ ready: 'true', node: 'node-a' })).toBe(1);
    for (const each of DURATIONS) expect(observed(`${each}_duration_seconds`)).toEqual([]);
  });

  it('are not observed for a pod that ended before it was ready', async () => {
    await bench.createPod('p');
    await bench.advance(1_000);
    const body = { status: { phase: 'Failed' } };
    const ref = { name: 'p', namespace: 'default' };
    await bench.kube.patch(Kinds.Pod, ref, { type: 'merge', body }, { subresource: 'status' });
    await bench.advance(1_000);
    expect(metric('unstarted_time_seconds')).toBeUndefined();
    expect(state({ phase: 'Failed' })).toBe(1);
    expect(observed('startup_duration_seconds')).toEqual([]);
  });
});

describe('the state of a pod', () => {
  it('has one series, with the labels of its node', async () => {
    await bench.createPool();
    await bench.createPod('p');
    await bench.clock.idle();
    expect(state({ scheduled: 'false', ready: 'false', phase: 'Pending', managed: 'false', owner: '' })).toBe(1);
    await bench.advance(30_000);
    expect(
      state({
        scheduled: 'true',
        ready: 'true',
        phase: 'Running',
        managed: 'true',
        nodepool: 'default',
        instance_type: 'm2',
        capacity_type: 'on-demand',
        arch: 'amd64',
      }),
    ).toBe(1);
    expect(state({})).toBe(1);
  });

  it('follows changes of the labels of its node', async () => {
    await bench.createPool();
    await bench.createPod('p');
    await bench.advance(30_000);
    const { spec } = await bench.kube.get(Kinds.Pod, { name: 'p', namespace: 'default' });
    const node = { name: spec?.nodeName ?? '' };
    const relabel = (zone: string) =>
      bench.kube.patch(Kinds.Node, node, { type: 'merge', body: { metadata: { labels: { [Labels.zone]: zone } } } });
    await relabel('moved');
    await bench.clock.idle();
    expect([state({ zone: 'moved' }), state({})]).toEqual([1, 1]);
  });

  it('names the owner by its path', async () => {
    const labels = { app: 'web' };
    await bench.kube.create(Kinds.ReplicaSet, {
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'app' }] } },
      },
    });
    await bench.advance(1_000);
    const owner = '/apis/apps/v1/namespaces/default/replicasets/web';
    expect(bench.metrics.value('karpenter_pods_state', { owner })).toBe(1);
  });
});
