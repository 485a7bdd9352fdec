import type { Pod } from '../api/kinds.ts';
import { Taints } from '../api/labels.ts';
import { tolerates } from '../pods/taints.ts';
import { isDaemonPod, isNodePod, isTerminal, isTerminating } from '../pods/podPredicates.ts';

/** A pod still terminating this long after its grace period will not end; the drain stops waiting for it. */
const STUCK = 60_000;
const CRITICAL = new Set(['system-cluster-critical', 'system-node-critical']);

function isStuckTerminating(pod: Pod, now: number): boolean {
  return isTerminating(pod) && now - Date.parse(pod.metadata.deletionTimestamp ?? '') > STUCK;
}

/** Pods that the drain must remove, running or not: all that do not tolerate staying on a node being deleted. */
export function isDrainable(pod: Pod, now: number): boolean {
  const stays = (pod.spec?.tolerations ?? []).some((toleration) => tolerates(toleration, Taints.disrupted));
  return !stays && !isNodePod(pod) && !isStuckTerminating(pod, now);
}

/** Pods that keep the drain from completing. */
export const isWaitingEviction = (pod: Pod, now: number): boolean => !isTerminal(pod) && isDrainable(pod, now);

/** Whether waiting longer would let the pod's grace period exceed the node's deadline. */
export function mustForce(pod: Pod, deadline: number | undefined, now: number): boolean {
  const since = forcedFrom(pod, deadline);
  // A pod with one second left cannot be sped up further.
  const hurried = isTerminating(pod) && Date.parse(pod.metadata.deletionTimestamp ?? '') <= now + 1_000;
  return since !== undefined && now >= since && !hurried;
}

/** The time from which the pod must be deleted instead of evicted; undefined: never. */
export function forcedFrom(pod: Pod, deadline: number | undefined): number | undefined {
  if (deadline === undefined) return undefined;
  if (isTerminating(pod)) {
    return Date.parse(pod.metadata.deletionTimestamp ?? '') > deadline ? Number.NEGATIVE_INFINITY : undefined;
  }
  const grace = pod.spec?.terminationGracePeriodSeconds;
  return grace === undefined ? undefined : deadline - grace * 1000;
}

/**
 * The pods to evict now: ordinary pods before daemons, both before critical pods, so that logging, networking and
 * storage agents outlive the pods that need them. A tier waits until the previous one is gone.
 */
export function firstTier(pods: readonly Pod[]): readonly Pod[] {
  const tiers: Pod[][] = [[], [], [], []];
  for (const pod of pods) {
    const critical = CRITICAL.has(pod.spec?.priorityClassName ?? '');
    tiers[(critical ? 2 : 0) + (isDaemonPod(pod) ? 1 : 0)]?.push(pod);
  }
  return tiers.find((tier) => tier.length > 0) ?? [];
}
