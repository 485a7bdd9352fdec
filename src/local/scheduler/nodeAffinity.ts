import type { Pod } from '../../api/kinds.ts';
import type { NodeState } from './nodeState.ts';
import { matchesNodeTerm } from './selectors.ts';

/** The node selector and the required node affinity; terms are alternatives. */
export function matchesNodeAffinity(pod: Pod, { node, labels }: NodeState): boolean {
  const selector = Object.entries(pod.spec?.nodeSelector ?? {});
  if (!selector.every(([key, value]) => labels[key] === value)) return false;
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || required.nodeSelectorTerms.some((term) => matchesNodeTerm(term, node));
}
