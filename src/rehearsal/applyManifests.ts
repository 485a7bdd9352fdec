/**
 * A cluster after `kubectl apply`: pools, classes and budgets get the new spec, pods of workloads are added, kept or
 * removed.
 */
import { READY } from '../api/conditionTypes.ts';
import { Kinds } from '../api/kinds.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import { Annotations } from '../api/labels.ts';
import type { KubeObject, ResourceKind } from '../api/object.ts';
import { NODE_POOL_HASH_VERSION, nodePoolHash } from '../api/nodePoolHash.ts';
import type { PlanInput } from '../plan/readManifests.ts';
import { timestamp } from '../units/timestamp.ts';
import type { Rollout } from './rollout.ts';
import { podsAfter } from './podsAfter.ts';
import { withAllowance, withHash, type PatchedObjects } from './applyPatches.ts';
import { findObject, kindKey, objectsOf, type ClusterObjects } from './clusterObjects.ts';

type Manifests = Pick<PlanInput, 'pools' | 'classes' | 'pods'> & Partial<Pick<PlanInput, 'workloads' | 'podBudgets'>>;

/** The cluster in the end, and the workloads whose pods are replaced on the way. */
export interface AppliedObjects extends PatchedObjects {
  readonly rollouts: readonly Rollout[];
}

export function applyManifests(
  objects: ClusterObjects,
  { pools, classes, pods, workloads = [], podBudgets = [] }: Manifests,
): AppliedObjects {
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
  const after = podsAfter(objects, pods, workloads);
  kinds.set(kindKey(Kinds.Pod), after.pods);
  if (podBudgets.length > 0) {
    const nextBudgets = podBudgets.map((budget) => {
      const before = findObject(objects, Kinds.PodDisruptionBudget, budget.metadata);
      return withAllowance(
        { ...before, ...budget, metadata: before?.metadata ?? budget.metadata },
        { ...objects, kinds },
      );
    });
    kinds.set(kindKey(Kinds.PodDisruptionBudget), replaced(objects, Kinds.PodDisruptionBudget, nextBudgets));
  }
  const changedPools = new Set(pools.map(({ metadata }) => metadata.name));
  return { objects: { ...objects, kinds }, changedPools, rollouts: after.rollouts };
}

function replaced<T extends KubeObject>(
  objects: ClusterObjects,
  kind: ResourceKind<T>,
  next: readonly T[],
): readonly T[] {
  const keyOf = ({ metadata }: T): string => `${metadata.namespace ?? ''}/${metadata.name}`;
  const names = new Set(next.map(keyOf));
  return [...objectsOf(objects, kind).filter((each) => !names.has(keyOf(each))), ...next];
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
