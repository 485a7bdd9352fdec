/** The exact path of a search: places pods one by one, class by class or by name. */
import type { Pod } from '../api/kinds.ts';
import type { Draft, SearchMode } from './draft.ts';
import type { PodClass } from './model/podClass.ts';
import type { PendingPods } from './placement/assignment.ts';
import { followersOf, NO_FOLLOWERS } from './placement/followers.ts';
import { Sequential } from './placement/sequential.ts';

/** Places the pods of the included classes. Once its nodes cost more than `mostDollars`, the rest stays waiting. */
export function placeExactly(
  draft: Draft,
  mode: SearchMode,
  includes: (podClass: PodClass) => boolean,
  mostDollars: number,
): void {
  const { compiled, domains, onExisting, fit, planned, limitLeft, packing } = draft;
  const open = draft.waiting.filter(
    ({ podClass, pods }) => pods.length > 0 && podClass.shape.unsupported === undefined && includes(podClass),
  );
  if (open.length === 0) return;
  const { growth, growthOf, leads, interleaves, settlesOffers } = mode;
  const growsAs = growthOf.size === 0 ? () => growth : ({ id }: PodClass) => growthOf.get(id) ?? growth;
  const followers = leads ? followersOf(compiled.classes) : NO_FOLLOWERS;
  const sequential = new Sequential(
    compiled,
    domains,
    onExisting,
    fit,
    planned,
    limitLeft,
    packing,
    growsAs,
    followers,
    settlesOffers,
    // Nodes that start with the largest type cost too much until they are shrunk.
    growth === 'largest' ? Number.POSITIVE_INFINITY : mostDollars,
  );
  const placeAll = interleaves ? placePodByPod : placeClassByClass;
  placeAll(sequential, open, mode);
  if (growth !== 'largest') return;
  sequential.shrink();
  // Shrinking the nodes frees limits for more pods.
  placeAll(sequential, open, mode);
  sequential.shrink();
}

function placeClassByClass(sequential: Sequential, open: readonly PendingPods[]): void {
  let hopeful = open;
  for (let progress = true; progress; hopeful = hopeful.filter(({ podClass }) => mayFindCompany(podClass))) {
    progress = false;
    for (const { podClass, pods } of hopeful) {
      const refused = pods.findIndex((pod) => !sequential.place(podClass, pod));
      const done = refused < 0 ? pods.length : refused;
      pods.splice(0, done);
      progress ||= done > 0;
    }
  }
}

function placePodByPod(sequential: Sequential, open: readonly PendingPods[], { rank }: SearchMode): void {
  let hopeful = open
    .flatMap(({ podClass, pods }) => pods.map((pod) => ({ podClass, pod })))
    .sort((left, right) => rank(left.podClass) - rank(right.podClass) || compareNames(left.pod, right.pod));
  const placed = new Set<Pod>();
  for (let before = -1; placed.size > before; hopeful = hopeful.filter(({ podClass }) => mayFindCompany(podClass))) {
    before = placed.size;
    hopeful = hopeful.filter(({ podClass, pod }) => {
      const isPlaced = sequential.place(podClass, pod);
      if (isPlaced) placed.add(pod);
      return !isPlaced;
    });
  }
  for (const { pods } of open) {
    const left = pods.filter((pod) => !placed.has(pod));
    pods.splice(0, pods.length, ...left);
  }
}

function compareNames({ metadata: { name: left } }: Pod, { metadata: { name: right } }: Pod): number {
  return left === right ? 0 : left < right ? -1 : 1;
}

/** Room only shrinks, but pods placed later may satisfy an affinity or even out a spread. */
function mayFindCompany({ variants }: PodClass): boolean {
  return variants.some(({ domain, hostAffinity }) => domain.length > 0 || hostAffinity.length > 0);
}
