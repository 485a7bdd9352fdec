import type { Pod, PodDisruptionBudget } from '../api/kinds.ts';
import { matchesLabelSelector } from '../pods/labelSelector.ts';

/**
 * Whether no budget will ever let the pod go: one that allows nothing by its very terms, or more than one, which the
 * eviction API cannot serve. A pod that cannot be evicted needs no room elsewhere.
 */
export function isFullyBlocked(pod: Pod, budgets: Iterable<PodDisruptionBudget>): boolean {
  const matching = [...budgets].filter(
    ({ metadata, spec }) =>
      metadata.namespace === pod.metadata.namespace && matchesLabelSelector(spec?.selector, pod.metadata.labels),
  );
  if (matching.length > 1) return true;
  return matching.some((budget) => allowsNothing(budget) && !letsUnhealthyGo(budget, pod));
}

function allowsNothing({ spec }: PodDisruptionBudget): boolean {
  const { maxUnavailable, minAvailable } = spec ?? {};
  return maxUnavailable === 0 || maxUnavailable === '0%' || minAvailable === '100%';
}

function letsUnhealthyGo({ spec }: PodDisruptionBudget, pod: Pod): boolean {
  const unready = (pod.status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'False');
  return unready && (spec as { unhealthyPodEvictionPolicy?: string }).unhealthyPodEvictionPolicy === 'AlwaysAllow';
}
