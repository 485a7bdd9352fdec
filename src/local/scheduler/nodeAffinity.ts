import type { Node, Pod } from '../../api/kinds.ts';
import { matchesNodeTerm } from '../../pods/nodeSelector.ts';

/** Returns the sum of the weights of the preferred terms that the node matches. */
export function nodePreference(pod: Pod, node: Node): number {
  const preferred = pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return preferred.reduce((sum, { weight, preference }) => sum + (matchesNodeTerm(preference, node) ? weight : 0), 0);
}

/** Returns the nodes that the pod requires by name, like daemon pods; undefined if it requires none. */
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
