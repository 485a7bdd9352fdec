import type { Pod } from '../../api/kinds.ts';
import type { LivePlaces } from '../../cluster/livePlaces.ts';
import type { PlannedNode, Solution } from '../../solver/problem.ts';

/** Milliseconds for which a pod stays without a new node because others are still being bound. */
const LONGEST = 10_000;

/** What to buy now, and whether that is everything planned. */
export interface Look {
  readonly solution: Solution;
  readonly isOver: boolean;
}

/**
 * A pod whose place was taken by another does not get a new node at once: while other planned pods are still being
 * bound, places are exchanged, and the place of the other pod may fit it. What remains is then bought in one round
 * instead of pod by pod.
 */
export class SecondLook {
  private readonly places: LivePlaces;
  /** By UID: when a pod first had no node, kept until it is bound, even if it finds another place in between. */
  private since: ReadonlyMap<string, { readonly pod: Pod; readonly at: number }> = new Map();

  constructor(places: LivePlaces) {
    this.places = places;
  }

  /** The solution without nodes that need not be bought yet. */
  at(solution: Solution, podOf: (key: string) => Pod, now: number): Look {
    const deferred = this.deferred(solution.plannedNodes, podOf, now);
    if (deferred.size === 0) return { solution, isOver: true };
    const plannedNodes = solution.plannedNodes.filter((node) => !deferred.has(node));
    return { solution: { ...solution, plannedNodes, pricePerHour: priceOf(plannedNodes) }, isOver: false };
  }

  /** Nodes only for pods that lost their places recently. */
  private deferred(nodes: readonly PlannedNode[], podOf: (key: string) => Pod, now: number): ReadonlySet<PlannedNode> {
    const late = nodes
      .map((node) => ({ node, pods: node.pods.map(podOf) }))
      .filter(({ pods }) => pods.length > 0 && pods.every((pod) => this.places.has(pod)));
    const lost = late.flatMap(({ pods }) => pods.map((pod) => [pod.metadata.uid ?? '', { pod, at: now }] as const));
    const known = [...this.since].filter(([, { pod }]) => this.places.has(pod));
    this.since = new Map([...lost, ...known]);
    const uids = new Set(lost.map(([uid]) => uid));
    if (lost.length === 0 || !this.places.areOthersComing(uids, now)) return new Set();
    const isEarly = ({ metadata }: Pod): boolean => now < (this.since.get(metadata.uid ?? '')?.at ?? 0) + LONGEST;
    return new Set(late.filter(({ pods }) => pods.every(isEarly)).map(({ node }) => node));
  }
}

/** Dollars per hour at the first alternative of each node. */
export const priceOf = (nodes: readonly PlannedNode[]): number =>
  nodes.reduce((sum, { alternatives }) => sum + (alternatives[0]?.pricePerHour ?? 0), 0);
