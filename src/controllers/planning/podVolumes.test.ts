import { describe, expect, it } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '../../api/kinds.ts';
import { Labels } from '../../api/labels.ts';
import { Store } from '../../kube/store.ts';
import { resolvePodVolumes, type VolumeStores } from './podVolumes.ts';

const bound = { 'pv.kubernetes.io/bind-completed': 'yes' };

function stores(
  claims: readonly PersistentVolumeClaim[],
  volumes: readonly PersistentVolume[] = [],
  classes: readonly StorageClass[] = [],
): VolumeStores {
  const fill = <T extends { metadata: { name: string } }>(objects: readonly T[]): Store<T> => {
    const store = new Store<T>();
    for (const object of objects) store.set(object);
    return store;
  };
  return { claims: fill(claims), volumes: fill(volumes), classes: fill(classes) };
}

const pod = (...names: string[]): Pod => ({
  metadata: { name: 'db-0', namespace: 'default' },
  spec: {
    containers: [{ name: 'main' }],
    volumes: names.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
  },
});

const claim = (name: string, spec: object, annotations: Record<string, string> = {}): PersistentVolumeClaim => ({
  metadata: { name, namespace: 'default', annotations },
  spec: spec as NonNullable<PersistentVolumeClaim['spec']>,
});

const zonal = (name: string, ...zones: string[]): PersistentVolume => ({
  metadata: { name },
  spec: {
    csi: { driver: 'disk.csi.azure.com', volumeHandle: name },
    nodeAffinity: {
      required: {
        nodeSelectorTerms: zones.map((zone) => ({
          matchExpressions: [{ key: 'topology.disk.csi.azure.com/zone', operator: 'In', values: [zone] }],
        })),
      },
    },
  },
});

const waiting = (name: string, parts: Partial<StorageClass> = {}): StorageClass => ({
  metadata: { name },
  provisioner: 'disk.csi.azure.com',
  volumeBindingMode: 'WaitForFirstConsumer',
  ...parts,
});

const zonesOf = (resolved: ReturnType<typeof resolvePodVolumes>): string[] =>
  resolved && 'volumes' in resolved
    ? resolved.volumes.alternatives.map((each) => each.get(Labels.zone).toString())
    : [];

describe('resolvePodVolumes', () => {
  it('has no alternatives for pods without disks', () => {
    expect(resolvePodVolumes(pod(), stores([]))).toBeUndefined();
  });

  it('offers each zone of a bound disk, under the common name of the zone label', () => {
    const world = stores([claim('data', { volumeName: 'disk' }, bound)], [zonal('disk', 'eastus-1', 'eastus-2')]);
    const resolved = resolvePodVolumes(pod('data'), world);
    expect(zonesOf(resolved)).toEqual([`${Labels.zone} In [eastus-1]`, `${Labels.zone} In [eastus-2]`]);
    expect(resolved).toMatchObject({
      volumes: { attachments: [{ driver: 'disk.csi.azure.com', claim: 'default/data' }] },
    });
  });

  it('keeps only combinations of several disks that can meet', () => {
    const claims = [claim('a', { volumeName: 'one' }, bound), claim('b', { volumeName: 'two' }, bound)];
    const world = stores(claims, [zonal('one', 'eastus-1', 'eastus-2'), zonal('two', 'eastus-2', 'eastus-3')]);
    expect(zonesOf(resolvePodVolumes(pod('a', 'b'), world))).toEqual([`${Labels.zone} In [eastus-2]`]);
  });

  it('follows the topologies that a storage class allows', () => {
    const allowedTopologies = [{ matchLabelExpressions: [{ key: Labels.zone, values: ['eastus-3'] }] }];
    const world = stores([claim('data', { storageClassName: 'slow' })], [], [waiting('slow', { allowedTopologies })]);
    expect(zonesOf(resolvePodVolumes(pod('data'), world))).toEqual([`${Labels.zone} In [eastus-3]`]);
  });

  it.each([
    ['a claim that does not exist', stores([]), { problem: 'missing' }],
    ['a claim without class', stores([claim('data', {})]), { problem: 'no-storage-class' }],
    [
      'a class that does not exist',
      stores([claim('data', { storageClassName: 'x' })]),
      { problem: 'storage-class-missing', storageClass: 'x' },
    ],
    [
      'a class that binds at once',
      stores([claim('data', { storageClassName: 'x' })], [], [waiting('x', { volumeBindingMode: 'Immediate' })]),
      { problem: 'binds-immediately', storageClass: 'x' },
    ],
    [
      'a volume that does not exist',
      stores([claim('data', { volumeName: 'gone' }, bound)]),
      { problem: 'volume-missing', volume: 'gone' },
    ],
  ])('refuses %s', (_what, world, problem) => {
    const objection = { kind: 'volume-claim', claim: 'data', ...problem };
    expect(resolvePodVolumes(pod('data'), world)).toEqual({ objection });
  });
});
