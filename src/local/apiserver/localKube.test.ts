import { beforeEach, describe, expect, it } from 'vitest';
import { newApi, ref, SPEC, type ApiCase } from '../../../test/fixtures/local/podsInApi.ts';
import { renderCrds } from '../../api/crds.ts';
import { Kinds } from '../../api/kinds.ts';
import { SeededRandom } from '../../clock/seededRandom.ts';
import type { VirtualClock } from '../../clock/virtualClock.ts';
import type { Kube } from '../../kube/kube.ts';
import { LocalApiServer } from './localApiServer.ts';

let clock: VirtualClock;
let kube: Kube;
let newPod: ApiCase['newPod'];

beforeEach(() => {
  ({ clock, kube, newPod } = newApi());
});

describe('generation', () => {
  const template = { metadata: { labels: { app: 'a' } }, spec: SPEC };
  const spec = { selector: { matchLabels: { app: 'a' } }, template };

  it('is incremented by changed annotations of Deployments, but not of other kinds', async () => {
    await kube.create(Kinds.Deployment, { metadata: ref('a'), spec });
    await kube.create(Kinds.ReplicaSet, { metadata: ref('a'), spec });
    const patch = { type: 'merge', body: { metadata: { annotations: { note: 'x' } } } } as const;
    expect((await kube.patch(Kinds.Deployment, ref('a'), patch)).metadata.generation).toBe(2);
    expect((await kube.patch(Kinds.Deployment, ref('a'), patch)).metadata.generation).toBe(2);
    expect((await kube.patch(Kinds.ReplicaSet, ref('a'), patch)).metadata.generation).toBe(1);
  });

  it('is not incremented by annotations written with the status of a Deployment', async () => {
    await kube.create(Kinds.Deployment, { metadata: ref('a'), spec });
    const body = { metadata: { annotations: { 'deployment.kubernetes.io/revision': '1' } }, status: { replicas: 1 } };
    const options = { subresource: 'status' } as const;
    const { metadata } = await kube.patch(Kinds.Deployment, ref('a'), { type: 'merge', body }, options);
    expect(metadata).toMatchObject({ generation: 1, annotations: body.metadata.annotations });
  });
});

