import { DEFAULT_SCHEDULER } from './podKey.ts';
import type { Pod } from '../api/kinds.ts';
import { preemptedNode } from '../api/placementHint.ts';

/** Predicates on one pod, shared by all loops. */
export const isTerminal = (pod: Pod): boolean => pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded';

export const isTerminating = (pod: Pod): boolean => pod.metadata.deletionTimestamp !== undefined;

export const isActive = (pod: Pod): boolean => !isTerminal(pod) && !isTerminating(pod);

function isOwnedBy(pod: Pod, apiVersion: string, kind: string): boolean {
  return (pod.metadata.ownerReferences ?? []).some((owner) => owner.apiVersion === apiVersion && owner.kind === kind);
}

export const isDaemonPod = (pod: Pod): boolean => isOwnedBy(pod, 'apps/v1', 'DaemonSet');

/** A static (mirror) pod belongs to its Node and cannot move. */
export const isNodePod = (pod: Pod): boolean => isOwnedBy(pod, 'v1', 'Node');

/**
 * The scheduler has tried the pod, found no node, and does not preempt for it. Our own hint does not count as
 * preemption.
 */
export function isProvisionable(pod: Pod): boolean {
  if (pod.spec?.nodeName || preemptedNode(pod) || isTerminating(pod) || isTerminal(pod)) return false;
  if (isDaemonPod(pod) || isNodePod(pod)) return false;
  return (pod.status?.conditions ?? []).some(
    ({ type, reason }) => type === 'PodScheduled' && reason === 'Unschedulable',
  );
}

/** Waits, and no node is ever planned for it as it is. */
export function isHeldBack(pod: Pod): boolean {
  const { spec, status } = pod;
  if (spec?.nodeName || !isActive(pod) || isNodePod(pod)) return false;
  if ((spec?.schedulingGates ?? []).length > 0 || (spec?.schedulerName ?? DEFAULT_SCHEDULER) !== DEFAULT_SCHEDULER) {
    return true;
  }
  return isDaemonPod(pod) && (status?.conditions ?? []).some(({ reason }) => reason === 'Unschedulable');
}

/** Must be rescheduled when its node is removed. */
export function isReschedulable(pod: Pod): boolean {
  const leaving = isTerminating(pod) && isOwnedBy(pod, 'apps/v1', 'StatefulSet');
  return (isActive(pod) || leaving) && !isDaemonPod(pod) && !isNodePod(pod);
}

/** Bound to a node, and none of its containers has run yet. */
export const isStarting = (pod: Pod): boolean =>
  pod.spec?.nodeName !== undefined && pod.status?.phase === 'Pending' && !isTerminating(pod);

export const isUnready = (pod: Pod): boolean =>
  (pod.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'False');
