import { describe, expect, it } from 'vitest';
import { renderCrds } from '../../../api/crds.ts';
import { Kinds } from '../../../api/kinds.ts';
import { SeededRandom } from '../../../clock/seededRandom.ts';
import { VirtualClock } from '../../../clock/virtualClock.ts';
import type { Kube } from '../../../kube/kube.ts';
import { LocalApiServer } from '../localApiServer.ts';

const START = Date.UTC(2026, 0, 1);

function newKube(clock = new VirtualClock(START)): Kube {
  return new LocalApiServer({ clock, random: new SeededRandom(1) }).kube;
}

function configMap(data: Record<string, string>): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', namespace: 'default' }, data };
}

const REF = { name: 'c', namespace: 'default' };

async function applyMap(
  kube: Kube,
  data: Record<string, string>,
  fieldManager: string,
  force = false,
): Promise<unknown> {
  return await kube.patch(Kinds.ConfigMap, REF, { type: 'apply', body: configMap(data) }, { fieldManager, force });
}

function deployment(containers: object[], spec: object = {}): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd', namespace: 'default' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers } },
      ...spec,
    },
  };
}

describe('server-side apply', () => {
  it('creates an object, and owns exactly the given fields', async () => {
    const kube = newKube();
    await applyMap(kube, { a: '1' }, 'one');
    const { data, metadata } = await kube.get(Kinds.ConfigMap, REF);
    expect(data).toEqual({ a: '1' });
    expect(metadata.managedFields).toEqual([
      {
        manager: 'one',
        operation: 'Apply',
        apiVersion: 'v1',
        time: '2026-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { 'f:a': {} } },
      },
    ]);
  });

  it('removes fields that the applier no longer sets, unless they have another owner', async () => {
    const kube = newKube();
    await applyMap(kube, { a: '1', b: '1', c: '1' }, 'one');
    await applyMap(kube, { b: '1' }, 'two');
    await applyMap(kube, { c: '1' }, 'one');
    expect((await kube.get(Kinds.ConfigMap, REF)).data).toEqual({ b: '1', c: '1' });
  });

  it('conflicts with other owners of changed fields, or takes the fields over with force', async () => {
    const kube = newKube();
    await applyMap(kube, { a: '1' }, 'one');
    await expect(applyMap(kube, { a: '2' }, 'two')).rejects.toMatchObject({
      code: 409,
      reason: 'Conflict',
      message: 'Apply failed with 1 conflict: conflict with "one": .data.a',
      status: { details: { causes: [{ reason: 'FieldManagerConflict', field: '.data.a' }] } },
    });
    await applyMap(kube, { a: '2' }, 'two', true);
    const { data, metadata } = await kube.get(Kinds.ConfigMap, REF);
    expect(data).toEqual({ a: '2' });
    expect(metadata.managedFields?.map((entry) => entry.manager)).toEqual(['two']);
  });

  it('shares a field to which two appliers set the same value', async () => {
    const kube = newKube();
    await applyMap(kube, { a: '1' }, 'one');
    await applyMap(kube, { a: '1' }, 'two');
    const managers = (await kube.get(Kinds.ConfigMap, REF)).metadata.managedFields?.map((entry) => entry.manager);
    // The second apply changed nothing, so its entry has no time, and entries without time come first.
    expect(managers).toEqual(['two', 'one']);
  });

  it('conflicts with updates too', async () => {
    const kube = newKube();
    await applyMap(kube, { a: '1' }, 'one');
    await kube.patch(Kinds.ConfigMap, REF, { type: 'merge', body: { data: { a: '5' } } }, { fieldManager: 'editor' });
    await expect(applyMap(kube, { a: '1' }, 'one')).rejects.toMatchObject({
      message: 'Apply failed with 1 conflict: conflict with "editor" using v1: .data.a',
    });
  });

  it('keeps the resource version when it changes nothing', async () => {
    const kube = newKube();
    await applyMap(kube, { a: '1' }, 'one');
    const before = (await kube.get(Kinds.ConfigMap, REF)).metadata.resourceVersion;
    await applyMap(kube, { a: '1' }, 'one');
    expect((await kube.get(Kinds.ConfigMap, REF)).metadata.resourceVersion).toBe(before);
  });

  it('merges lists by their keys, including the default protocol', async () => {
    const kube = newKube();
    const ref = { name: 'd', namespace: 'default' };
    const one = deployment([{ name: 'm', image: 'x', ports: [{ containerPort: 80 }] }]);
    const two = deployment([
      { name: 's', image: 'y' },
      { name: 'm', ports: [{ containerPort: 80, name: 'web' }] },
    ]);
    await kube.patch(Kinds.Deployment, ref, { type: 'apply', body: one }, { fieldManager: 'one' });
    await kube.patch(Kinds.Deployment, ref, { type: 'apply', body: two }, { fieldManager: 'two' });
    const containers = (await kube.get(Kinds.Deployment, ref)).spec?.template.spec?.containers;
    expect(containers).toMatchObject([
      { name: 's', image: 'y' },
      { name: 'm', image: 'x', ports: [{ containerPort: 80, name: 'web', protocol: 'TCP' }] },
    ]);
    const single = deployment([{ name: 'm', ports: [{ containerPort: 80, name: 'web' }] }]);
    await kube.patch(Kinds.Deployment, ref, { type: 'apply', body: single }, { fieldManager: 'two' });
    const left = (await kube.get(Kinds.Deployment, ref)).spec?.template.spec?.containers.map((one) => one.name);
    expect(left).toEqual(['m']);
  });

  it('removes defaults with the field that they were set in', async () => {
    const kube = newKube();
    const ref = { name: 'd', namespace: 'default' };
    const livenessProbe = { httpGet: { port: 80 } };
    const probed = deployment([{ name: 'm', image: 'x', livenessProbe }]);
    await kube.patch(Kinds.Deployment, ref, { type: 'apply', body: probed }, { fieldManager: 'one' });
    const plain = deployment([{ name: 'm', image: 'x' }]);
    const stored = await kube.patch(Kinds.Deployment, ref, { type: 'apply', body: plain }, { fieldManager: 'one' });
    expect(stored.spec?.template.spec?.containers[0]).not.toHaveProperty('livenessProbe');
    expect(stored.spec?.template.spec?.containers[0]).toHaveProperty('imagePullPolicy');
  });

  it('applies status and the other fields through separate endpoints', async () => {
    const kube = newKube();
    for (const crd of renderCrds()) await kube.create(Kinds.CustomResourceDefinition, crd);
    const pool = {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: { name: 'p' },
      spec: {
        template: {
          spec: {
            nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'default' },
            requirements: [{ key: 'kubernetes.io/os', operator: 'In', values: ['linux'] }],
          },
        },
      },
      status: { nodes: 7 },
    };
    const options = { fieldManager: 'one' };
    await kube.patch(Kinds.NodePool, { name: 'p' }, { type: 'apply', body: pool }, options);
    expect(await kube.get(Kinds.NodePool, { name: 'p' })).not.toHaveProperty('status.nodes', 7);
    await kube.patch(
      Kinds.NodePool,
      { name: 'p' },
      { type: 'apply', body: pool },
      { ...options, subresource: 'status' },
    );
    const stored = await kube.get(Kinds.NodePool, { name: 'p' });
    expect(stored).toHaveProperty('status.nodes', 7);
    expect(stored.metadata.generation).toBe(1);
    expect(stored.metadata.managedFields?.map((entry) => entry.subresource)).toEqual([undefined, 'status']);
  });

  it('orders managers by the time of their last change of ownership, then by name', async () => {
    const clock = new VirtualClock(START);
    const kube = newKube(clock);
    await applyMap(kube, { b: '1' }, 'bob');
    await applyMap(kube, { a: '1' }, 'anna');
    const managers = async (): Promise<unknown> =>
      (await kube.get(Kinds.ConfigMap, REF)).metadata.managedFields?.map((entry) => entry.manager);
    expect(await managers()).toEqual(['anna', 'bob']);
    await clock.advance(1000);
    await applyMap(kube, { a: '1', c: '1' }, 'anna');
    expect(await managers()).toEqual(['bob', 'anna']);
  });

  it('validates a new object', async () => {
    const kube = newKube();
    const incomplete = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd', namespace: 'default' },
      spec: {},
    };
    await expect(
      kube.patch(
        Kinds.Deployment,
        { name: 'd', namespace: 'default' },
        { type: 'apply', body: incomplete },
        { fieldManager: 'one' },
      ),
    ).rejects.toMatchObject({ code: 422, reason: 'Invalid' });
  });
});
