import { beforeEach, describe, expect, it } from 'vitest';
import { renderCrds } from '../../api/crds.ts';
import { Kinds, type Pod } from '../../api/kinds.ts';
import { SeededRandom } from '../../clock/seededRandom.ts';
import { VirtualClock } from '../../clock/virtualClock.ts';
import type { Kube, WatchEvent } from '../../kube/kube.ts';
import { LocalApiServer } from './localApiServer.ts';

const START = Date.UTC(2026, 0, 1);
const SPEC = { containers: [{ name: 'c', image: 'nginx:1' }] };

let clock: VirtualClock;
let server: LocalApiServer;
let kube: Kube;

beforeEach(() => {
  clock = new VirtualClock(START);
  server = new LocalApiServer({ clock, random: new SeededRandom(7), historyLimit: 50 });
  kube = server.kube;
});

const ref = (name: string): { name: string; namespace: string } => ({ name, namespace: 'default' });

async function newPod(
  name: string,
  more: Partial<Pod['metadata']> = {},
  spec: Partial<Pod['spec']> = {},
): Promise<Pod> {
  return await kube.create(Kinds.Pod, { metadata: { ...ref(name), ...more }, spec: { ...SPEC, ...spec } });
}

async function take<T>(events: AsyncIterable<T>, count: number): Promise<T[]> {
  const result: T[] = [];
  for await (const event of events) {
    result.push(event);
    if (result.length === count) break;
  }
  return result;
}

const brief = (event: WatchEvent<Pod>): string =>
  event.type === 'BOOKMARK' ? 'BOOKMARK' : `${event.type} ${event.object.metadata.name}`;

describe('generation', () => {
  const template = { metadata: { labels: { app: 'a' } }, spec: SPEC };
  const spec = { selector: { matchLabels: { app: 'a' } }, template };

  it('grows with the annotations of a Deployment, but not of other kinds', async () => {
    await kube.create(Kinds.Deployment, { metadata: ref('a'), spec });
    await kube.create(Kinds.ReplicaSet, { metadata: ref('a'), spec });
    const patch = { type: 'merge', body: { metadata: { annotations: { note: 'x' } } } } as const;
    expect((await kube.patch(Kinds.Deployment, ref('a'), patch)).metadata.generation).toBe(2);
    expect((await kube.patch(Kinds.Deployment, ref('a'), patch)).metadata.generation).toBe(2);
    expect((await kube.patch(Kinds.ReplicaSet, ref('a'), patch)).metadata.generation).toBe(1);
  });

  it('stays when a Deployment is annotated together with its status', async () => {
    await kube.create(Kinds.Deployment, { metadata: ref('a'), spec });
    const body = { metadata: { annotations: { 'deployment.kubernetes.io/revision': '1' } }, status: { replicas: 1 } };
    const options = { subresource: 'status' } as const;
    const { metadata } = await kube.patch(Kinds.Deployment, ref('a'), { type: 'merge', body }, options);
    expect(metadata).toMatchObject({ generation: 1, annotations: body.metadata.annotations });
  });
});

