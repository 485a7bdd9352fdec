/**
 * What is counted per domain; equal topology terms share a counter. Counts are plain integers; placement decides what a
 * term makes of them (skew, at least one, none).
 */
import { Labels } from '../../api/labels.ts';
import type { Requirements } from '../../constraints/requirements.ts';
import { selectionKey, type AffinityTerm, type PodSelection } from '../../constraints/topology.ts';
import type { Toleration } from './podShape.ts';

/** Nodes that take part in a spread. */
export interface NodeFilter {
  /** Equal keys mean equal filters. */
  readonly key: string;
  /** The node must meet at least one. */
  readonly terms: readonly Requirements[] | undefined;
  readonly tolerations: readonly Toleration[] | undefined;
  readonly tolerationsKey: string;
}

export function nodeFilter(
  terms: readonly Requirements[] | undefined,
  tolerations: readonly Toleration[] | undefined,
): NodeFilter {
  const tolerationsKey = tolerations === undefined ? '' : JSON.stringify(tolerations);
  const key = JSON.stringify([terms?.map((term) => term.toItems()), tolerationsKey]);
  return { key, terms, tolerations, tolerationsKey };
}

export interface CounterSpec {
  readonly key: string;
  /** `owners` counts pods that have the anti-affinity term; the others count pods that are selected. */
  readonly kind: 'spread' | 'match' | 'owners';
  readonly topologyKey: string;
  /** A pod counts when every selection matches it. */
  readonly selections: readonly PodSelection[];
  readonly filter: NodeFilter | undefined;
  owns(term: AffinityTerm): boolean;
}

export function counterSpec(
  kind: CounterSpec['kind'],
  topologyKey: string,
  selections: readonly PodSelection[],
  filter?: NodeFilter,
): CounterSpec {
  const selected = selections.map(selectionKey).sort();
  const own = `${topologyKey}/${selected.join()}`;
  return {
    key: JSON.stringify([kind, topologyKey, selected, filter?.key]),
    kind,
    topologyKey,
    selections,
    filter,
    owns: (term) => `${term.topologyKey}/${selectionKey(term)}` === own,
  };
}

export const isHostname = (key: string): boolean => key === Labels.hostname;

/** Counter that enforces a pod's anti-affinity term against newcomers: the selected pods per node, else the owners. */
export function keepAwaySpec(term: AffinityTerm): CounterSpec {
  return counterSpec(isHostname(term.topologyKey) ? 'match' : 'owners', term.topologyKey, [term]);
}

/** A label that every counted pod has; '' when none can be told easily. */
export function labelOf({ selections }: CounterSpec): string {
  for (const { selector } of selections) {
    for (const [name, value] of Object.entries(selector?.matchLabels ?? {})) return `${name}\n${value}`;
  }
  return '';
}
