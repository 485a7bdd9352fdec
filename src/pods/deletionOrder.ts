import type { Pod } from '../api/kinds.ts';
import { Annotations } from '../api/labels.ts';

const PHASES = ['Pending', 'Unknown', 'Running'];

/**
 * The pods of a ReplicaSet in kube-controller-manager's deletion order: unscheduled, not running, not ready, low
 * deletion cost, on a node with more pods of the workload, then younger. Ages are compared as powers of two; ties go by
 * uid. `related`: all pods of the same workload.
 */
export function inDeletionOrder(pods: readonly Pod[], related: readonly Pod[], now: number): readonly Pod[] {
  const onNode = new Map<string, number>();
  for (const { spec } of related) {
    if (spec?.nodeName) onNode.set(spec.nodeName, (onNode.get(spec.nodeName) ?? 0) + 1);
  }
  const ranked = pods.map((pod) => ({ pod, rank: rankOf(pod, onNode.get(pod.spec?.nodeName ?? '') ?? 0, now) }));
  ranked.sort((left, right) => {
    const at = left.rank.findIndex((value, index) => value !== right.rank[index]);
    if (at >= 0) return (left.rank[at] ?? 0) - (right.rank[at] ?? 0);
    return (left.pod.metadata.uid ?? '') < (right.pod.metadata.uid ?? '') ? -1 : 1;
  });
  return ranked.map(({ pod }) => pod);
}

/** Numbers compared one after another; the lowest is deleted first. */
function rankOf(pod: Pod, beside: number, now: number): readonly number[] {
  const { spec, status, metadata } = pod;
  const restarts = (status?.containerStatuses ?? []).map(({ restartCount }) => restartCount);
  return [
    spec?.nodeName ? 1 : 0,
    PHASES.indexOf(status?.phase ?? 'Pending'),
    isReady(pod) ? 1 : 0,
    Number(metadata.annotations?.[Annotations.podDeletionCost] ?? 0) || 0,
    -beside,
    magnitude(now - Date.parse(readySince(pod) ?? '')),
    -Math.max(0, ...restarts),
    magnitude(now - Date.parse(metadata.creationTimestamp ?? '')),
  ];
}

const isReady = ({ status }: Pod): boolean =>
  (status?.conditions ?? []).some((condition) => condition.type === 'Ready' && condition.status === 'True');

const readySince = ({ status }: Pod): string | undefined =>
  status?.conditions?.find((condition) => condition.type === 'Ready' && condition.status === 'True')
    ?.lastTransitionTime;

/** Ages of the same power of two, in nanoseconds as Go counts, are the same. */
const magnitude = (milliseconds: number): number =>
  milliseconds > 0 ? Math.floor(Math.log2(milliseconds * 1_000_000)) : -1;
