import { describe, expect, it } from 'vitest';
import { Kinds, type Node } from '../api/kinds.ts';
import type { Kube, ObjectRef, Patch, PatchOptions } from './kube.ts';
import { MemoryLeases } from '../../test/fixtures/kube/memoryLeases.ts';
import { patchObject, patchStatus } from './statusPatch.ts';

/** A server that records requests and answers with a new version. */
function recorder() {
  const requests: { ref: ObjectRef; patch: Patch; options: PatchOptions | undefined }[] = [];
  const kube = {
    ...new MemoryLeases().client(),
    patch: (_kind: unknown, ref: ObjectRef, patch: Patch, options?: PatchOptions) => {
      requests.push({ ref, patch, options });
      return Promise.resolve({ metadata: { name: ref.name, resourceVersion: '8' } });
    },
  } as unknown as Kube;
  return { kube, requests };
}

const before: Node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n', resourceVersion: '7', generation: 1, labels: { a: '1', b: '2' }, finalizers: ['f'] },
  spec: { unschedulable: true },
  status: { phase: 'Running' },
};

describe('patchObject', () => {
  it('sends what differs in metadata and spec, and nothing that is the server’s or the status’s', async () => {
    const { kube, requests } = recorder();
    const after: Node = {
      ...before,
      metadata: { ...before.metadata, resourceVersion: '9', generation: 4, labels: { a: '1', c: '3' } },
      spec: {},
      status: { phase: 'Terminated' },
    };
    const updated = await patchObject(kube, Kinds.Node, before, after);
    expect(updated.metadata.resourceVersion).toBe('8');
    expect(requests).toEqual([
      {
        ref: { name: 'n' },
        patch: {
          type: 'merge',
          body: { metadata: { labels: { b: null, c: '3' } }, spec: { unschedulable: null } },
        },
        options: {},
      },
    ]);
  });

  it('makes no request when nothing differs, and gives back what was read', async () => {
    const { kube, requests } = recorder();
    expect(await patchObject(kube, Kinds.Node, before, structuredClone(before))).toBe(before);
    expect(requests).toEqual([]);
  });

  it('locks by itself when it writes a list, and otherwise when asked', async () => {
    const { kube, requests } = recorder();
    const withFinalizer = { ...before, metadata: { ...before.metadata, finalizers: ['f', 'g'] } };
    await patchObject(kube, Kinds.Node, before, withFinalizer);
    await patchObject(kube, Kinds.Node, before, withFinalizer, { lock: false });
    await patchObject(kube, Kinds.Node, before, { ...before, spec: {} }, { lock: true });
    expect(requests.map(({ patch }) => patch.body)).toEqual([
      { metadata: { finalizers: ['f', 'g'], resourceVersion: '7' } },
      { metadata: { finalizers: ['f', 'g'] } },
      { spec: { unschedulable: null }, metadata: { resourceVersion: '7' } },
    ]);
  });

  it('refuses to lock on an object without a version', async () => {
    const { kube } = recorder();
    const unread: Node = { metadata: { name: 'n' } };
    const after: Node = { metadata: { name: 'n', finalizers: ['f'] } };
    await expect(patchObject(kube, Kinds.Node, unread, after)).rejects.toThrow('n: cannot lock');
  });
});

describe('patchStatus', () => {
  it('sends only the status, to its subresource', async () => {
    const { kube, requests } = recorder();
    const after: Node = { metadata: { ...before.metadata, labels: {} }, status: { phase: 'Terminated' } };
    await patchStatus(kube, Kinds.Node, before, after);
    expect(requests[0]).toMatchObject({
      patch: { body: { status: { phase: 'Terminated' } } },
      options: { subresource: 'status' },
    });
    await patchStatus(kube, Kinds.Node, before, { ...before, metadata: { name: 'other' } });
    expect(requests).toHaveLength(1);
  });
});
