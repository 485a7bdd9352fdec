import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Kinds, type Pod } from '../../api/kinds.ts';
import { container, instance, Simulation } from '../../../test/fixtures/local/simulation.ts';

describe('a kubelet', () => {
  let simulation: Simulation;
  beforeEach(async () => {
    simulation = new Simulation(7);
    await simulation.boot(instance('one'));
  });
  afterEach(() => simulation.stop());

  it('starts a pod only when its disks are attached', async () => {
    const claim = { name: 'data', namespace: 'default' };
    await simulation.create(Kinds.PersistentVolumeClaim, {
      metadata: claim,
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '8Gi' } },
        storageClassName: 'default',
      },
    });
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
    await simulation.create(Kinds.Pod, {
      metadata: { name: 'stateful', namespace: 'default' },
      spec: { containers: [container()], volumes } as never,
    });
    let wasBoundWithoutDisk = false;
    let ranWithoutDisk = false;
    await simulation.until(async () => {
      const pod = await simulation.kube.get(Kinds.Pod, { name: 'stateful', namespace: 'default' });
      const attached = (await simulation.kube.list(Kinds.VolumeAttachment)).items.some(
        ({ status }) => status?.attached,
      );
      wasBoundWithoutDisk ||= pod.spec?.nodeName === 'one' && !attached;
      const isRunning = pod.status?.phase === 'Running';
      ranWithoutDisk ||= isRunning && !attached;
      return isRunning;
    }, 60_000);
    expect({ wasBoundWithoutDisk, ranWithoutDisk }).toEqual({ wasBoundWithoutDisk: true, ranWithoutDisk: false });
  });

  it('reports a pod as created, running and ready after its probe, and ends it within its grace period', async () => {
    const main = {
      ...container(),
      readinessProbe: { tcpSocket: { port: 80 }, initialDelaySeconds: 20 },
      lifecycle: { preStop: { sleep: { seconds: 8 } } },
    };
    await simulation.create(Kinds.Pod, {
      metadata: { name: 'slow', namespace: 'default', annotations: { 'local.nodewright.dev/stop-seconds': '600' } },
      spec: { containers: [main], terminationGracePeriodSeconds: 25 } as never,
    });
    const ref = { name: 'slow', namespace: 'default' };
    const look = async (): Promise<string> => {
      const { status } = await simulation.kube.get(Kinds.Pod, ref);
      const [one] = status?.containerStatuses ?? [];
      const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status;
      return [status?.phase, Object.keys(one?.state ?? {}), one?.ready, ready].join(' ');
    };
    await simulation.advance(500);
    expect(await look()).toBe('Pending waiting false False');
    await simulation.advance(5_000);
    expect(await look()).toBe('Running running false False');
    await simulation.advance(20_000);
    expect(await look()).toBe('Running running true True');
    await simulation.kube.delete(Kinds.Pod, ref);
    await simulation.advance(24_000);
    expect(await look()).toBe('Running running true True');
    await simulation.advance(2_000);
    await expect(look()).rejects.toMatchObject({ code: 404 });
  });

  it('restarts ended containers with increasing back-off', async () => {
    const annotations = { 'local.nodewright.dev/run-seconds': '5', 'local.nodewright.dev/exit-code': '1' };
    const ref = { name: 'crashing', namespace: 'default' };
    await simulation.create(Kinds.Pod, {
      metadata: { ...ref, annotations },
      spec: { containers: [container()] } as never,
    });
    const seen: string[] = [];
    for (let second = 0; second < 60; second++) {
      await simulation.advance(1_000);
      const { status, metadata } = await simulation.kube.get(Kinds.Pod, ref);
      const [one] = status?.containerStatuses ?? [];
      const state =
        one?.state?.waiting?.message?.replace(metadata.uid ?? '', 'uid') ?? (one?.ready ? 'runs' : 'starts');
      const line = `${one?.restartCount} ${state} ${one?.lastState?.terminated?.reason ?? ''}`;
      if (line !== seen.at(-1)) seen.push(line);
    }
    const held = (wait: string): string =>
      `back-off ${wait} restarting failed container=main pod=crashing_default(uid) Error`;
    expect(seen.slice(1)).toEqual([
      '0 runs ',
      '1 runs Error',
      `1 ${held('10s')}`,
      '2 runs Error',
      `2 ${held('20s')}`,
      '3 runs Error',
      expect.stringContaining('3 back-off 40s'),
    ]);
  });

  describe('resizing a pod in place', () => {
    const ref = { name: 'grows', namespace: 'default' };
    const create = (more: object = {}): Promise<unknown> =>
      simulation.create(Kinds.Pod, {
        metadata: ref,
        spec: { containers: [{ ...container({ cpu: '1', memory: '1Gi' }), ...more }] } as never,
      });
    const resize = (cpu: string): Promise<Pod> => {
      const containers = [{ name: 'main', resources: { requests: { cpu } } }];
      return simulation.kube.patch(
        Kinds.Pod,
        ref,
        { type: 'strategic', body: { spec: { containers } } },
        { subresource: 'resize' },
      );
    };
    const look = async (): Promise<object> => {
      const { status } = await simulation.kube.get(Kinds.Pod, ref);
      const [main] = status?.containerStatuses ?? [];
      const conditions = status?.conditions?.filter(({ type }) => type.startsWith('PodResize')) ?? [];
      return {
        allocated: main?.allocatedResources?.['cpu'],
        held: main?.resources?.requests?.['cpu'],
        restarts: main?.restartCount,
        ...(conditions.length > 0 && { conditions: conditions.map(({ type, reason }) => `${type} ${reason}`) }),
      };
    };

    it('allocates the resources, and applies them without a restart', async () => {
      await create();
      await simulation.advance(5_000);
      expect(await look()).toEqual({ allocated: '1', held: '1', restarts: 0 });
      expect((await resize('3')).metadata.generation).toBe(2);
      await simulation.advance(1_000);
      expect(await look()).toEqual({ allocated: '3', held: '3', restarts: 0 });
    });

    it('restarts a container with the policy RestartContainer', async () => {
      await create({ resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] });
      await simulation.advance(5_000);
      await resize('2');
      await simulation.advance(1_000);
      expect(await look()).toEqual({ allocated: '2', held: '2', restarts: 1 });
    });

    it('defers a resize that does not fit the node until there is room', async () => {
      await create();
      const other = { name: 'other', namespace: 'default' };
      await simulation.create(Kinds.Pod, { metadata: other, spec: { containers: [container({ cpu: '2' })] } as never });
      await simulation.advance(5_000);
      await resize('3');
      await simulation.advance(1_000);
      expect(await look()).toEqual({
        allocated: '1',
        held: '1',
        restarts: 0,
        conditions: ['PodResizePending Deferred'],
      });
      const { status } = await simulation.kube.get(Kinds.Pod, ref);
      expect(status?.conditions?.find(({ type }) => type === 'PodResizePending')?.message).toBe(
        "Node didn't have enough resource: cpu, requested: 3000, used: 2000, capacity: 4000",
      );
      await simulation.kube.delete(Kinds.Pod, other, { gracePeriodSeconds: 0 });
      await simulation.advance(15_000);
      expect(await look()).toEqual({ allocated: '3', held: '3', restarts: 0 });
    });

    it('changes the room for other pods', async () => {
      await create();
      await simulation.advance(5_000);
      await resize('3');
      await simulation.advance(1_000);
      const late = { name: 'late', namespace: 'default' };
      await simulation.create(Kinds.Pod, { metadata: late, spec: { containers: [container({ cpu: '2' })] } as never });
      await simulation.advance(5_000);
      const nodeOfLate = async (): Promise<string | undefined> =>
        (await simulation.kube.get(Kinds.Pod, late)).spec?.nodeName;
      expect(await nodeOfLate()).toBeUndefined();
      await resize('1');
      await simulation.advance(5_000);
      expect(await nodeOfLate()).toBe('one');
    });

    it('cannot remove requests or change the quality of service', async () => {
      await create();
      await simulation.advance(5_000);
      const { resources: _resources, ...plain } = { ...container() } as { resources: object };
      const body = { spec: { containers: [{ ...plain, resources: { $patch: 'replace' } }] } };
      await expect(
        simulation.kube.patch(Kinds.Pod, ref, { type: 'strategic', body }, { subresource: 'resize' }),
      ).rejects.toThrow(/resource requests cannot be removed/);
      const limits = { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } };
      await expect(
        simulation.kube.patch(
          Kinds.Pod,
          ref,
          { type: 'strategic', body: { spec: { containers: [{ name: 'main', resources: limits }] } } },
          { subresource: 'resize' },
        ),
      ).rejects.toThrow(/Pod QOS Class may not change as a result of resizing/);
    });
  });

  it('keeps a problem reported before its node was ready', async () => {
    simulation.world.powerOn(instance('two'));
    await simulation.advance(5_500);
    const preempted = { type: 'VMEventScheduled', status: 'True', reason: 'PreemptScheduled' };
    await simulation.kube.patch(
      Kinds.Node,
      { name: 'two' },
      { type: 'strategic', body: { status: { conditions: [preempted] } } },
      { subresource: 'status' },
    );
    await simulation.advance(10_000);
    const { status } = await simulation.kube.get(Kinds.Node, { name: 'two' });
    const shown = (type: string): string | undefined => status?.conditions?.find((each) => each.type === type)?.status;
    expect([shown('Ready'), shown('KernelDeadlock'), shown('VMEventScheduled')]).toEqual(['True', 'False', 'True']);
  });
});