describe('create', () => {
  it('gives identity, defaults and admission', async () => {
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

  it('writes quantities canonically and takes requests from limits', async () => {
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

  it('takes priority from the class', async () => {
    const pod = await newPod('a', {}, { priorityClassName: 'system-node-critical' });
    expect(pod.spec?.priority).toBe(2_000_001_000);
    await expect(newPod('b', {}, { priorityClassName: 'nope' })).rejects.toMatchObject({ reason: 'Forbidden' });
  });

  it('refuses duplicates, unknown kinds and malformed objects in the words that kubectl prints', async () => {
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

  it('keeps nothing of a dry run', async () => {
    await kube.create(Kinds.Pod, { metadata: ref('a'), spec: SPEC }, { dryRun: true });
    await expect(kube.get(Kinds.Pod, ref('a'))).rejects.toMatchObject({ code: 404, message: 'pods "a" not found' });
  });

  it('does not hold on to the object that it was given', async () => {
    const labels: Record<string, string> = { a: '1' };
    await newPod('a', { labels });
    labels['a'] = '2';
    expect((await kube.get(Kinds.Pod, ref('a'))).metadata.labels).toEqual({ a: '1' });
  });
});

describe('update', () => {
  it('checks the version that the writer saw', async () => {
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

  it('is no write when nothing changes', async () => {
    const pod = await newPod('a');
    expect((await kube.replace(Kinds.Pod, pod)).metadata.resourceVersion).toBe(pod.metadata.resourceVersion);
  });

  it('separates status from the rest and counts generations of the rest', async () => {
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

  it('lets a pod change little', async () => {
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

  it('keep no empty maps in their metadata, however they are written', async () => {
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
  ])('are refused with metadata of a wrong type: %j', async (metadata, why) => {
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

  it('do not know strategic merge', async () => {
    await kube.create(Kinds.NodePool, { metadata: { name: 'p' }, spec: { template } as never });
    await expect(kube.patch(Kinds.NodePool, { name: 'p' }, { type: 'strategic', body: {} })).rejects.toMatchObject({
      code: 415,
    });
  });

  it('vanish from the API with their definition, which waits for them', async () => {
    const metadata = { name: 'p', finalizers: ['test/hold'] };
    await kube.create(Kinds.NodePool, { metadata, spec: { template } as never });
    await kube.delete(Kinds.CustomResourceDefinition, { name: 'nodepools.karpenter.sh' });
    expect((await kube.get(Kinds.NodePool, { name: 'p' })).metadata.deletionTimestamp).toBeDefined();
    await kube.patch(Kinds.NodePool, { name: 'p' }, { type: 'merge', body: { metadata: { finalizers: null } } });
    await Promise.resolve();
    await expect(kube.list(Kinds.NodePool)).rejects.toMatchObject({ code: 404 });
  });
});

describe('delete', () => {
  it('gives a scheduled pod its grace, and the kubelet the last word', async () => {
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

  it('removes an unscheduled pod at once', async () => {
    await newPod('a');
    await kube.delete(Kinds.Pod, ref('a'));
    await expect(kube.get(Kinds.Pod, ref('a'))).rejects.toMatchObject({ code: 404 });
  });

  it('waits for finalizers, and takes no new ones meanwhile', async () => {
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

  it('honours preconditions', async () => {
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

  it('in the background: the owner goes, then its dependents', async () => {
    await family();
    await kube.delete(Kinds.ConfigMap, ref('owner'), { propagationPolicy: 'Background' });
    await expect(kube.get(Kinds.ConfigMap, ref('owner'))).rejects.toMatchObject({ code: 404 });
    expect(await exists('child')).toBe(false);
  });

  it('in the foreground: the owner waits', async () => {
    await family();
    await kube.delete(Kinds.ConfigMap, ref('owner'), { propagationPolicy: 'Foreground' });
    expect((await kube.get(Kinds.ConfigMap, ref('owner'))).metadata.finalizers).toEqual(['foregroundDeletion']);
    await kube.patch(Kinds.Pod, ref('child'), { type: 'merge', body: { metadata: { finalizers: null } } });
    await expect(kube.get(Kinds.Pod, ref('child'))).rejects.toMatchObject({ code: 404 });
    await expect(kube.get(Kinds.ConfigMap, ref('owner'))).rejects.toMatchObject({ code: 404 });
  });

  it('orphaning: the dependents stay, without an owner', async () => {
    await family();
    await kube.delete(Kinds.ConfigMap, ref('owner'), { propagationPolicy: 'Orphan' });
    await expect(kube.get(Kinds.ConfigMap, ref('owner'))).rejects.toMatchObject({ code: 404 });
    expect((await kube.get(Kinds.Pod, ref('child'))).metadata.ownerReferences).toBeUndefined();
    expect(await exists('child')).toBe(true);
  });

  it('takes what arrives with an owner that is already gone', async () => {
    await newPod('late', { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'no-such' }] });
    await Promise.resolve();
    expect(await exists('late')).toBe(false);
  });
});

describe('namespaces', () => {
  it('are there from the start, and cannot all be deleted', async () => {
    const names = (await kube.list(Kinds.Namespace)).items.map((one) => one.metadata.name);
    expect(names).toEqual(['default', 'kube-node-lease', 'kube-public', 'kube-system']);
    await expect(kube.delete(Kinds.Namespace, { name: 'kube-system' })).rejects.toMatchObject({ code: 403 });
  });

  it('take their content along, and take nothing in while they go', async () => {
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

describe('pods', () => {
  it('are bound once', async () => {
    await newPod('a');
    await kube.bind(ref('a'), 'n1');
    const bound = await kube.get(Kinds.Pod, ref('a'));
    expect(bound.spec?.nodeName).toBe('n1');
    expect(bound.status?.conditions).toMatchObject([{ type: 'PodScheduled', status: 'True' }]);
    await expect(kube.bind(ref('a'), 'n2')).rejects.toMatchObject({ code: 409 });
  });

  it('are evicted only as far as their budget goes', async () => {
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
});

describe('list', () => {
  it('pages consistently by limit and continue', async () => {
    for (const name of ['a', 'b', 'c']) await newPod(name);
    const first = await kube.list(Kinds.Pod, { namespace: 'default', limit: 2 });
    expect(first.metadata.remainingItemCount).toBe(1);
    await kube.delete(Kinds.Pod, ref('c'));
    const token = first.metadata.continue ?? '';
    const second = await kube.list(Kinds.Pod, { namespace: 'default', limit: 2, continue: token });
    expect(second.items.map((pod) => pod.metadata.name)).toEqual(['c']);
    server.compact();
    await newPod('d');
    await expect(kube.list(Kinds.Pod, { limit: 2, continue: token })).rejects.toMatchObject({ code: 410 });
  });

  it('selects by field', async () => {
    await newPod('a');
    await newPod('b');
    await kube.bind(ref('b'), 'n1');
    const found = await kube.list(Kinds.Pod, { fieldSelector: 'spec.nodeName=n1' });
    expect(found.items.map((pod) => pod.metadata.name)).toEqual(['b']);
  });
});

describe('watch', () => {
  it('shows the deletion of a pod that never had a node, also through a selector', async () => {
    const { metadata } = await newPod('a');
    const { resourceVersion = '' } = metadata;
    const seen = take(kube.watch(Kinds.Pod, { fieldSelector: 'metadata.name=a', resourceVersion }), 2);
    await kube.delete(Kinds.Pod, ref('a'));
    const deletion = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 };
    expect(await seen).toMatchObject([
      { type: 'MODIFIED', object: { metadata: deletion } },
      { type: 'DELETED', object: { metadata: deletion } },
    ]);
  });

  it('starts with what exists, marks its end, and goes on with changes', async () => {
    await newPod('a');
    const events = kube.watch(Kinds.Pod, {
      sendInitialEvents: true,
      resourceVersionMatch: 'NotOlderThan',
      allowBookmarks: true,
    });
    const seen = take(events, 5);
    await newPod('b');
    await kube.delete(Kinds.Pod, ref('a'));
    const got = await seen;
    expect(got.map(brief)).toEqual(['ADDED a', 'BOOKMARK', 'ADDED b', 'MODIFIED a', 'DELETED a']);
    expect(got[1]).toMatchObject({ object: { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } } });
  });

  it('resumes after a version and shows a selector as arrivals and departures', async () => {
    const { metadata } = await kube.list(Kinds.Pod);
    await newPod('a', { labels: { x: '1' } });
    await kube.patch(Kinds.Pod, ref('a'), { type: 'merge', body: { metadata: { labels: { x: '2' } } } });
    await kube.patch(Kinds.Pod, ref('a'), { type: 'merge', body: { metadata: { labels: { x: '1' } } } });
    const options = { resourceVersion: metadata.resourceVersion ?? '', labelSelector: 'x=1' };
    expect((await take(kube.watch(Kinds.Pod, options), 3)).map(brief)).toEqual(['ADDED a', 'DELETED a', 'ADDED a']);
  });

  it('of a forgotten version is 410', async () => {
    await newPod('a');
    server.compact();
    await expect(take(kube.watch(Kinds.Pod, { resourceVersion: '1' }), 1)).rejects.toMatchObject({ code: 410 });
  });

  it('ends when its time is up or when it is aborted', async () => {
    const timed = take(kube.watch(Kinds.Pod, { resourceVersion: '1', timeoutSeconds: 5 }), 1);
    const abort = new AbortController();
    const aborted = take(kube.watch(Kinds.Pod, { resourceVersion: '1', signal: abort.signal }), 1);
    await clock.advance(6000);
    abort.abort();
    expect(await timed).toEqual([]);
    expect(await aborted).toEqual([]);
  });

  it('sends a bookmark each minute when asked to', async () => {
    const { metadata } = await kube.list(Kinds.Pod);
    const events = take(
      kube.watch(Kinds.Pod, { resourceVersion: metadata.resourceVersion ?? '', allowBookmarks: true }),
      1,
    );
    await kube.create(Kinds.ConfigMap, { metadata: ref('c') });
    await clock.advance(60_000);
    const [bookmark] = await events;
    expect(bookmark?.type).toBe('BOOKMARK');
    expect(Number(bookmark?.object.metadata.resourceVersion)).toBeGreaterThan(Number(metadata.resourceVersion));
  });
});

describe('raw', () => {
  it('answers what is no object', async () => {
    expect(await kube.raw('/readyz')).toBe('ok');
    expect(await kube.raw('/version')).toMatchObject({ major: '1', minor: '36' });
    await expect(kube.raw('/nothing')).rejects.toMatchObject({ code: 404 });
  });
});
