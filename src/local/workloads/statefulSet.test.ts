import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Kinds, type StatefulSet } from '../../api/kinds.ts';
import type { Draft } from '../../kube/kube.ts';
import { instance, Simulation } from '../../../test/fixtures/local/simulation.ts';
import { isReady } from './podState.ts';

function statefulSet(replicas: number, extra: object = {}, image = 'redis:7'): Draft<StatefulSet> {
  const labels = { app: 'db' };
  return {
    metadata: { name: 'db', namespace: 'default' },
    spec: {
      replicas,
      serviceName: 'db',
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image }] } },
      ...extra,
    },
  };
}

describe('a StatefulSet', () => {
  let simulation: Simulation;
  beforeEach(async () => {
    simulation = new Simulation();
    await simulation.boot(instance('one'), instance('two', { zone: 'eastus-2' }));
  });
  afterEach(() => simulation.stop());

  const names = async (): Promise<string[]> => (await simulation.pods()).map(({ metadata }) => metadata.name);
  const ready = async (): Promise<number> => (await simulation.pods()).filter(isReady).length;

  it('creates its pods in order, each after the previous one is ready', async () => {
    await simulation.create(Kinds.StatefulSet, statefulSet(3));
    const seen = new Set<string>();
    await simulation.until(async () => {
      const pods = await simulation.pods();
      seen.add(pods.map((pod) => `${pod.metadata.name}${isReady(pod) ? '+' : ''}`).join(' '));
      return pods.filter(isReady).length === 3;
    });
    for (const state of seen) expect(state).toMatch(/^$|^(db-\d\+ ?)*(db-\d)?$/);
    expect(await names()).toEqual(['db-0', 'db-1', 'db-2']);
    const { status } = await simulation.kube.get(Kinds.StatefulSet, { name: 'db', namespace: 'default' });
    expect(status).toMatchObject({ replicas: 3, readyReplicas: 3, currentReplicas: 3, updatedReplicas: 3 });
  });

  it('creates all pods at once when Parallel, and deletes the highest ordinals', async () => {
    await simulation.create(Kinds.StatefulSet, statefulSet(4, { podManagementPolicy: 'Parallel' }));
    await simulation.advance(500);
    expect(await names()).toHaveLength(4);
    await simulation.until(async () => (await ready()) === 4);
    const ref = { name: 'db', namespace: 'default' };
    await simulation.kube.patch(Kinds.StatefulSet, ref, { type: 'merge', body: { spec: { replicas: 2 } } });
    await simulation.until(async () => (await names()).length === 2);
    expect(await names()).toEqual(['db-0', 'db-1']);
  });

  it('updates from the highest ordinal down to the partition', async () => {
    await simulation.create(Kinds.StatefulSet, statefulSet(3));
    await simulation.until(async () => (await ready()) === 3);
    const ref = { name: 'db', namespace: 'default' };
    await simulation.kube.patch(Kinds.StatefulSet, ref, {
      type: 'strategic',
      body: {
        spec: {
          updateStrategy: { rollingUpdate: { partition: 1 } },
          template: { spec: { containers: [{ name: 'main', image: 'redis:8' }] } },
        },
      },
    });
    const images = async (): Promise<(string | undefined)[]> =>
      (await simulation.pods()).map(({ spec }) => spec?.containers[0]?.image);
    await simulation.until(async () => (await images()).join() === 'redis:7,redis:8,redis:8' && (await ready()) === 3);
    const { status } = await simulation.kube.get(Kinds.StatefulSet, ref);
    expect(status?.currentRevision).not.toBe(status?.updateRevision);
    expect(status).toMatchObject({ currentReplicas: 1, updatedReplicas: 2 });
    await simulation.kube.patch(Kinds.StatefulSet, ref, {
      type: 'merge',
      body: { spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } },
    });
    await simulation.until(async () => (await images()).every((image) => image === 'redis:8') && (await ready()) === 3);
    await simulation.advance(2_000);
    const after = (await simulation.kube.get(Kinds.StatefulSet, ref)).status;
    expect(after?.currentRevision).toBe(after?.updateRevision);
  });

  it('creates a disk in the zone of each pod, to which a replaced pod returns', async () => {
    const volumeClaimTemplates = [
      {
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '10Gi' } } },
      },
    ];
    await simulation.create(Kinds.StatefulSet, statefulSet(2, { volumeClaimTemplates }));
    await simulation.until(async () => (await ready()) === 2);
    const zoneOf = async (pod: string): Promise<string | undefined> => {
      const { spec } = await simulation.kube.get(Kinds.Pod, { name: pod, namespace: 'default' });
      const node = await simulation.kube.get(Kinds.Node, { name: spec?.nodeName ?? '' });
      return node.metadata.labels?.['topology.kubernetes.io/zone'];
    };
    const claim = await simulation.kube.get(Kinds.PersistentVolumeClaim, { name: 'data-db-0', namespace: 'default' });
    const volume = await simulation.kube.get(Kinds.PersistentVolume, { name: claim.spec?.volumeName ?? '' });
    const before = await zoneOf('db-0');
    const [term] = volume.spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
    expect(term?.matchExpressions).toEqual([
      { key: 'topology.disk.csi.azure.com/zone', operator: 'In', values: [before] },
    ]);
    await simulation.until(async () => {
      const { items } = await simulation.kube.list(Kinds.VolumeAttachment);
      return items.length === 2 && items.every(({ status }) => status?.attached);
    }, 10_000);
    await simulation.kube.delete(Kinds.Pod, { name: 'db-0', namespace: 'default' });
    await simulation.until(async () => (await ready()) === 2);
    expect(await zoneOf('db-0')).toBe(before);
  });
});
