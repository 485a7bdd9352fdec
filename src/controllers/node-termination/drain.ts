import type { Pod } from '../../api/kinds.ts';
import { Taints } from '../../api/labels.ts';
import { isDaemonPod, isNodePod, isTerminal, isTerminating } from '../../cluster/podPredicates.ts';
import { tolerates } from '../../constraints/taints.ts';

/** A pod that has been terminating for this long past its time will not go; the drain stops waiting for it. */
const STUCK = 60_000;
const CRITICAL = new Set(['system-cluster-critical', 'system-node-critical']);

function isStuckTerminating(pod: Pod, now: number): boolean {
  return isTerminating(pod) && now - Date.parse(pod.metadata.deletionTimestamp ?? '') > STUCK;
}

/** Pods that the drain must see off: those that would not stay on a node that is going away. */
export function isDrainable(pod: Pod, now: number): boolean {
  const stays = (pod.spec?.tolerations ?? []).some((toleration) => tolerates(toleration, Taints.disrupted));
  return !stays && !isNodePod(pod) && !isTerminal(pod) && !isStuckTerminating(pod, now);
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
