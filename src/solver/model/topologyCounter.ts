/**
 * What is counted per domain; equal topology terms share a counter. Counts are plain integers: how a term reads them
 * (skew, at least one, none) is decided where pods are placed.
 */
import { Labels } from '../../api/labels.ts';
import type { Requirements } from '../../constraints/requirements.ts';
import { selectionKey, type AffinityTerm, type PodSelection } from '../../constraints/topology.ts';
import type { Toleration } from './podShape.ts';

/** Which nodes take part in a spread. */
export interface NodeFilter {
  /** Equal keys mean equal filters. */
  readonly key: string;
  /** The node must meet one of them. */
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
  /** `owners` counts the pods that have the anti-affinity term; the others count the pods that are selected. */
  readonly kind: 'spread' | 'match' | 'owners';
  readonly topologyKey: string;
  /** A pod counts when every one selects it. */
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

/** A label that every pod which the counter counts has; '' when there is none that is easily told. */
export function labelOf({ selections }: CounterSpec): string {
  for (const { selector } of selections) {
    for (const [name, value] of Object.entries(selector?.matchLabels ?? {})) return `${name}\n${value}`;
  }
  return '';
}
