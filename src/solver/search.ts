/** Parameters of one search for a plan: the order of the pods, and how they are placed. */
import type { SearchMode } from './draft.ts';
import type { CompiledDemand } from './model/compiledDemand.ts';
import type { PodClass } from './model/podClass.ts';
import { spreadKeys } from './placement/domains.ts';

export type Rank = SearchMode['rank'];

export interface Search extends SearchMode {
  /** Excludes offerings without a zone while pods spread over zones. */
  readonly staysZonal: boolean;
}

export const AS_THEY_ARE: Rank = () => 0;

/** Equal for searches that place the same pods in the same order and in the same way. */
export function keyOf(search: Search, order: readonly number[]): string {
  const { growth, growthOf, ties, staysZonal, isLenient, avoidsReserved, keepsZones, settlesDoubts, leads } = search;
  const { interleaves, settlesOffers, comparesOpened, lastNodesFirst } = search;
  const flags = [
    staysZonal,
    isLenient,
    avoidsReserved,
    settlesDoubts,
    leads,
    interleaves,
    settlesOffers,
    comparesOpened,
    lastNodesFirst,
  ];
  return `${growth}/${[...growthOf].join()}/${ties}/${keepsZones}/${flags.map(Number).join('')}/${order.join()}`;
}

/** When pods are taken one by one, equal ranks go by name, so they give a different order. */
export function orderOf(classes: readonly PodClass[], { rank, interleaves }: Search): readonly number[] {
  const sorted = classes.toSorted((left, right) => compareBy(rank, left, right));
  return interleaves ? sorted.flatMap((each) => [rank(each), each.id]) : sorted.map(({ id }) => id);
}

export function compareBy(rank: Rank, left: PodClass, right: PodClass): number {
  return rank(left) - rank(right) || right.shape.priority - left.shape.priority || left.id - right.id;
}

/** Whether some rules can be applied leniently because they depend on the order of the pods. */
export function hasLeeway({ counters }: CompiledDemand): boolean {
  return counters.all.some(({ hostname, spec, gathers }) => gathers || (hostname && spec.kind === 'spread'));
}

/** Whether it may stay open in which spreads a planned node takes part, or where. */
export function isDoubtful({ classes, counters }: CompiledDemand): boolean {
  const keys = spreadKeys(counters);
  return classes.some(({ variants }) =>
    variants.some(({ doubtKeys, pinKeys }) => doubtKeys.length > 0 || keys.some((key) => !pinKeys.includes(key))),
  );
}
