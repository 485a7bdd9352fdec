/** A cluster after `kubectl apply`: pools and classes take the new spec, pods of new workloads wait for a node. */
import { READY } from '../api/conditionTypes.ts';
import { Kinds, type Pod } from '../api/kinds.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import { Annotations } from '../api/labels.ts';
import type { KubeObject, ResourceKind } from '../api/object.ts';
import { NODE_POOL_HASH_VERSION, nodePoolHash } from '../api/nodePoolHash.ts';
import type { PlanInput } from '../plan/readManifests.ts';
import { timestamp } from '../units/timestamp.ts';
import { withHash, type PatchedObjects } from './applyPatches.ts';
import { unscheduled } from './carryOut.ts';
import { findObject, kindKey, objectsOf, type ClusterObjects } from './clusterObjects.ts';

export function applyManifests(
  objects: ClusterObjects,
  { pools, classes, pods }: Pick<PlanInput, 'pools' | 'classes' | 'pods'>,
): PatchedObjects {
  const since = timestamp(objects.time);
  const nextPools = pools.map((pool) => appliedPool(findObject(objects, Kinds.NodePool, pool.metadata), pool, since));
  const nextClasses = classes.map((each) => {
    const before = findObject(objects, Kinds.AKSNodeClass, each.metadata);
    return before === undefined ? each : { ...before, spec: each.spec };
  });
  const kinds = new Map(objects.kinds);
  kinds.set(kindKey(Kinds.NodePool), replaced(objects, Kinds.NodePool, nextPools));
  if (nextClasses.length > 0)
    kinds.set(kindKey(Kinds.AKSNodeClass), replaced(objects, Kinds.AKSNodeClass, nextClasses));
  if (pods.length > 0) kinds.set(kindKey(Kinds.Pod), [...objectsOf(objects, Kinds.Pod), ...pods.map(waiting)]);
  return { objects: { ...objects, kinds }, changedPools: new Set(pools.map(({ metadata }) => metadata.name)) };
}

function replaced<T extends KubeObject>(
  objects: ClusterObjects,
  kind: ResourceKind<T>,
  next: readonly T[],
): readonly T[] {
  const names = new Set(next.map(({ metadata }) => metadata.name));
  return [...objectsOf(objects, kind).filter(({ metadata }) => !names.has(metadata.name)), ...next];
}

function appliedPool(before: NodePool | undefined, { metadata, spec }: NodePool, since: string): NodePool {
  if (before !== undefined) return withHash(before, { ...before, spec });
  const pool: NodePool = {
    metadata: { uid: metadata.name, ...metadata },
    spec,
    status: { nodes: 0, conditions: [{ type: READY, status: 'True', lastTransitionTime: since, reason: READY }] },
  };
  const stamps = {
    [Annotations.nodePoolHash]: nodePoolHash(pool),
    [Annotations.nodePoolHashVersion]: NODE_POOL_HASH_VERSION,
  };
  return { ...pool, metadata: { ...pool.metadata, annotations: { ...metadata.annotations, ...stamps } } };
}

function waiting(pod: Pod): Pod {
  const { namespace = 'default', name } = pod.metadata;
  return unscheduled({
    ...pod,
    metadata: { ...pod.metadata, namespace, uid: pod.metadata.uid ?? `${namespace}/${name}` },
  });
}
