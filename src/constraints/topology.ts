/**
 * A pod's spread, affinity and anti-affinity terms with resolved namespaces and selectors, ready to be counted per
 * domain.
 */
import type { Pod, PodAffinityTerm, TopologySpreadConstraint } from 'kubernetes-types/core/v1.js';
import type { LabelSelector } from 'kubernetes-types/meta/v1.js';
import { normalizeLabelKey } from '../api/labels.ts';
import { matchesLabelSelector } from '../pods/labelSelector.ts';

type Labels = Readonly<Record<string, string>>;

/** Labels by namespace name. An unlisted namespace has only the name label that every namespace has. */
export type NamespaceLabels = ReadonlyMap<string, Labels>;

/** The pods that a term selects. */
export interface PodSelection {
  /** `undefined`: every namespace. */
  readonly namespaces: readonly string[] | undefined;
  /** Undefined selects nothing. */
  readonly selector: LabelSelector | undefined;
}

export interface SpreadTerm extends PodSelection {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly required: boolean;
  readonly honorsAffinity: boolean;
  readonly honorsTaints: boolean;
}

export interface AffinityTerm extends PodSelection {
  readonly topologyKey: string;
}

interface WeightedAffinityTerm extends AffinityTerm {
  readonly weight: number;
}

export interface TopologyTerms {
  readonly spread: readonly SpreadTerm[];
  readonly affinity: readonly AffinityTerm[];
  readonly antiAffinity: readonly AffinityTerm[];
  readonly preferredAffinity: readonly WeightedAffinityTerm[];
  readonly preferredAntiAffinity: readonly WeightedAffinityTerm[];
}

/** `defaults` apply when the pod has no spread constraint of its own. */
export function topologyTerms(
  pod: Pod,
  namespaceLabels: NamespaceLabels,
  defaults: readonly TopologySpreadConstraint[] = [],
): TopologyTerms {
  const own = pod.spec?.topologySpreadConstraints ?? [];
  const { podAffinity, podAntiAffinity } = pod.spec?.affinity ?? {};
  const term = (raw: PodAffinityTerm): AffinityTerm => affinityTerm(raw, pod, namespaceLabels);
  const weighted = (raw: { weight: number; podAffinityTerm: PodAffinityTerm }): WeightedAffinityTerm => ({
    ...term(raw.podAffinityTerm),
    weight: raw.weight,
  });
  return {
    spread: (own.length > 0 ? own : defaults).map((constraint) => spreadTerm(constraint, pod)),
    affinity: (podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map(term),
    antiAffinity: (podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map(term),
    preferredAffinity: (podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(weighted),
    preferredAntiAffinity: (podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(weighted),
  };
}

export function isSelected(selection: PodSelection, namespace: string, labels: Labels | undefined): boolean {
  if (selection.namespaces !== undefined && !selection.namespaces.includes(namespace)) return false;
  return matchesLabelSelector(selection.selector, labels);
}

/** Equal text for selections that select the same pods, as far as this can be told from the selectors. */
export function selectionKey({ namespaces, selector }: PodSelection): string {
  const labels = Object.entries(selector?.matchLabels ?? {}).sort(byText);
  const expressions = (selector?.matchExpressions ?? [])
    .map(({ key, operator, values }) => JSON.stringify([key, operator, [...(values ?? [])].sort()]))
    .sort();
  return JSON.stringify([
    namespaces && [...namespaces].sort(),
    selector === undefined ? 'nothing' : [labels, expressions],
  ]);
}

function spreadTerm(constraint: TopologySpreadConstraint, pod: Pod): SpreadTerm {
  return {
    topologyKey: normalizeLabelKey(constraint.topologyKey),
    namespaces: [pod.metadata?.namespace ?? 'default'],
    selector: withLabelKeys(constraint.labelSelector, pod, constraint.matchLabelKeys, []),
    maxSkew: constraint.maxSkew,
    minDomains: constraint.minDomains ?? 1,
    required: constraint.whenUnsatisfiable !== 'ScheduleAnyway',
    honorsAffinity: constraint.nodeAffinityPolicy !== 'Ignore',
    honorsTaints: constraint.nodeTaintsPolicy === 'Honor',
  };
}

function affinityTerm(term: PodAffinityTerm, pod: Pod, namespaceLabels: NamespaceLabels): AffinityTerm {
  return {
    topologyKey: normalizeLabelKey(term.topologyKey),
    namespaces: namespacesOf(term, pod.metadata?.namespace ?? 'default', namespaceLabels),
    selector: withLabelKeys(term.labelSelector, pod, term.matchLabelKeys, term.mismatchLabelKeys),
  };
}

function namespacesOf(term: PodAffinityTerm, own: string, known: NamespaceLabels): readonly string[] | undefined {
  const listed = term.namespaces ?? [];
  const selector = term.namespaceSelector;
  if (selector === undefined) return listed.length > 0 ? listed : [own];
  const open = Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions ?? []).length === 0;
  if (open) return undefined;
  const names = new Map<string, Labels>([[own, {}], ...known]);
  const selected = [...names].flatMap(([name, labels]) =>
    matchesLabelSelector(selector, { 'kubernetes.io/metadata.name': name, ...labels }) ? [name] : [],
  );
  return [...new Set([...listed, ...selected])];
}

/** Adds the pod's own values of the keys to the selector. Keys that the pod lacks are ignored. */
function withLabelKeys(
  selector: LabelSelector | undefined,
  pod: Pod,
  match: readonly string[] = [],
  mismatch: readonly string[] = [],
): LabelSelector | undefined {
  if (selector === undefined || (match.length === 0 && mismatch.length === 0)) return selector;
  const labels: Labels = pod.metadata?.labels ?? {};
  const expressions = (keys: readonly string[], operator: 'In' | 'NotIn') =>
    keys.flatMap((key) => {
      const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
      return value === undefined ? [] : [{ key, operator, values: [value] }];
    });
  return {
    ...selector,
    matchExpressions: [
      ...(selector.matchExpressions ?? []),
      ...expressions(match, 'In'),
      ...expressions(mismatch, 'NotIn'),
    ],
  };
}

function byText([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
