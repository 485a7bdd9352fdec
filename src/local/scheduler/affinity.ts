import type { Pod } from '../../api/kinds.ts';
import { matchesLabelSelector } from '../../pods/labelSelector.ts';

type Affinity = NonNullable<NonNullable<Pod['spec']>['affinity']>;
export type PodAffinityTerm = NonNullable<
  NonNullable<Affinity['podAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']
>[number];
const NO_TERMS: readonly never[] = [];
/** Labels of a namespace by its name. */
export type NamespaceLabels = (namespace: string) => Readonly<Record<string, string>>;

export function affinityTerms(pod: Pod, kind: 'podAffinity' | 'podAntiAffinity'): readonly PodAffinityTerm[] {
  return pod.spec?.affinity?.[kind]?.requiredDuringSchedulingIgnoredDuringExecution ?? NO_TERMS;
}

/** Returns the preferred terms of affinity and, with negative weights, of anti-affinity. */
export function preferredTerms(pod: Pod): readonly { readonly weight: number; readonly term: PodAffinityTerm }[] {
  const { podAffinity, podAntiAffinity } = pod.spec?.affinity ?? {};
  const near = podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const far = podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  if (near.length + far.length === 0) return NO_TERMS;
  return [
    ...near.map(({ weight, podAffinityTerm }) => ({ weight, term: podAffinityTerm })),
    ...far.map(({ weight, podAffinityTerm }) => ({ weight: -weight, term: podAffinityTerm })),
  ];
}

/** Whether `term` of the pod `owner` selects `candidate`. */
export function matchesTerm(term: PodAffinityTerm, owner: Pod, candidate: Pod, labelsOf: NamespaceLabels): boolean {
  return inNamespaces(term, owner, candidate, labelsOf) && matchesLabels(term, owner, candidate);
}

function inNamespaces(term: PodAffinityTerm, owner: Pod, candidate: Pod, labelsOf: NamespaceLabels): boolean {
  const namespace = candidate.metadata.namespace ?? 'default';
  const { namespaces = [], namespaceSelector } = term;
  if (namespaces.length === 0 && !namespaceSelector) return namespace === (owner.metadata.namespace ?? 'default');
  return namespaces.includes(namespace) || matchesLabelSelector(namespaceSelector, labelsOf(namespace));
}

function matchesLabels(term: PodAffinityTerm, owner: Pod, candidate: Pod): boolean {
  const own = owner.metadata.labels ?? {};
  const labels = candidate.metadata.labels ?? {};
  const { matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  return (
    matchesLabelSelector(term.labelSelector, labels) &&
    matchLabelKeys.every((key) => own[key] === undefined || own[key] === labels[key]) &&
    mismatchLabelKeys.every((key) => own[key] === undefined || own[key] !== labels[key])
  );
}
