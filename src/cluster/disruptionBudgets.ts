/** Effect of PodDisruptionBudgets on single pods. */
import type { Pod, PodDisruptionBudget } from '../api/kinds.ts';
import { matchesLabelSelector } from '../pods/labelSelector.ts';
import { isUnready } from '../pods/podPredicates.ts';

/** The budgets of a cluster at one moment, for many pods. */
export class PodBudgets {
  private readonly byNamespace = new Map<string, PodDisruptionBudget[]>();

  constructor(budgets: Iterable<PodDisruptionBudget>) {
    for (const budget of budgets) {
      const { namespace = '' } = budget.metadata;
      const known = this.byNamespace.get(namespace);
      if (known === undefined) this.byNamespace.set(namespace, [budget]);
      else known.push(budget);
    }
  }

  /** The budgets that refuse an eviction of the pod now; several budgets for one pod always refuse it. */
  refusing(pod: Pod): readonly PodDisruptionBudget[] {
    const matching = this.matching(pod);
    if (matching.length > 1) return matching;
    return matching.filter((budget) => (budget.status?.disruptionsAllowed ?? 0) <= 0 && !letsUnhealthyGo(budget, pod));
  }

  /**
   * Whether no budget will ever allow the eviction: one that allows nothing by definition, or more than one, which the
   * eviction API does not support. Such a pod needs no room elsewhere.
   */
  isFullyBlocked(pod: Pod): boolean {
    const matching = this.matching(pod);
    if (matching.length > 1) return true;
    return matching.some((budget) => allowsNothing(budget) && !letsUnhealthyGo(budget, pod));
  }

  /** The first of these pods, none of which is replaced, for which its budget has nothing left after the others. */
  firstBeyond(pods: Iterable<Pod>): { readonly pod: Pod; readonly budget: PodDisruptionBudget } | undefined {
    const left = new Map<PodDisruptionBudget, number>();
    for (const pod of pods) {
      for (const budget of this.matching(pod)) {
        if (letsUnhealthyGo(budget, pod)) continue;
        const allowed = (left.get(budget) ?? budget.status?.disruptionsAllowed ?? 0) - 1;
        if (allowed < 0) return { pod, budget };
        left.set(budget, allowed);
      }
    }
    return undefined;
  }

  /** Sorted by name, whatever the order of the list. */
  private matching(pod: Pod): readonly PodDisruptionBudget[] {
    const own = this.byNamespace.get(pod.metadata.namespace ?? '');
    if (own === undefined) return [];
    return own
      .filter(({ spec }) => matchesLabelSelector(spec?.selector, pod.metadata.labels))
      .sort((left, right) => (left.metadata.name < right.metadata.name ? -1 : 1));
  }
}

function allowsNothing({ spec }: PodDisruptionBudget): boolean {
  const { maxUnavailable, minAvailable } = spec ?? {};
  return maxUnavailable === 0 || maxUnavailable === '0%' || minAvailable === '100%';
}

function letsUnhealthyGo({ spec }: PodDisruptionBudget, pod: Pod): boolean {
  return (
    isUnready(pod) && (spec as { unhealthyPodEvictionPolicy?: string }).unhealthyPodEvictionPolicy === 'AlwaysAllow'
  );
}