describe('create', () => {
  it('sets uid, creation time and defaults, and runs admission', async () => {
    const pod = await newPod('a');
    expect(pod).toMatchObject({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a', namespace: 'default', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' },
      spec: {
        restartPolicy: 'Always',
        dnsPolicy: 'ClusterFirst',
        schedulerName: 'default-scheduler',
        terminationGracePeriodSeconds: 30,
        serviceAccountName: 'default',
        priority: 0,
        preemptionPolicy: 'PreemptLowerPriority',
        tolerations: [
          { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
          { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
        ],
      },
      status: { phase: 'Pending', qosClass: 'BestEffort' },
    });
    expect(pod.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('writes quantities canonically and defaults requests to limits', async () => {
    const limits = { cpu: '1000m', memory: '1024Mi' };
    const pod = await newPod('a', {}, { containers: [{ name: 'c', image: 'x', resources: { limits } }] });
    expect(pod.spec?.containers[0]?.resources).toEqual({
      limits: { cpu: '1', memory: '1Gi' },
      requests: { cpu: '1', memory: '1Gi' },
    });
    expect(pod.status?.qosClass).toBe('Guaranteed');
  });

  it('generates names, the same ones for the same seed', async () => {
    const pod = await kube.create(Kinds.Pod, { metadata: { generateName: 'web-', namespace: 'default' }, spec: SPEC });
    expect(pod.metadata.name).toMatch(/^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    const twin = new LocalApiServer({ clock, random: new SeededRandom(7) }).kube;
    const again = await twin.create(Kinds.Pod, {
      metadata: { generateName: 'web-', namespace: 'default' },
      spec: SPEC,
    });
    expect(again.metadata.name).toBe(pod.metadata.name);
  });

  it('sets the priority of the priority class', async () => {
    const pod = await newPod('a', {}, { priorityClassName: 'system-node-critical' });
    expect(pod.spec?.priority).toBe(2_000_001_000);
    await expect(newPod('b', {}, { priorityClassName: 'nope' })).rejects.toMatchObject({ reason: 'Forbidden' });
  });

  it('rejects existing names, unknown namespaces and invalid objects with upstream messages', async () => {
    await newPod('a');
    await expect(newPod('a')).rejects.toMatchObject({
      code: 409,
      reason: 'AlreadyExists',
      message: 'pods "a" already exists',
    });
    await expect(
      kube.create(Kinds.Pod, { metadata: { name: 'x', namespace: 'nowhere' }, spec: SPEC }),
    ).rejects.toMatchObject({ code: 404, message: 'namespaces "nowhere" not found' });
    await expect(newPod('Bad_Name')).rejects.toMatchObject({ code: 422, reason: 'Invalid' });
    await expect(newPod('b', {}, { containers: [] })).rejects.toThrow(
      'Pod "b" is invalid: spec.containers: Required value',
    );
  });

  it('stores nothing in a dry run', async () => {
    await kube.create(Kinds.Pod, { metadata: ref('a'), spec: SPEC }, { dryRun: true });
    await expect(kube.get(Kinds.Pod, ref('a'))).rejects.toMatchObject({ code: 404, message: 'pods "a" not found' });
  });

  it('copies the given object', async () => {
    const labels: Record<string, string> = { a: '1' };
    await newPod('a', { labels });
    labels['a'] = '2';
    expect((await kube.get(Kinds.Pod, ref('a'))).metadata.labels).toEqual({ a: '1' });
  });
});

describe('update', () => {
  it('rejects an outdated resource version', async () => {
    const pod = await newPod('a');
    const labelled = { ...pod, metadata: { ...pod.metadata, labels: { x: '1' } } };
    await kube.replace(Kinds.Pod, labelled);
    await expect(kube.replace(Kinds.Pod, labelled)).rejects.toMatchObject({
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on pods "a": the object has been modified; please apply your changes to the latest version and try again',
    });
  });

  it('keeps the resource version when nothing changes', async () => {
    const pod = await newPod('a');
    expect((await kube.replace(Kinds.Pod, pod)).metadata.resourceVersion).toBe(pod.metadata.resourceVersion);
  });

  it('separates status from the other fields and increments the generation for those', async () => {
    const labels = { app: 'web' };
    const created = await kube.create(Kinds.Deployment, {
      metadata: { name: 'd', namespace: 'default' },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: SPEC } },
    });
    expect(created).toMatchObject({ metadata: { generation: 1 }, spec: { replicas: 1, revisionHistoryLimit: 10 } });
    const scaled = await kube.patch(Kinds.Deployment, ref('d'), {
      type: 'merge',
      body: { spec: { replicas: 3 }, status: { replicas: 9 } },
    });
    expect(scaled).toMatchObject({ metadata: { generation: 2 }, spec: { replicas: 3 }, status: {} });
    const reported = await kube.patch(
      Kinds.Deployment,
      ref('d'),
      { type: 'merge', body: { spec: { replicas: 8 }, status: { replicas: 3 } } },
      { subresource: 'status' },
    );
    expect(reported).toMatchObject({ metadata: { generation: 2 }, spec: { replicas: 3 }, status: { replicas: 3 } });
    await expect(
      kube.patch(Kinds.Deployment, ref('d'), {
        type: 'merge',
        body: { spec: { selector: { matchLabels: { z: 'z' } } } },
      }),
    ).rejects.toMatchObject({ code: 422 });
  });

  it('scales through the scale subresource', async () => {
    const labels = { app: 'web' };
    await kube.create(Kinds.Deployment, {
      metadata: { name: 'd', namespace: 'default' },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: SPEC } },
    });
    const scale = await kube.get(Kinds.Deployment, ref('d'), { subresource: 'scale' });
    expect(scale).toMatchObject({ kind: 'Scale', spec: { replicas: 1 }, status: { selector: 'app=web' } });
    await kube.patch(
      Kinds.Deployment,
      ref('d'),
      { type: 'merge', body: { spec: { replicas: 4 } } },
      { subresource: 'scale' },
    );
    expect((await kube.get(Kinds.Deployment, ref('d'))).spec?.replicas).toBe(4);
  });

  it('removes the scheduling gates of a pod with a node selector', async () => {
    const spec = {
      containers: [{ name: 'main', image: 'nginx' }],
      schedulingGates: [{ name: 'example.com/wait' }],
      nodeSelector: { team: 'red' },
    };
    await kube.create(Kinds.Pod, { metadata: { name: 'gated', namespace: 'default' }, spec });
    const ref = { name: 'gated', namespace: 'default' };
    const open = await kube.patch(Kinds.Pod, ref, { type: 'merge', body: { spec: { schedulingGates: [] } } });
    expect(open.spec?.schedulingGates ?? []).toEqual([]);
    const moved = kube.patch(Kinds.Pod, ref, { type: 'merge', body: { spec: { nodeSelector: { team: 'blue' } } } });
    await expect(moved).rejects.toThrow('pod updates may not change fields');
  });

  it('allows changes of few fields of a pod', async () => {
    await newPod('a');
    const image = { spec: { containers: [{ name: 'c', image: 'nginx:2' }] } };
    await kube.patch(Kinds.Pod, ref('a'), { type: 'strategic', body: image });
    await expect(
      kube.patch(Kinds.Pod, ref('a'), { type: 'merge', body: { spec: { nodeName: 'n' } } }),
    ).rejects.toMatchObject({ code: 422 });
  });
});

describe('custom resources', () => {
  beforeEach(async () => {
    for (const crd of renderCrds()) await kube.create(Kinds.CustomResourceDefinition, crd);
  });

  const template = {
    spec: { nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' }, requirements: [] },
  };

  it('are defaulted, pruned and validated by their schema', async () => {
    const spec = { template, unknown: true } as never;
    const pool = await kube.create(Kinds.NodePool, { metadata: { name: 'p' }, spec });
    expect(pool.spec).toMatchObject({ disruption: { consolidateAfter: '0s', budgets: [{ nodes: '10%' }] } });
    expect(pool.spec).not.toHaveProperty('unknown');
    await expect(
      kube.patch(Kinds.NodePool, { name: 'p' }, { type: 'merge', body: { spec: { weight: 1000 } } }),
    ).rejects.toMatchObject({ code: 422, message: expect.stringContaining('spec.weight') as string });
  });

  it('lose empty maps and lists in their metadata, with every way to write them', async () => {
    const empty = { labels: {}, annotations: {}, finalizers: [], ownerReferences: [] };
    const created = await kube.create(Kinds.NodePool, {
      metadata: { name: 'p', ...empty },
      spec: { template } as never,
    });
    const body = {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: { name: 'q', ...empty },
      spec: { template },
    };
    const options = { fieldManager: 'test' };
    const applied = await kube.patch(Kinds.NodePool, { name: 'q' }, { type: 'apply', body }, options);
    for (const { metadata } of [created, applied]) {
      for (const field of Object.keys(empty)) expect(metadata).not.toHaveProperty(field);
    }
    const before = created.metadata.resourceVersion;
    const patched = await kube.patch(Kinds.NodePool, { name: 'p' }, { type: 'merge', body: { metadata: empty } });
    expect(patched.metadata.resourceVersion).toBe(before);
  });

  it.each([
    [{ name: 5 }, 'number into Go struct field ObjectMeta.name of type string'],
    [{ generateName: true }, 'bool into Go struct field ObjectMeta.generateName of type string'],
    [{ name: 'p', labels: { a: 1 } }, 'number into Go struct field ObjectMeta.labels of type string'],
    [{ name: 'p', labels: ['a'] }, 'array into Go struct field ObjectMeta.labels of type map[string]string'],
    [{ name: 'p', annotations: 'a' }, 'string into Go struct field ObjectMeta.annotations of type map[string]string'],
    [{ name: 'p', finalizers: 'a' }, 'string into Go struct field ObjectMeta.finalizers of type []string'],
    [{ name: 'p', finalizers: [{}] }, 'object into Go struct field ObjectMeta.finalizers of type string'],
    [
      { name: 'p', ownerReferences: [{ uid: 7 }] },
      'number into Go struct field OwnerReference.ownerReferences.uid of type types.UID',
    ],
    [{ name: 'p', generation: 1.5 }, 'number 1.5 into Go struct field ObjectMeta.generation of type int64'],
    [7, 'number into Go value of type v1.ObjectMeta'],
  ])('are rejected with metadata of a wrong type: %j', async (metadata, why) => {
    await expect(
      kube.create(Kinds.NodePool, { metadata: metadata as never, spec: { template } as never }),
    ).rejects.toMatchObject({
      code: 400,
      message: expect.stringContaining(
        `NodePool in version "v1" cannot be handled as a NodePool: json: cannot unmarshal ${why}`,
      ) as string,
    });
    expect((await kube.list(Kinds.NodePool)).items).toEqual([]);
  });

  it('do not support strategic merge patches', async () => {
    await kube.create(Kinds.NodePool, { metadata: { name: 'p' }, spec: { template } as never });
    await expect(kube.patch(Kinds.NodePool, { name: 'p' }, { type: 'strategic', body: {} })).rejects.toMatchObject({
      code: 415,
    });
  });

  it('are deleted with their definition, which is removed after them', async () => {
    const metadata = { name: 'p', finalizers: ['test/hold'] };
    await kube.create(Kinds.NodePool, { metadata, spec: { template } as never });
    await kube.delete(Kinds.CustomResourceDefinition, { name: 'nodepools.karpenter.sh' });
    expect((await kube.get(Kinds.NodePool, { name: 'p' })).metadata.deletionTimestamp).toBeDefined();
    await kube.patch(Kinds.NodePool, { name: 'p' }, { type: 'merge', body: { metadata: { finalizers: null } } });
    await Promise.resolve();
    await expect(kube.list(Kinds.NodePool)).rejects.toMatchObject({ code: 404 });
  });
});

describe('pods', () => {
  it('cannot be bound again', async () => {
    await newPod('a');
    await kube.bind(ref('a'), 'n1');
    const bound = await kube.get(Kinds.Pod, ref('a'));
    expect(bound.spec?.nodeName).toBe('n1');
    expect(bound.status?.conditions).toMatchObject([{ type: 'PodScheduled', status: 'True' }]);
    await expect(kube.bind(ref('a'), 'n2')).rejects.toMatchObject({ code: 409 });
  });

  it('are evicted only while their disruption budget allows it', async () => {
    await kube.create(Kinds.PodDisruptionBudget, {
      metadata: ref('b'),
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
    });
    const status = {
      observedGeneration: 1,
      disruptionsAllowed: 1,
      currentHealthy: 2,
      desiredHealthy: 1,
      expectedPods: 2,
    };
    await kube.patch(
      Kinds.PodDisruptionBudget,
      ref('b'),
      { type: 'merge', body: { status } },
      { subresource: 'status' },
    );
    for (const name of ['p1', 'p2']) {
      await newPod(name, { labels: { app: 'web' } });
      await kube.bind(ref(name), 'n1');
      const running = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
      await kube.patch(Kinds.Pod, ref(name), { type: 'merge', body: { status: running } }, { subresource: 'status' });
    }
    await kube.evict(ref('p1'));
    expect((await kube.get(Kinds.Pod, ref('p1'))).metadata.deletionTimestamp).toBeDefined();
    await expect(kube.evict(ref('p2'))).rejects.toMatchObject({ code: 429, reason: 'TooManyRequests' });
    expect((await kube.get(Kinds.PodDisruptionBudget, ref('b'))).status).toMatchObject({ disruptionsAllowed: 0 });
  });

  it('are evicted only if the preconditions hold, and are not changed otherwise', async () => {
    await newPod('a');
    await kube.bind(ref('a'), 'n1');
    const before = await kube.get(Kinds.Pod, ref('a'));
    await expect(kube.evict(ref('a'), { preconditions: { uid: 'other' } })).rejects.toMatchObject({ code: 409 });
    expect(await kube.get(Kinds.Pod, ref('a'))).toEqual(before);
    const { uid = '', resourceVersion = '' } = before.metadata;
    await kube.evict(ref('a'), { preconditions: { uid, resourceVersion } });
    const { status, metadata } = await kube.get(Kinds.Pod, ref('a'));
    expect(metadata.deletionTimestamp).toBeDefined();
    expect(status?.conditions?.map(({ type }) => type)).toEqual(['PodScheduled', 'DisruptionTarget']);
  });
});
