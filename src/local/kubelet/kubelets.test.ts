import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Kinds } from '../../api/kinds.ts';
import { container, machine, Simulation } from '../testing/simulation.ts';

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
});
