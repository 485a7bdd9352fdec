/**
 * Splits one what-if about many nodes into parts that can be executed independently. Two nodes belong together when a
 * new node takes pods of both.
 */
import { podKey } from '../pods/podKey.ts';
import type { PlannedNode, Solution } from '../solver/problem.ts';
import type { Candidate } from './candidate.ts';
import { byName } from './order.ts';

export interface Part {
  /** Sorted by name. */
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
  // A waiting pod lost its room to one of the candidates' pods, but not to a known one: join all.
  if (isDisplaced) for (let at = 1; at < without.length; at++) groups.join(0, at);
  const members = groups.all();
  const parts = members.map((own): MutablePart => {
    const candidates = own.flatMap((at) => without[at] ?? []).sort(byName);
    return { candidates, plannedNodes: [], onExisting: [], unplaced: [] };
  });
  const partOf = new Map(members.map((own, at) => [groups.of(own[0] ?? 0), parts[at]]));
  const displaced = isDisplaced ? parts[0] : undefined;
  const ownPart = (at: number | undefined): MutablePart | undefined =>
    at === undefined ? displaced : partOf.get(groups.of(at));
  solution.plannedNodes.forEach((plan, at) => ownPart(firstOf[at])?.plannedNodes.push(plan));
  for (const { node, pods } of solution.onExisting) {
    const own = new Map<MutablePart, string[]>();
    for (const pod of pods) {
      const at = owner.get(pod);
      const part = at === undefined ? undefined : ownPart(at);
      if (part === undefined) continue;
      const known = own.get(part);
      if (known === undefined) own.set(part, [pod]);
      else known.push(pod);
    }
    for (const [part, ownPods] of own) part.onExisting.push({ node, pods: ownPods });
  }
  for (const each of solution.unplaced) ownPart(owner.get(each.pod))?.unplaced.push(each);
  return parts;
}

/** A part under construction. */
interface MutablePart extends Part {
  readonly plannedNodes: PlannedNode[];
  readonly onExisting: Solution['onExisting'][number][];
  readonly unplaced: Solution['unplaced'][number][];
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

  /** Sorted by the smallest member. */
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
