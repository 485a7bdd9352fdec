/**
 * The kinds of pods for which a NodeClaim was created, as an annotation of the claim: `kind=count`, separated by
 * commas. A restarted controller restores the places of its plans from it.
 */
import type { Pod } from '../api/kinds.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { Annotations } from '../api/labels.ts';
import { podKind } from '../pods/podKind.ts';
import type { NodeView } from './nodeView.ts';
import type { PlannedPods } from './placements.ts';

export function formatPlannedKinds(pods: readonly Pod[]): string {
  return [...countKinds(pods)].map(([kind, count]) => `${kind}=${count}`).join(',');
}

function parsePlannedKinds({ metadata }: NodeClaim): ReadonlyMap<string, number> {
  const kinds = new Map<string, number>();
  for (const entry of (metadata.annotations?.[Annotations.plannedPods] ?? '').split(',')) {
    const at = entry.lastIndexOf('=');
    const count = Number(entry.slice(at + 1));
    if (at > 0 && Number.isInteger(count) && count > 0) kinds.set(entry.slice(0, at), count);
  }
  return kinds;
}

/** Number of pods for which the claim was created. */
export function plannedPodCount(claim: NodeClaim): number {
  return [...parsePlannedKinds(claim).values()].reduce((sum, count) => sum + count, 0);
}

function countKinds(pods: readonly Pod[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const pod of pods) {
    const { kind } = podKind(pod);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

/** Assigns the pods that need a place to the launching nodes that were bought for their kinds. */
export function restoredPlaces(views: readonly NodeView[], pods: readonly Pod[]): readonly PlannedPods[] {
  const byKind = new Map<string, Pod[]>();
  for (const pod of pods) {
    const { kind } = podKind(pod);
    byKind.set(kind, [...(byKind.get(kind) ?? []), pod]);
  }
  return views.flatMap(({ claim, initialized, deleting, pods: present }) => {
    if (claim === undefined || initialized || deleting) return [];
    const there = countKinds(present);
    const own = [...parsePlannedKinds(claim)].flatMap(([kind, count]) =>
      (byKind.get(kind) ?? []).splice(0, Math.max(0, count - (there.get(kind) ?? 0))),
    );
    return own.length === 0 ? [] : [{ target: claim.metadata.name, pods: own }];
  });
}
