import type { Pod } from '../../api/kinds.ts';
import { matchesNodeAffinity } from './nodeAffinity.ts';
import type { NodeState } from './nodeState.ts';
import { matchesLabelSelector } from './selectors.ts';
import { tolerates } from './tolerations.ts';

type Constraint = NonNullable<NonNullable<Pod['spec']>['topologySpreadConstraints']>[number];

/** Whether the node counts for the constraint at all (nodeAffinityPolicy, nodeTaintsPolicy, its key present). */
function isEligible(pod: Pod, constraint: Constraint, state: NodeState): boolean {
  if (state.labels[constraint.topologyKey] === undefined) return false;
  if (constraint.nodeAffinityPolicy !== 'Ignore' && !matchesNodeAffinity(pod, state)) return false;
  if (constraint.nodeTaintsPolicy !== 'Honor') return true;
  return (state.node.spec?.taints ?? []).every(
    (taint) => taint.effect === 'PreferNoSchedule' || tolerates(pod.spec?.tolerations, taint),
  );
}

function selects(constraint: Constraint, owner: Pod, candidate: Pod): boolean {
  if (candidate.metadata.namespace !== owner.metadata.namespace || candidate.metadata.deletionTimestamp) return false;
  const own = owner.metadata.labels ?? {};
  const labels = candidate.metadata.labels ?? {};
  return (
    matchesLabelSelector(constraint.labelSelector, labels) &&
    (constraint.matchLabelKeys ?? []).every((key) => own[key] === undefined || own[key] === labels[key])
  );
}

/** Checks the DoNotSchedule constraints of `pod` for one node. */
export function spreadViolation(pod: Pod, state: NodeState, nodes: readonly NodeState[]): string | undefined {
  for (const constraint of pod.spec?.topologySpreadConstraints ?? []) {
    if (constraint.whenUnsatisfiable !== 'DoNotSchedule') continue;
    const domain = state.labels[constraint.topologyKey];
    if (domain === undefined) return "node(s) didn't match pod topology spread constraints (missing required label)";
    const counts = new Map<string, number>();
    for (const other of nodes) {
      if (!isEligible(pod, constraint, other)) continue;
      const key = other.labels[constraint.topologyKey] ?? '';
      const matching = other.pods.filter((placed) => selects(constraint, pod, placed)).length;
      counts.set(key, (counts.get(key) ?? 0) + matching);
    }
    const tooFewDomains = counts.size < (constraint.minDomains ?? 1);
    const minimum = tooFewDomains ? 0 : Math.min(...counts.values());
    const self = selects(constraint, pod, pod) ? 1 : 0;
    if ((counts.get(domain) ?? 0) + self - minimum > constraint.maxSkew) {
      return "node(s) didn't match pod topology spread constraints";
    }
  }
  return undefined;
}
