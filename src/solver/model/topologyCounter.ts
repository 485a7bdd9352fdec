/**
 * What is counted per domain. In: topology terms; out: counters that equal terms share. Counts are plain integers;
 * how a term reads them (skew, at least one, none) is the business of whoever places pods.
 */
import { Labels } from '../../api/labels.ts';
import type { Requirements } from '../../constraints/requirements.ts';
import { selectionKey, type AffinityTerm, type PodSelection } from '../../constraints/topology.ts';
import type { Toleration } from './podShape.ts';

/** Which nodes take part in a spread. */
export interface NodeFilter {
  /** The node must meet one of them. */
  readonly terms: readonly Requirements[] | undefined;
  readonly tolerations: readonly Toleration[] | undefined;
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
  const filterKey = filter && [filter.terms?.map((term) => term.toItems()), filter.tolerations];
  const own = `${topologyKey}/${selected.join()}`;
  return {
    key: JSON.stringify([kind, topologyKey, selected, filterKey]),
    kind,
    topologyKey,
    selections,
    filter,
    owns: (term) => `${term.topologyKey}/${selectionKey(term)}` === own,
  };
}

export const isHostname = (key: string): boolean => key === Labels.hostname;

/** What must be counted so that nobody comes to whoever has the term: per node the selected, else the owners. */
export function keepAwaySpec(term: AffinityTerm): CounterSpec {
  return counterSpec(isHostname(term.topologyKey) ? 'match' : 'owners', term.topologyKey, [term]);
}
