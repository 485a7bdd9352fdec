import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Kinds } from '../../api/kinds.ts';
import { container, machine, Simulation } from '../../../test/fixtures/local/simulation.ts';

describe('a kubelet', () => {
  let simulation: Simulation;
  beforeEach(async () => {
    simulation = new Simulation(7);
    await simulation.boot(machine('one'));
  });
  afterEach(() => simulation.stop());

  it('starts a pod only when its disks are there', async () => {
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

  it('tells what becomes of a pod: made, running, ready when its probe says so, and ended within its grace', async () => {
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

  it('starts containers again that end, each time later', async () => {
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
});
