/** How far a pod has come, as controllers count it. */
import type { Node, Pod } from '../../api/kinds.ts';

/** Of pods and of nodes. */
export const isReady = ({ status }: Pick<Pod, 'status'> | Pick<Node, 'status'>): boolean =>
  (status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');

/** When a ready pod becomes available: once it has been ready for `minReadySeconds`. */
function availableAt(pod: Pod, minReadySeconds: number): number {
  const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready');
  return Date.parse(ready?.lastTransitionTime ?? '') + minReadySeconds * 1000;
}

export const isAvailable = (pod: Pod, minReadySeconds: number, now: number): boolean =>
  isReady(pod) && availableAt(pod, minReadySeconds) <= now;

/** Milliseconds until the next of the ready pods becomes available; undefined when none is about to. */
export function untilNextAvailable(pods: readonly Pod[], minReadySeconds: number, now: number): number | undefined {
  const due = pods.filter(isReady).map((pod) => availableAt(pod, minReadySeconds));
  const next = Math.min(...due.filter((at) => at > now));
  return Number.isFinite(next) ? next - now : undefined;
}
