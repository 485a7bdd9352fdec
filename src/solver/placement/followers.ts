/**
 * Pods with affinity to other pods, indexed by those others: the place of the first decides whether the second can run.
 */
import type { PodClass, Variant } from '../model/podClass.ts';
import { itemAt } from '../rows.ts';

interface Follower {
  readonly podClass: PodClass;
  /** With its preferences dropped. */
  readonly variant: Variant;
}

/** By class: classes with affinity to its pods. */
export type Followers = ReadonlyMap<PodClass, readonly Follower[]>;

export const NO_FOLLOWERS: Followers = new Map();

export function followersOf(classes: readonly PodClass[]): Followers {
  const all = classes.map((podClass) => ({
    podClass,
    variant: itemAt(podClass.variants, podClass.variants.length - 1),
  }));
  const looking = all.filter(({ variant }) => variant.hasAffinity);
  if (looking.length === 0) return NO_FOLLOWERS;
  const found = new Map<PodClass, readonly Follower[]>();
  for (const leader of all) {
    const own = looking.filter((each) => each.podClass !== leader.podClass && looksFor(each.variant, leader));
    if (own.length > 0) found.set(leader.podClass, own);
  }
  return found;
}

function looksFor({ domain, hostAffinity }: Variant, { podClass, variant }: Follower): boolean {
  return (
    hostAffinity.some(({ counter }) => podClass.hostAdds.includes(counter)) ||
    domain.some(({ kind, counter }) => kind === 'affinity' && variant.domainAdds.includes(counter))
  );
}
