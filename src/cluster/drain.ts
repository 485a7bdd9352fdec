import type { Pod } from '../api/kinds.ts';
import { Taints } from '../api/labels.ts';
import { tolerates } from '../pods/taints.ts';
import { isDaemonPod, isNodePod, isTerminal, isTerminating } from '../pods/podPredicates.ts';

/** A pod that has been terminating for this long past its time will not go; the drain stops waiting for it. */
const STUCK = 60_000;
const CRITICAL = new Set(['system-cluster-critical', 'system-node-critical']);

function isStuckTerminating(pod: Pod, now: number): boolean {
  return isTerminating(pod) && now - Date.parse(pod.metadata.deletionTimestamp ?? '') > STUCK;
}

/** Pods that the drain must see off, running or not: those that would not stay on a node that is going away. */
export function isDrainable(pod: Pod, now: number): boolean {
  const stays = (pod.spec?.tolerations ?? []).some((toleration) => tolerates(toleration, Taints.disrupted));
  return !stays && !isNodePod(pod) && !isStuckTerminating(pod, now);
}

/** Pods that keep the drain from being done. */
export const isWaitingEviction = (pod: Pod, now: number): boolean => !isTerminal(pod) && isDrainable(pod, now);

/** Whether waiting any longer would let the pod's own grace period run past the node's deadline. */
export function mustForce(pod: Pod, deadline: number | undefined, now: number): boolean {
  const since = forcedFrom(pod, deadline);
  // A pod that has one second left cannot be hurried any further.
  const hurried = isTerminating(pod) && Date.parse(pod.metadata.deletionTimestamp ?? '') <= now + 1_000;
  return since !== undefined && now >= since && !hurried;
}

/** The moment from which the pod must be deleted rather than asked to go; undefined when that never comes. */
export function forcedFrom(pod: Pod, deadline: number | undefined): number | undefined {
  if (deadline === undefined) return undefined;
  if (isTerminating(pod)) {
    return Date.parse(pod.metadata.deletionTimestamp ?? '') > deadline ? Number.NEGATIVE_INFINITY : undefined;
  }
  const grace = pod.spec?.terminationGracePeriodSeconds;
  return grace === undefined ? undefined : deadline - grace * 1000;
}

/**
 * The pods to evict now: ordinary ones before daemons, both before critical ones, so that logging, networking and
 * storage agents outlive the pods that need them. A tier waits until the one before is gone.
 */
export function firstTier(pods: readonly Pod[]): readonly Pod[] {
  const tiers: Pod[][] = [[], [], [], []];
  for (const pod of pods) {
    const critical = CRITICAL.has(pod.spec?.priorityClassName ?? '');
    tiers[(critical ? 2 : 0) + (isDaemonPod(pod) ? 1 : 0)]?.push(pod);
  }
  return tiers.find((tier) => tier.length > 0) ?? [];
}
