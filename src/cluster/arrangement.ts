/** Assigns places to interchangeable pods, and orders the opening of nodes. */
import type { Pod } from '../api/kinds.ts';
import type { Place } from './placements.ts';

/** A place on the node of a claim, for pods of a group; pods of one group can exchange places. */
export interface ClaimPlace {
  readonly claim: string;
  readonly group: string;
  readonly place: Place;
}

/** Of one group: place `i` is for pod `i`. */
export interface Assigned {
  readonly places: readonly Place[];
  readonly pods: readonly Pod[];
}

/** Pods that the scheduler tries while the nodes of a large plan open, about. */
const SOON = 100;

/**
 * `places` are in the order in which the scheduler will try their pods. Each pod gets, in turn, a place of its group on
 * a node that an earlier pod already uses, otherwise on the node with most places of its group. `fixed`: for some
 * groups, the order in which their places must be filled.
 */
export function arrangement(
  places: readonly ClaimPlace[],
  fixed: ReadonlyMap<string, readonly ClaimPlace[]>,
): readonly Assigned[] {
  const left = new Map<string, Map<string, ClaimPlace[]>>();
  for (const each of places) {
    const byClaim = left.get(each.group) ?? new Map<string, ClaimPlace[]>();
    left.set(each.group, byClaim);
    const known = byClaim.get(each.claim);
    if (known === undefined) byClaim.set(each.claim, [each]);
    else known.push(each);
  }
  const queues = new Map([...fixed].map(([group, own]) => [group, [...own]]));
  const order = new Set<string>();
  const assigned = new Map<string, { places: Place[]; pods: Pod[] }>();
  for (const { group, place } of places) {
    const queue = queues.get(group);
    const next = queue ? queue.shift() : takeNext(left.get(group), order);
    if (next === undefined) continue;
    order.add(next.claim);
    const known = assigned.get(group) ?? { places: [], pods: [] };
    assigned.set(group, known);
    known.places.push(next.place);
    known.pods.push(place.pod);
  }
  return [...assigned.values()];
}

/**
 * The order in which nodes should open. The scheduler tries pods faster than they do: a node that one pod asks for is worth less
 * than one that many ask for soon after. `asked` has the claims that pods ask for, turn by turn.
 */
export function openingOrder(asked: readonly string[]): readonly string[] {
  const known = new Map<string, { readonly place: number; readonly turn: number; pods: number }>();
  for (const [turn, claim] of asked.entries()) {
    const first = known.get(claim);
    if (first === undefined) known.set(claim, { place: known.size + 1, turn, pods: 1 });
    else if (turn < first.turn + SOON) first.pods += 1;
  }
  return [...known]
    .sort(([, one], [, other]) => one.place / one.pods - other.place / other.pods)
    .map(([claim]) => claim);
}

function takeNext(byClaim: Map<string, ClaimPlace[]> | undefined, order: ReadonlySet<string>): ClaimPlace | undefined {
  if (byClaim === undefined) return undefined;
  let claim: string | undefined;
  for (const each of order) {
    if ((byClaim.get(each)?.length ?? 0) === 0) continue;
    claim = each;
    break;
  }
  if (claim === undefined) {
    let most = 0;
    for (const [each, { length }] of byClaim) if (length > most) [claim, most] = [each, length];
  }
  return claim === undefined ? undefined : byClaim.get(claim)?.shift();
}
