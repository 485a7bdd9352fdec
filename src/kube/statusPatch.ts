import { InvariantError } from '../errors/invariantError.ts';
import type { KubeObject, ResourceKind } from '../api/object.ts';
import type { Kube } from './kube.ts';
import { mergePatch, type MergePatch } from './mergePatch.ts';

export interface ObjectPatchOptions {
  /**
   * Whether the write fails with Conflict when the object changed since `before` was read. Default: yes if a list is
   * written, because a merge patch replaces lists as a whole and would remove what others added.
   */
  readonly lock?: boolean;
  readonly signal?: AbortSignal;
  readonly isUrgent?: boolean;
}

/** Metadata fields that writers may set; the server sets the others. */
const OWN_METADATA = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const;

/**
 * Writes the differences in metadata and spec between `before` (as read) and `after` (as wanted). Returns the server's
 * current object; without differences no request is made and `before` is returned.
 */
export async function patchObject<T extends KubeObject>(
  kube: Kube,
  kind: ResourceKind<T>,
  before: T,
  after: T,
  options: ObjectPatchOptions = {},
): Promise<T> {
  return send(kube, kind, before, mergePatch(writable(before), writable(after)), options);
}

/** The same for `status`, through its subresource. */
export async function patchStatus<T extends KubeObject & { status?: object }>(
  kube: Kube,
  kind: ResourceKind<T>,
  before: T,
  after: T,
  options: ObjectPatchOptions = {},
): Promise<T> {
  return send(kube, kind, before, mergePatch({ status: before.status }, { status: after.status }), options, 'status');
}

async function send<T extends KubeObject>(
  kube: Kube,
  kind: ResourceKind<T>,
  before: T,
  patch: MergePatch | undefined,
  { lock = containsList(patch), signal, isUrgent }: ObjectPatchOptions,
  subresource?: string,
): Promise<T> {
  if (patch === undefined) return before;
  const { name, namespace, resourceVersion } = before.metadata;
  if (lock && resourceVersion === undefined) {
    throw new InvariantError(`${name}: cannot lock the patch of a ${kind.kind} that was not read from the server`);
  }
  const body = lock ? { ...patch, metadata: { ...(patch['metadata'] as object | undefined), resourceVersion } } : patch;
  return kube.patch(
    kind,
    { name, namespace },
    { type: 'merge', body },
    { ...(subresource && { subresource }), ...(signal && { signal }), ...(isUrgent && { isUrgent }) },
  );
}

/** Everything that a patch of the object itself may change. */
function writable(object: KubeObject): Record<string, unknown> {
  const { apiVersion: _apiVersion, kind: _kind, metadata, ...rest } = object;
  const { status: _status, ...fields } = rest as Record<string, unknown>;
  return { ...fields, metadata: Object.fromEntries(OWN_METADATA.map((key) => [key, metadata[key]])) };
}

function containsList(value: unknown): boolean {
  if (Array.isArray(value)) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(containsList);
}
