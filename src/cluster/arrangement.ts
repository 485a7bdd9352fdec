/** Which of the pods that are alike gets which of their places, and in which order nodes should open. */
import type { Pod } from '../api/kinds.ts';
import { podKind } from '../pods/podKind.ts';
import type { Place } from './placements.ts';

/** A place on the node of a claim, for a kind of pod. */
export interface ClaimPlace {
  readonly claim: string;
  readonly kind: string;
  readonly place: Place;
}

export interface Arrangement {
  /** Claims in the order in which pods will ask for their nodes. */
  readonly order: readonly string[];
  /** By kind: each place is for the pod at the same position. */
  readonly assigned: readonly {
    readonly kind: string;
    readonly places: readonly Place[];
    readonly pods: readonly Pod[];
  }[];
}

/**
 * Gives each pod, in its turn, a place of its kind on a node that an earlier pod needs already, else on the one with most
 * places of its kind. `fixed` are the places of some kinds in the order in which they must be filled.
 */
export function arrangement(
  places: readonly ClaimPlace[],
  pods: readonly Pod[],
  fixed: ReadonlyMap<string, readonly ClaimPlace[]>,
): Arrangement {
  const left = new Map<string, Map<string, ClaimPlace[]>>();
  for (const each of places) {
    const byClaim = left.get(each.kind) ?? new Map<string, ClaimPlace[]>();
    left.set(each.kind, byClaim);
    byClaim.set(each.claim, [...(byClaim.get(each.claim) ?? []), each]);
  }
  const queues = new Map([...fixed].map(([kind, own]) => [kind, [...own]]));
  const order: string[] = [];
  const assigned = new Map<string, { kind: string; places: Place[]; pods: Pod[] }>();
  for (const pod of pods) {
    const { kind } = podKind(pod);
    const queue = queues.get(kind);
    const next = queue ? queue.shift() : takeNext(left.get(kind), order);
    if (next === undefined) continue;
    if (!order.includes(next.claim)) order.push(next.claim);
    const known = assigned.get(kind) ?? { kind, places: [], pods: [] };
    assigned.set(kind, known);
    known.places.push(next.place);
    known.pods.push(pod);
  }
  return { order, assigned: [...assigned.values()] };
}

function takeNext(byClaim: Map<string, ClaimPlace[]> | undefined, order: readonly string[]): ClaimPlace | undefined {
  if (byClaim === undefined) return undefined;
  let claim = order.find((each) => (byClaim.get(each)?.length ?? 0) > 0);
  if (claim === undefined) {
    let most = 0;
    for (const [each, { length }] of byClaim) if (length > most) [claim, most] = [each, length];
  }
  return claim === undefined ? undefined : byClaim.get(claim)?.shift();
}
