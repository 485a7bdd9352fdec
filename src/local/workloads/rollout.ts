import type { Deployment, ReplicaSet } from '../../api/kinds.ts';
import { boundsOf, type RolloutBounds } from '../../pods/rolloutBounds.ts';

export function rolloutBounds({ spec }: Deployment): RolloutBounds {
  if (spec?.strategy?.type === 'Recreate') return { maxSurge: 0, maxUnavailable: 0 };
  return boundsOf(spec?.replicas ?? 1, spec?.strategy);
}

const size = (replicaSet: ReplicaSet): number => replicaSet.spec?.replicas ?? 1;
const available = (replicaSet: ReplicaSet): number => replicaSet.status?.availableReplicas ?? 0;
/** Whether the ReplicaSet has pods, including terminating ones. */
export function hasPods({ status }: ReplicaSet): boolean {
  // Our Kubernetes types lack this field.
  const { terminatingReplicas = 0 } = (status ?? {}) as { terminatingReplicas?: number };
  return (status?.replicas ?? 0) + terminatingReplicas > 0;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/**
 * Returns the sizes for a paused Deployment: the only ReplicaSet with pods, or the newest one if none has pods, is scaled
 * to `replicas`; with several, nothing changes.
 */
export function pausedSizes(
  deployment: Deployment,
  current: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
): Map<string, number> {
  const all = current ? [...old, current] : [...old];
  const active = all.filter((replicaSet) => size(replicaSet) > 0);
  const newest = current ?? all.toSorted(byAge).at(-1);
  const only = active.length > 1 ? undefined : (active[0] ?? newest);
  return new Map(only ? [[only.metadata.name, deployment.spec?.replicas ?? 1]] : []);
}

const byAge = (left: ReplicaSet, right: ReplicaSet): number =>
  (left.metadata.creationTimestamp ?? '').localeCompare(right.metadata.creationTimestamp ?? '');

/**
 * Returns the next step of a rollout: new sizes of ReplicaSets by name. Repeated while pods change, it ends with all
 * replicas in `current`, and always keeps at most replicas + maxSurge pods, and at least replicas − maxUnavailable
 * available ones.
 */
export function nextSizes(
  deployment: Deployment,
  current: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
): Map<string, number> {
  const replicas = deployment.spec?.replicas ?? 1;
  const sizes = new Map<string, number>();
  const set = (replicaSet: ReplicaSet, value: number): void => {
    if (size(replicaSet) !== value) sizes.set(replicaSet.metadata.name, value);
  };
  const { maxSurge, maxUnavailable } = rolloutBounds(deployment);
  const oldTotal = sum(old.map(size));

  if (deployment.spec?.strategy?.type === 'Recreate') {
    for (const replicaSet of old) set(replicaSet, 0);
    if (current && !old.some(hasPods)) set(current, replicas);
    return sizes;
  }
  if (!current) return sizes;

  const room = replicas + maxSurge - oldTotal - size(current);
  if (size(current) > replicas) set(current, replicas);
  else if (room > 0) set(current, Math.min(replicas, size(current) + room));

  const minimum = replicas - maxUnavailable;
  const left = new Map(old.map((replicaSet) => [replicaSet, size(replicaSet)]));
  let removable = Math.max(0, oldTotal + available(current) - minimum);
  const shrink = (replicaSet: ReplicaSet, most: number): void => {
    const less = Math.max(0, Math.min(most, left.get(replicaSet) ?? 0, removable));
    left.set(replicaSet, (left.get(replicaSet) ?? 0) - less);
    removable -= less;
  };
  // Unavailable old pods are removed first, then available ones above the minimum.
  for (const replicaSet of old) shrink(replicaSet, size(replicaSet) - available(replicaSet));
  removable = Math.min(removable, available(current) + sum(old.map(available)) - minimum);
  for (const replicaSet of old) shrink(replicaSet, Infinity);
  for (const [replicaSet, value] of left) set(replicaSet, value);
  return sizes;
}
