import type { Pod } from '../api/kinds.ts';
import { Annotations } from '../api/labels.ts';

const PHASES = ['Pending', 'Unknown', 'Running'];

/**
 * The pods of a ReplicaSet in the order in which they are given up, as kube-controller-manager sorts them: not placed,
 * not running, not ready, of low deletion cost, beside others of the same workload, then the young. Ages count by powers
 * of two; pods that are alike go in order of their uid. `related` are all pods of the same workload.
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

/** Numbers that are compared one after another; the lowest goes first. */
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
