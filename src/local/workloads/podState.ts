/** Readiness and availability of pods, by the rules of the workload controllers. */
import type { Node, Pod } from '../../api/kinds.ts';

/** Whether a pod or node is ready. */
export const isReady = ({ status }: Pick<Pod, 'status'> | Pick<Node, 'status'>): boolean =>
  (status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');

/** Returns the time at which a ready pod has been ready for `minReadySeconds`, and so is available. */
function availableAt(pod: Pod, minReadySeconds: number): number {
  const ready = pod.status?.conditions?.find(({ type }) => type === 'Ready');
  return Date.parse(ready?.lastTransitionTime ?? '') + minReadySeconds * 1000;
}

export const isAvailable = (pod: Pod, minReadySeconds: number, now: number): boolean =>
  isReady(pod) && availableAt(pod, minReadySeconds) <= now;

/** Returns the milliseconds until the next ready pod becomes available; undefined if all are. */
export function untilNextAvailable(pods: readonly Pod[], minReadySeconds: number, now: number): number | undefined {
  const due = pods.filter(isReady).map((pod) => availableAt(pod, minReadySeconds));
  const next = Math.min(...due.filter((at) => at > now));
  return Number.isFinite(next) ? next - now : undefined;
}
