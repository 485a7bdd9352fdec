/**
 * What becomes of one what-if about many nodes: the parts of it that can be carried out each by itself. Two nodes belong
 * together when a new node takes pods of both.
 */
import { podKey } from '../pods/podKey.ts';
import type { PlannedNode, Solution } from '../solver/problem.ts';
import type { Candidate } from './candidate.ts';
import { byName } from './order.ts';

export interface Part {
  /** In order of name. */
  readonly candidates: readonly Candidate[];
  readonly plannedNodes: readonly PlannedNode[];
  readonly onExisting: Solution['onExisting'];
  /** Pods of these candidates that have no place. */
  readonly unplaced: Solution['unplaced'];
}

export function partsOf(without: readonly Candidate[], solution: Solution): readonly Part[] {
  const owner = new Map<string, number>();
  without.forEach(({ movable }, at) => {
    for (const pod of movable) owner.set(podKey(pod), at);
  });
  const groups = new Groups(without.length);
  let isDisplaced = solution.unplaced.some(({ pod }) => !owner.has(pod));
  const firstOf = solution.plannedNodes.map(({ pods }) => {
    const owners = pods.flatMap((pod) => owner.get(pod) ?? []);
    isDisplaced ||= owners.length < pods.length;
    for (const each of owners) groups.join(owners[0] ?? each, each);
    return owners[0];
  });
  // A pod that waits has lost its room to one of the candidates' pods: to which of them cannot be told.
  if (isDisplaced) for (let at = 1; at < without.length; at++) groups.join(0, at);
  const belongs = (pod: string, group: number): boolean => {
    const at = owner.get(pod);
    return at === undefined ? isDisplaced : groups.of(at) === group;
  };
  return groups.all().map((members) => {
    const group = groups.of(members[0] ?? 0);
    return {
      candidates: members.flatMap((at) => without[at] ?? []).sort(byName),
      plannedNodes: solution.plannedNodes.filter((_, at) => {
        const first = firstOf[at];
        return first === undefined ? isDisplaced : groups.of(first) === group;
      }),
      onExisting: solution.onExisting.flatMap(({ node, pods }) => {
        const own = pods.filter((pod) => owner.has(pod) && belongs(pod, group));
        return own.length === 0 ? [] : [{ node, pods: own }];
      }),
      unplaced: solution.unplaced.filter(({ pod }) => belongs(pod, group)),
    };
  });
}

/** Disjoint sets of numbers below a size. */
class Groups {
  private readonly parent: number[];

  constructor(size: number) {
    this.parent = Array.from({ length: size }, (_, at) => at);
  }

  of(at: number): number {
    let root = at;
    while (this.parent[root] !== root) root = this.parent[root] ?? root;
    this.parent[at] = root;
    return root;
  }

  join(left: number, right: number): void {
    const [one, other] = [this.of(left), this.of(right)];
    this.parent[Math.max(one, other)] = Math.min(one, other);
  }

  /** In order of the smallest member. */
  all(): readonly (readonly number[])[] {
    const members = new Map<number, number[]>();
    this.parent.forEach((_, at) => {
      const root = this.of(at);
      const known = members.get(root);
      if (known === undefined) members.set(root, [at]);
      else known.push(at);
    });
    return [...members.values()];
  }
}
