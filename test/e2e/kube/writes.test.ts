import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Kinds } from '../../../src/api/kinds.ts';
import type { ConfigMap, Deployment, Node } from '../../../src/api/kinds.ts';
import { isAlreadyExists, isConflict, isInvalid, isNotFound } from '../../../src/kube/errors.ts';
import type { KubeError } from '../../../src/kube/errors.ts';
import type { Kube } from '../../../src/kube/kube.ts';
import { patchObject, patchStatus } from '../../../src/kube/statusPatch.ts';
import { startControlPlane } from '../../controlplane/controlPlane.ts';
import type { ControlPlane } from '../../controlplane/controlPlane.ts';
import { connections } from './connect.ts';
import { failure } from './failure.ts';

const namespace = 'default';

describe('writing to a real API server', () => {
  const connect = connections();
  let plane: ControlPlane;
  let kube: Kube;

  beforeAll(async () => {
    plane = await startControlPlane();
    kube = await connect(plane.adminKubeconfig);
  });
  afterAll(() => plane?.stop());

  const configMap = (name: string, data: Record<string, string>): Promise<ConfigMap> =>
    kube.create(Kinds.ConfigMap, { metadata: { name, namespace }, data });

  describe('create, replace, delete', () => {
    it('fills in what the server decides', async () => {
      const created = await configMap('created', { a: '1' });
      expect(created).toMatchObject({ metadata: { name: 'created', namespace }, data: { a: '1' } });
      expect(created.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
      expect(await kube.get(Kinds.ConfigMap, { name: 'created', namespace })).toEqual(created);
    });

    it('invents names from generateName', async () => {
      const created = await kube.create(Kinds.ConfigMap, { metadata: { generateName: 'made-', namespace } });
      expect(created.metadata.name).toMatch(/^made-[a-z0-9]{5}$/);
    });

    it('refuses a second object of the same name', async () => {
      await configMap('twice', {});
      const error = await failure(configMap('twice', {}));
      expect(isAlreadyExists(error)).toBe(true);
      expect(error).toMatchObject({ code: 409, status: { details: { name: 'twice' } } });
    });

    it('names every invalid field', async () => {
      const draft = { metadata: { name: 'Not_A_Name', namespace, labels: { 'bad label': 'x' } } };
      const error = await failure(kube.create(Kinds.ConfigMap, draft));
      expect(isInvalid(error)).toBe(true);
      const fields = (error as KubeError).status.details?.causes?.map((cause) => cause.field);
      expect(fields).toEqual(expect.arrayContaining(['metadata.name', 'metadata.labels']));
    });

    it('lets exactly one of two writers win, and tells the other of the conflict', async () => {
      const read = await configMap('contested', { writer: 'nobody' });
      await kube.replace(Kinds.ConfigMap, { ...read, data: { writer: 'first' } });
      const error = await failure(kube.replace(Kinds.ConfigMap, { ...read, data: { writer: 'second' } }));
      expect(isConflict(error)).toBe(true);
      expect((await kube.get(Kinds.ConfigMap, { name: 'contested', namespace })).data).toEqual({ writer: 'first' });
    });

    it('loses no increment when ten writers retry on conflict', async () => {
      await configMap('counter', { value: '0' });
      const increment = async (): Promise<void> => {
        for (let attempt = 0; attempt < 200; attempt += 1) {
          const read = await kube.get(Kinds.ConfigMap, { name: 'counter', namespace });
          const data = { value: String(Number(read.data?.['value']) + 1) };
          try {
            await kube.replace(Kinds.ConfigMap, { ...read, data });
            return;
          } catch (error) {
            if (!isConflict(error)) throw error;
          }
        }
        throw new Error('200 conflicts in a row');
      };
      await Promise.all(Array.from({ length: 10 }, increment));
      expect((await kube.get(Kinds.ConfigMap, { name: 'counter', namespace })).data).toEqual({ value: '10' });
    });

    it('deletes only the object that was meant', async () => {
      const { metadata } = await configMap('precious', {});
      const stranger = { uid: '00000000-0000-4000-8000-000000000000' };
      const ref = { name: 'precious', namespace };
      expect(isConflict(await failure(kube.delete(Kinds.ConfigMap, ref, { preconditions: stranger })))).toBe(true);
      await kube.delete(Kinds.ConfigMap, ref, { preconditions: { uid: metadata.uid ?? '' } });
      expect(isNotFound(await failure(kube.get(Kinds.ConfigMap, ref)))).toBe(true);
      expect(isNotFound(await failure(kube.delete(Kinds.ConfigMap, ref)))).toBe(true);
    });

    it('deletes a selection', async () => {
      for (const name of ['sel-1', 'sel-2', 'sel-3']) {
        const labels = { keep: name === 'sel-2' ? 'yes' : 'no' };
        await kube.create(Kinds.ConfigMap, { metadata: { name, namespace, labels } });
      }
      await kube.deleteCollection(Kinds.ConfigMap, { namespace, labelSelector: 'keep=no' });
      const left = await kube.list(Kinds.ConfigMap, { namespace, labelSelector: 'keep' });
      expect(left.items.map((item) => item.metadata.name)).toEqual(['sel-2']);
    });

    it('keeps an object with finalizers until they are gone', async () => {
      const ref = { name: 'held', namespace };
      await kube.create(Kinds.ConfigMap, { metadata: { ...ref, finalizers: ['nodewright.test/hold'] } });
      await kube.delete(Kinds.ConfigMap, ref);
      expect((await kube.get(Kinds.ConfigMap, ref)).metadata.deletionTimestamp).toMatch(/^\d{4}-/);
      await kube.patch(Kinds.ConfigMap, ref, { type: 'merge', body: { metadata: { finalizers: null } } });
      expect(isNotFound(await failure(kube.get(Kinds.ConfigMap, ref)))).toBe(true);
    });
  });

  describe('dry run', () => {
    it('answers as if, and changes nothing', async () => {
      const ref = { name: 'dry', namespace };
      const options = { dryRun: true };
      const created = await kube.create(Kinds.ConfigMap, { metadata: ref, data: { a: '1' } }, options);
      expect(created.metadata.uid).toBeDefined();
      expect(isNotFound(await failure(kube.get(Kinds.ConfigMap, ref)))).toBe(true);

      const real = await kube.create(Kinds.ConfigMap, { metadata: ref, data: { a: '1' } });
      const patch = { type: 'merge', body: { data: { a: '2' } } } as const;
      expect((await kube.patch(Kinds.ConfigMap, ref, patch, options)).data).toEqual({ a: '2' });
      await kube.replace(Kinds.ConfigMap, { ...real, data: { a: '3' } }, options);
      await kube.delete(Kinds.ConfigMap, ref, options);
      await kube.deleteCollection(Kinds.ConfigMap, { namespace, fieldSelector: 'metadata.name=dry', ...options });
      expect(await kube.get(Kinds.ConfigMap, ref)).toEqual(real);
    });
  });

  describe('patches', () => {
    const ref = { name: 'patched', namespace };
    const container = (name: string, image: string): { name: string; image: string } => ({ name, image });
    const reset = async (): Promise<void> => {
      await kube.delete(Kinds.Deployment, ref).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
      await kube.create(Kinds.Deployment, {
        metadata: ref,
        spec: {
          replicas: 0,
          selector: { matchLabels: { app: 'patched' } },
          template: {
            metadata: { labels: { app: 'patched' } },
            spec: { containers: [container('one', 'image:1'), container('two', 'image:1')] },
          },
        },
      });
    };
    const images = (deployment: Deployment): Record<string, string | undefined> =>
      Object.fromEntries(deployment.spec?.template.spec?.containers.map(({ name, image }) => [name, image]) ?? []);
    const containers = (list: object[]): object => ({ spec: { template: { spec: { containers: list } } } });

    it('merge: replaces whole lists, and null removes', async () => {
      await reset();
      await kube.patch(Kinds.Deployment, ref, { type: 'merge', body: { metadata: { labels: { x: '1', y: '2' } } } });
      const removed = { metadata: { labels: { x: null } }, ...containers([container('only', 'image:2')]) };
      const patched = await kube.patch(Kinds.Deployment, ref, { type: 'merge', body: removed });
      expect(patched.metadata.labels).toEqual({ y: '2' });
      expect(images(patched)).toEqual({ only: 'image:2' });
    });

    it('strategic: merges lists by their key', async () => {
      await reset();
      const body = containers([container('two', 'image:2')]);
      const patched = await kube.patch(Kinds.Deployment, ref, { type: 'strategic', body });
      expect(images(patched)).toEqual({ one: 'image:1', two: 'image:2' });
    });

    it('json: applies operations in order, and refuses when a test fails', async () => {
      await reset();
      const path = '/spec/template/spec/containers/0/image';
      const patched = await kube.patch(Kinds.Deployment, ref, {
        type: 'json',
        body: [
          { op: 'test', path, value: 'image:1' },
          { op: 'replace', path, value: 'image:3' },
          { op: 'remove', path: '/spec/template/spec/containers/1' },
        ],
      });
      expect(images(patched)).toEqual({ one: 'image:3' });
      const refused = kube.patch(Kinds.Deployment, ref, { type: 'json', body: [{ op: 'test', path, value: 'other' }] });
      expect(await failure(refused)).toMatchObject({ code: 422 });
    });

    it('refuses a patch on an old resourceVersion', async () => {
      await reset();
      const { metadata } = await kube.get(Kinds.Deployment, ref);
      const body = (value: string): object => ({
        metadata: { resourceVersion: metadata.resourceVersion, annotations: { value } },
      });
      await kube.patch(Kinds.Deployment, ref, { type: 'merge', body: body('first') });
      const second = kube.patch(Kinds.Deployment, ref, { type: 'merge', body: body('second') });
      expect(isConflict(await failure(second))).toBe(true);
    });
  });

  describe('server-side apply', () => {
    const ref = { name: 'applied', namespace };
    const body = (data: Record<string, string>): object => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: ref,
      data,
    });
    const apply = (fieldManager: string, data: Record<string, string>, force = false): Promise<ConfigMap> =>
      kube.patch(Kinds.ConfigMap, ref, { type: 'apply', body: body(data) }, { fieldManager, force });

    it('creates, shares the object by field, names the owner in a conflict, and takes over by force', async () => {
      expect((await apply('anna', { a: '1', shared: 'anna' })).data).toEqual({ a: '1', shared: 'anna' });
      expect((await apply('bert', { b: '1' })).data).toEqual({ a: '1', b: '1', shared: 'anna' });

      const error = await failure(apply('bert', { b: '1', shared: 'bert' }));
      expect(isConflict(error)).toBe(true);
      expect((error as KubeError).status.details?.causes).toEqual([
        { reason: 'FieldManagerConflict', message: expect.stringContaining('"anna"') as string, field: '.data.shared' },
      ]);

      const forced = await apply('bert', { b: '1', shared: 'bert' }, true);
      expect(forced.data).toEqual({ a: '1', b: '1', shared: 'bert' });
      const owners = forced.metadata.managedFields?.map((entry) => [entry.manager, entry.operation]);
      expect(owners).toEqual(
        expect.arrayContaining([
          ['anna', 'Apply'],
          ['bert', 'Apply'],
        ]),
      );
      // What an owner no longer applies goes away, unless another manager owns it too.
      expect((await apply('anna', {})).data).toEqual({ b: '1', shared: 'bert' });
    });
  });

  describe('nodes', () => {
    const ref = { name: 'node-1' };

    it('separates status from the rest', async () => {
      await kube.create(Kinds.Node, { metadata: ref });
      const capacity = { cpu: '4', memory: '8Gi', pods: '30' };
      const status = {
        type: 'merge',
        body: { status: { capacity }, metadata: { labels: { ignored: 'yes' } } },
      } as const;
      await kube.patch(Kinds.Node, ref, status);
      expect((await kube.get(Kinds.Node, ref)).status?.capacity).toBeUndefined();

      const patched: Node = await kube.patch(Kinds.Node, ref, status, { subresource: 'status' });
      expect(patched.status?.capacity).toEqual(capacity);
      const read = await kube.get(Kinds.Node, ref, { subresource: 'status' });
      expect(read.status?.capacity).toEqual(capacity);
      const replaced = { ...read, status: { ...read.status, phase: 'Running' } };
      await kube.replace(Kinds.Node, replaced, { subresource: 'status' });
      expect((await kube.get(Kinds.Node, ref)).status?.phase).toBe('Running');
    });

    it('writes only what changed, and locks where a list could undo another writer', async () => {
      const before = await kube.create(Kinds.Node, { metadata: { name: 'node-2' } });
      expect(await patchStatus(kube, Kinds.Node, before, structuredClone(before))).toBe(before);

      const labelled = { ...before, metadata: { ...before.metadata, labels: { mine: 'yes' } } };
      const condition = (type: string) => ({ type, status: 'True' as const, reason: 'Test', message: '' });
      const conditioned = { ...before, status: { ...before.status, conditions: [condition('Mine')] } };
      await patchObject(kube, Kinds.Node, before, labelled);
      expect(isConflict(await failure(patchStatus(kube, Kinds.Node, before, conditioned)))).toBe(true);

      const now = await kube.get(Kinds.Node, { name: 'node-2' });
      const status = { ...now.status, conditions: [condition('Mine')] };
      const patched = await patchStatus(kube, Kinds.Node, now, { ...now, status });
      expect(patched.metadata.labels).toEqual({ mine: 'yes' });
      expect(patched.status?.conditions?.map(({ type }) => type)).toEqual(['Mine']);
    });
  });

  it('answers other paths as JSON or text', async () => {
    expect(await kube.raw('/version')).toMatchObject({ major: '1' });
    expect(await kube.raw('/readyz')).toBe('ok');
    expect(await failure(kube.raw('/nothing-here'))).toMatchObject({ code: 404 });
  });
});
