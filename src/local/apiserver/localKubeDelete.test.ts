import { beforeEach, describe, expect, it } from 'vitest';
import { newApi, ref, SPEC, type ApiCase } from '../../../test/fixtures/local/podsInApi.ts';
import { Kinds } from '../../api/kinds.ts';
import type { Kube } from '../../kube/kube.ts';

let kube: Kube;
let newPod: ApiCase['newPod'];

beforeEach(() => {
  ({ kube, newPod } = newApi());
});

describe('delete', () => {
  it('gives a scheduled pod its grace period, until the kubelet deletes it without one', async () => {
    await newPod('a');
    await kube.bind(ref('a'), 'n1');
    await kube.delete(Kinds.Pod, ref('a'));
    const leaving = await kube.get(Kinds.Pod, ref('a'));
    expect(leaving.metadata).toMatchObject({
      deletionTimestamp: '2026-01-01T00:00:30Z',
      deletionGracePeriodSeconds: 30,
    });
    await kube.delete(Kinds.Pod, ref('a'), { gracePeriodSeconds: 0 });
    await expect(kube.get(Kinds.Pod, ref('a'))).rejects.toMatchObject({ code: 404 });
  });

  it('removes an unscheduled pod immediately', async () => {
    await newPod('a');
    await kube.delete(Kinds.Pod, ref('a'));
    await expect(kube.get(Kinds.Pod, ref('a'))).rejects.toMatchObject({ code: 404 });
  });

  it('waits for finalizers, and rejects new ones', async () => {
    await kube.create(Kinds.Node, { metadata: { name: 'n', finalizers: ['karpenter.sh/termination'] } });
    await kube.delete(Kinds.Node, { name: 'n' });
    expect((await kube.get(Kinds.Node, { name: 'n' })).metadata.deletionTimestamp).toBeDefined();
    await expect(
      kube.patch(
        Kinds.Node,
        { name: 'n' },
        { type: 'merge', body: { metadata: { finalizers: ['karpenter.sh/termination', 'x/y'] } } },
      ),
    ).rejects.toMatchObject({ code: 422 });
    await kube.patch(Kinds.Node, { name: 'n' }, { type: 'merge', body: { metadata: { finalizers: null } } });
    await expect(kube.get(Kinds.Node, { name: 'n' })).rejects.toMatchObject({ code: 404 });
  });

  it('checks preconditions', async () => {
    await newPod('a');
    await expect(kube.delete(Kinds.Pod, ref('a'), { preconditions: { uid: 'other' } })).rejects.toMatchObject({
      code: 409,
    });
  });

  it('deletes collections by selector', async () => {
    await newPod('a', { labels: { x: '1' } });
    await newPod('b', { labels: { x: '2' } });
    await kube.deleteCollection(Kinds.Pod, { namespace: 'default', labelSelector: 'x=1' });
    expect((await kube.list(Kinds.Pod)).items.map((pod) => pod.metadata.name)).toEqual(['b']);
  });
});

describe('garbage collection', () => {
  async function family(): Promise<void> {
    const owner = await kube.create(Kinds.ConfigMap, { metadata: ref('owner') });
    const reference = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: 'owner',
      uid: owner.metadata.uid ?? '',
      blockOwnerDeletion: true,
    };
    await newPod('child', { ownerReferences: [reference], finalizers: ['test/hold'] });
  }

  const exists = async (name: string): Promise<boolean> =>
    (await kube.list(Kinds.Pod)).items.some(
      (pod) => pod.metadata.name === name && pod.metadata.deletionTimestamp === undefined,
    );

  it('in the background: removes the owner, then its dependents', async () => {
    await family();
    await kube.delete(Kinds.ConfigMap, ref('owner'), { propagationPolicy: 'Background' });
    await expect(kube.get(Kinds.ConfigMap, ref('owner'))).rejects.toMatchObject({ code: 404 });
    expect(await exists('child')).toBe(false);
  });

  it('in the foreground: removes the owner after its dependents', async () => {
    await family();
    await kube.delete(Kinds.ConfigMap, ref('owner'), { propagationPolicy: 'Foreground' });
    expect((await kube.get(Kinds.ConfigMap, ref('owner'))).metadata.finalizers).toEqual(['foregroundDeletion']);
    await kube.patch(Kinds.Pod, ref('child'), { type: 'merge', body: { metadata: { finalizers: null } } });
    await expect(kube.get(Kinds.Pod, ref('child'))).rejects.toMatchObject({ code: 404 });
    await expect(kube.get(Kinds.ConfigMap, ref('owner'))).rejects.toMatchObject({ code: 404 });
  });

  it('with orphaning: keeps the dependents without owner references', async () => {
    await family();
    await kube.delete(Kinds.ConfigMap, ref('owner'), { propagationPolicy: 'Orphan' });
    await expect(kube.get(Kinds.ConfigMap, ref('owner'))).rejects.toMatchObject({ code: 404 });
    expect((await kube.get(Kinds.Pod, ref('child'))).metadata.ownerReferences).toBeUndefined();
    expect(await exists('child')).toBe(true);
  });

  it('deletes an object created with an owner that does not exist', async () => {
    await newPod('late', { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'no-such' }] });
    await Promise.resolve();
    expect(await exists('late')).toBe(false);
  });
});

describe('namespaces', () => {
  it('exist from the start, and some cannot be deleted', async () => {
    const names = (await kube.list(Kinds.Namespace)).items.map((one) => one.metadata.name);
    expect(names).toEqual(['default', 'kube-node-lease', 'kube-public', 'kube-system']);
    await expect(kube.delete(Kinds.Namespace, { name: 'kube-system' })).rejects.toMatchObject({ code: 403 });
  });

  it('are deleted with their objects, and reject new ones meanwhile', async () => {
    await kube.create(Kinds.Namespace, { metadata: { name: 'team' } });
    await kube.create(Kinds.Pod, { metadata: { name: 'a', namespace: 'team', finalizers: ['test/hold'] }, spec: SPEC });
    await kube.delete(Kinds.Namespace, { name: 'team' });
    expect((await kube.get(Kinds.Namespace, { name: 'team' })).status?.phase).toBe('Terminating');
    await expect(
      kube.create(Kinds.Pod, { metadata: { name: 'b', namespace: 'team' }, spec: SPEC }),
    ).rejects.toMatchObject({
      code: 403,
      message: expect.stringContaining('because it is being terminated') as string,
    });
    await kube.patch(
      Kinds.Pod,
      { name: 'a', namespace: 'team' },
      { type: 'merge', body: { metadata: { finalizers: null } } },
    );
    await Promise.resolve();
    await expect(kube.get(Kinds.Namespace, { name: 'team' })).rejects.toMatchObject({ code: 404 });
  });
});
