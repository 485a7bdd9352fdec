import type { Node, Pod } from '../../api/kinds.ts';
import { matchesNodeTerm } from './selectors.ts';

interface LabelledNode {
  readonly node: Node;
  readonly labels: Readonly<Record<string, string>>;
}

/** The node selector and the required node affinity; terms are alternatives. */
export function matchesNodeAffinity(pod: Pod, { node, labels }: LabelledNode): boolean {
  const selector = Object.entries(pod.spec?.nodeSelector ?? {});
  if (!selector.every(([key, value]) => labels[key] === value)) return false;
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || required.nodeSelectorTerms.some((term) => matchesNodeTerm(term, node));
}

/** The sum of the weights of the preferred terms that the node meets. */
export function nodePreference(pod: Pod, node: Node): number {
  const preferred = pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return preferred.reduce((sum, { weight, preference }) => sum + (matchesNodeTerm(preference, node) ? weight : 0), 0);
}

/** The nodes that the pod names by their names; undefined when it does not, as all pods but those of daemons. */
export function namedNodes(pod: Pod): readonly string[] | undefined {
  const terms = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  if (!terms || terms.length === 0) return undefined;
  const names = new Set<string>();
  for (const { matchFields } of terms) {
    const byName = matchFields?.find(({ key, operator }) => key === 'metadata.name' && operator === 'In');
    if (!byName) return undefined;
    for (const name of byName.values ?? []) names.add(name);
  }
  return [...names];
}
