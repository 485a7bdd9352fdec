/**
 * What an informer keeps of an object. On an update, parts equal to the previous copy are shared with it, so that an
 * unchanged `spec` is the identical object. The result is for reading only: a PUT would erase the dropped fields. Patch
 * instead.
 */
import type { KubeObject, ObjectMeta, ResourceKind } from '../api/object.ts';
import { Kinds, type Node, type Pod } from '../api/kinds.ts';
import { shareWith } from './sharing.ts';
import { PodTrim } from './trimPod.ts';

/** Must not modify its arguments. */
export type Transform<T> = (object: T, previous: T | undefined) => T;

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Keeps everything. */
export const keepAll = <T>(object: T): T => object;

/** Drops `managedFields` and kubectl's copy of the manifest: often half of an object. */
export function dropBookkeeping<T extends KubeObject>(object: T, previous: T | undefined): T {
  return shareWith(previous, { ...object, metadata: trimMetadata(object.metadata) });
}

/** The trim for a kind; a new one per informer, because some have state. */
export function trimFor<T extends KubeObject>(kind: ResourceKind<T>): Transform<T> {
  if (kind.group === Kinds.Pod.group && kind.plural === Kinds.Pod.plural) {
    const trim = new PodTrim();
    const transform: Transform<Pod> = (pod, previous) => trim.apply(pod, previous);
    return transform as unknown as Transform<T>;
  }
  if (kind.group === Kinds.Node.group && kind.plural === Kinds.Node.plural) {
    return trimNode as unknown as Transform<T>;
  }
  return dropBookkeeping;
}

/** A node lists up to 50 images with all their names, which scheduling does not use here. */
function trimNode(node: Node, previous: Node | undefined): Node {
  if (node.status?.images === undefined) return dropBookkeeping(node, previous);
  const { images: _images, ...status } = node.status;
  return dropBookkeeping({ ...node, status }, previous);
}

function trimMetadata(metadata: ObjectMeta): ObjectMeta {
  const { managedFields: _managedFields, ...rest } = metadata;
  if (rest.annotations?.[LAST_APPLIED] === undefined) return rest;
  const { [LAST_APPLIED]: _lastApplied, ...annotations } = rest.annotations;
  return { ...rest, annotations };
}
