/** Objects after patches, including the effects of the cluster's own controllers. */
import { Kinds, type Pod, type PodDisruptionBudget } from '../api/kinds.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import { Annotations } from '../api/labels.ts';
import { apiVersionOf, type KubeObject, type ResourceKind } from '../api/object.ts';
import { NODE_POOL_HASH_VERSION, nodePoolHash } from '../api/nodePoolHash.ts';
import { mergedWith } from '../kube/mergedWith.ts';
import type { Patch } from '../ledger/explanation.ts';
import { matchesLabelSelector } from '../pods/labelSelector.ts';
import { isStarting } from '../pods/podPredicates.ts';
import { timestamp } from '../units/timestamp.ts';
import { kindKey, objectsOf, type ClusterObjects } from './clusterObjects.ts';

export interface PatchedObjects {
  readonly objects: ClusterObjects;
  readonly changedPools: ReadonlySet<string>;
}

/** Patches of missing objects have no effect. */
export function applyPatches(objects: ClusterObjects, patches: readonly Patch[]): PatchedObjects {
  const kinds = new Map(objects.kinds);
  const changedPools = new Set<string>();
  for (const { target, type, patch } of patches) {
    const kind = kindOf(target);
    const list = kind && kinds.get(kindKey(kind));
    if (kind === undefined || list === undefined) continue;
    if (type === 'create') {
      kinds.set(kindKey(kind), [...list, created(patch as unknown as KubeObject, objects.time)]);
      continue;
    }
    const at = list.findIndex(
      ({ metadata }) => metadata.name === target.name && (metadata.namespace ?? '') === (target.namespace ?? ''),
    );
    const before = list[at];
    if (before === undefined) continue;
    if (type === 'delete') {
      kinds.set(kindKey(kind), list.toSpliced(at, 1));
      continue;
    }
    const after = consequences(kind, before, mergedWith(before, patch) as KubeObject, { ...objects, kinds });
    kinds.set(kindKey(kind), list.with(at, after));
    if (kind === Kinds.NodePool) changedPools.add(target.name);
  }
  return { objects: { ...objects, kinds }, changedPools };
}

export function kindOf(target: { readonly apiVersion: string; readonly kind: string }) {
  const all: readonly ResourceKind<KubeObject>[] = Object.values(Kinds);
  return all.find((each) => each.kind === target.kind && apiVersionOf(each) === target.apiVersion);
}

/** With the fields that the API server sets on a new object. */
function created(object: KubeObject, time: number): KubeObject {
  const { namespace = '', name } = object.metadata;
  return {
    ...object,
    metadata: { uid: `new ${namespace}/${name}`, creationTimestamp: timestamp(time), ...object.metadata },
  };
}

function consequences(
  kind: ResourceKind<KubeObject>,
  before: KubeObject,
  after: KubeObject,
  objects: ClusterObjects,
): KubeObject {
  if (kind === Kinds.NodePool) return withHash(before as NodePool, after as NodePool);
  if (kind === Kinds.PodDisruptionBudget) return withAllowance(after as PodDisruptionBudget, objects);
  return after;
}

/** Updates the hash annotation by which nodes detect a template change, if the old pool had one of this version. */
export function withHash(before: NodePool, after: NodePool): NodePool {
  const stamps = before.metadata.annotations ?? {};
  if (stamps[Annotations.nodePoolHashVersion] !== NODE_POOL_HASH_VERSION) return after;
  const annotations = { ...after.metadata.annotations, [Annotations.nodePoolHash]: nodePoolHash(after) };
  return { ...after, metadata: { ...after.metadata, annotations } };
}

/** What Kubernetes' disruption controller would allow, based on its last count of pods. */
export function withAllowance(budget: PodDisruptionBudget, objects: ClusterObjects): PodDisruptionBudget {
  const { maxUnavailable, minAvailable } = budget.spec ?? {};
  const { namespace } = budget.metadata;
  const covered = objectsOf(objects, Kinds.Pod).filter(
    ({ metadata }) => metadata.namespace === namespace && matchesLabelSelector(budget.spec?.selector, metadata.labels),
  );
  // With an absolute minAvailable, the owner's replica count is not needed.
  const isPlain = maxUnavailable === undefined && typeof minAvailable === 'number';
  // Starting pods will be healthy when it matters.
  const counted = (budget.status?.currentHealthy ?? covered.filter(isReady).length) + covered.filter(isStarting).length;
  const expectedPods = isPlain ? covered.length : (budget.status?.expectedPods ?? covered.length);
  const currentHealthy = Math.min(expectedPods, counted);
  const desired =
    maxUnavailable === undefined
      ? portionOf(minAvailable ?? 0, expectedPods)
      : Math.max(0, expectedPods - portionOf(maxUnavailable, expectedPods));
  const disruptionsAllowed = expectedPods === 0 ? 0 : Math.max(0, currentHealthy - desired);
  return {
    ...budget,
    status: { ...budget.status, expectedPods, currentHealthy, desiredHealthy: desired, disruptionsAllowed },
  };
}

const isReady = ({ status }: Pod): boolean =>
  (status?.conditions ?? []).some((condition) => condition.type === 'Ready' && condition.status === 'True');

/** A number, or a percentage rounded up. */
export function portionOf(value: string | number, of: number): number {
  const percent = /^(\d+)%$/.exec(String(value))?.[1];
  return percent === undefined ? Number(value) : Math.ceil((Number(percent) * of) / 100);
}
