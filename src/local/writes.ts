/** Writes of the local control plane. They tolerate concurrent writers: an object may already exist or be gone. */
import { Kinds, type Pod } from '../api/kinds.ts';
import { apiVersionOf, type KubeObject, type OwnerReference, type ResourceKind } from '../api/object.ts';
import { ignoreNotFound, isAlreadyExists, isConflict } from '../kube/errors.ts';
import type { Draft, Kube } from '../kube/kube.ts';
import { patchStatus, type ObjectPatchOptions } from '../kube/statusPatch.ts';
import { timestamp } from '../units/timestamp.ts';

interface Ref {
  readonly name: string;
  readonly namespace: string | undefined;
}

export const refTo = ({ metadata: { name, namespace } }: KubeObject): Ref => ({ name, namespace });

/** The namespace to write into a draft; nothing for cluster-scoped objects. */
export const inNamespaceOf = ({ metadata }: KubeObject): { readonly namespace?: string } =>
  metadata.namespace === undefined ? {} : { namespace: metadata.namespace };

export const ownerReference = (kind: ResourceKind<KubeObject>, { metadata }: KubeObject): OwnerReference => ({
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
  name: metadata.name,
  uid: metadata.uid ?? '',
  controller: true,
  blockOwnerDeletion: true,
});

/** Creates an object; returns undefined if it already exists. */
export async function createIfAbsent<T extends KubeObject>(
  kube: Kube,
  kind: ResourceKind<T>,
  draft: Draft<T>,
): Promise<T | undefined> {
  try {
    return await kube.create(kind, draft);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return undefined;
  }
}

/** Merges `body` into the object; returns undefined if the object is gone. */
export function merge<T extends KubeObject>(
  kube: Kube,
  kind: ResourceKind<T>,
  object: KubeObject,
  body: object,
  subresource?: 'status',
): Promise<T | undefined> {
  const options = subresource === undefined ? {} : { subresource };
  return ignoreNotFound(kube.patch(kind, refTo(object), { type: 'merge', body }, options));
}

/** Status fields that the server keeps when they are zero. */
const SHOWN_ZEROS = new Set(['terminatingReplicas', 'ready', 'terminating', 'collisionCount']);

/** Writes the changed fields of the status. Other absent fields that are zero are left out, as the server drops them. */
export function writeStatus<T extends KubeObject & { status?: object }>(
  kube: Kube,
  kind: ResourceKind<T>,
  object: T,
  status: NonNullable<T['status']>,
  options?: ObjectPatchOptions,
): Promise<T> {
  const known = object.status as Readonly<Record<string, unknown>> | undefined;
  const counted = Object.entries(status).filter(
    ([field, value]) => value !== 0 || known?.[field] !== undefined || SHOWN_ZEROS.has(field),
  );
  return patchStatus(kube, kind, object, { ...object, status: Object.fromEntries(counted) }, options);
}

/** Replaces the finalizers, unless the object has changed. */
export async function setFinalizers(
  kube: Kube,
  kind: ResourceKind<KubeObject>,
  object: KubeObject,
  finalizers: readonly string[],
): Promise<void> {
  const { uid, resourceVersion } = object.metadata;
  await merge(kube, kind, object, { metadata: { uid, resourceVersion, finalizers } });
}

export async function remove(kube: Kube, kind: ResourceKind<KubeObject>, object: KubeObject): Promise<void> {
  await ignoreNotFound(kube.delete(kind, refTo(object)));
}

/** Patches the status strategically, so that conditions merge by type. */
export async function patchPodStatus(kube: Kube, pod: Pod, status: object): Promise<void> {
  const body = { metadata: { uid: pod.metadata.uid }, status };
  await ignoreNotFound(kube.patch(Kinds.Pod, refTo(pod), { type: 'strategic', body }, { subresource: 'status' }));
}

/** Deletes this pod, but not a newer one of the same name. */
export async function deletePod(kube: Kube, pod: Pod, gracePeriodSeconds?: number): Promise<void> {
  const { uid } = pod.metadata;
  const options = {
    preconditions: uid === undefined ? {} : { uid },
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
  };
  await unlessReplaced(ignoreNotFound(kube.delete(Kinds.Pod, refTo(pod), options)));
}

/** Ignores a conflict about a UID, which means that another object has the name now. */
export async function unlessReplaced(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!isConflict(error)) throw error;
  }
}

/** Returns the condition of a pod that is evicted or deleted by a controller. */
export const disruptionTarget = (reason: string, message: string, now: number): object => ({
  type: 'DisruptionTarget',
  status: 'True',
  reason,
  message,
  lastTransitionTime: timestamp(now),
});

interface KnownCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
}

/** Returns the time of a condition's last change of status: `now`, unless the status is the known one. */
export function transitionTime(
  known: readonly KnownCondition[] | undefined,
  type: string,
  status: string,
  now: string,
): string {
  const before = known?.find((condition) => condition.type === type);
  return (before?.status === status && before.lastTransitionTime) || now;
}
