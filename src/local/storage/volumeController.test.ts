import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Kinds } from '../../api/kinds.ts';
import { Labels } from '../../api/labels.ts';
import { instance, Simulation } from '../../../test/fixtures/local/simulation.ts';

describe('claims and volumes that a user created', () => {
  let simulation: Simulation;
  beforeEach(async () => {
    simulation = new Simulation();
    await simulation.boot(instance('a', { zone: 'eastus-1' }), instance('b', { zone: 'eastus-2' }));
  });
  afterEach(() => simulation.stop());

  const sizes = { accessModes: ['ReadWriteOnce'], storageClassName: 'managed-csi' };
  async function volume(name: string, zone: string, spec: object = {}): Promise<void> {
    const inZone = { matchExpressions: [{ key: Labels.zone, operator: 'In', values: [zone] }] };
    await simulation.create(Kinds.PersistentVolume, {
      metadata: { name },
      spec: {
        ...sizes,
        capacity: { storage: '1Gi' },
        persistentVolumeReclaimPolicy: 'Retain',
        csi: { driver: 'disk.csi.azure.com', volumeHandle: name },
        nodeAffinity: { required: { nodeSelectorTerms: [inZone] } },
        ...spec,
      },
    });
  }
  async function claim(name: string, spec: object = {}): Promise<void> {
    await simulation.create(Kinds.PersistentVolumeClaim, {
      metadata: { name, namespace: 'default' },
      spec: { ...sizes, resources: { requests: { storage: '1Gi' } }, ...spec },
    });
  }
  const phase = async (name: string): Promise<string | undefined> =>
    (await simulation.kube.get(Kinds.PersistentVolumeClaim, { name, namespace: 'default' })).status?.phase;

  it('are bound before any pod exists when one names the other, and keep the pod in their zone', async () => {
    await claim('named', { volumeName: 'first' });
    await claim('meant');
    await claim('free');
    await volume('first', 'eastus-2');
    await volume('second', 'eastus-2', { claimRef: { namespace: 'default', name: 'meant' } });
    await volume('third', 'eastus-1');
    await simulation.advance(5_000);
    expect([await phase('named'), await phase('meant')]).toEqual(['Bound', 'Bound']);
    // Its storage class waits for a pod.
    expect(await phase('free')).not.toBe('Bound');
    const volumes = ['named', 'meant'].map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
    const pod = await simulation.create(Kinds.Pod, {
      metadata: { name: 'p', namespace: 'default' },
      spec: { containers: [{ name: 'main', image: 'app' }], volumes },
    });
    await simulation.advance(10_000);
    expect((await simulation.kube.get(Kinds.Pod, pod.metadata)).spec?.nodeName).toBe('b');
  });

  it('are not bound when the volume belongs to another claim', async () => {
    await volume('taken', 'eastus-1', { claimRef: { namespace: 'default', name: 'other' } });
    await claim('late', { volumeName: 'taken' });
    await simulation.advance(5_000);
    expect(await phase('late')).not.toBe('Bound');
  });
});
