/**
 * Where planned pods are to run: places on existing or launching nodes. A plan (of provisioning or disruption) holds
 * one place per pod. A place is for a kind of pod, not for a name: when an evicted pod is replaced, the next pod of its
 * kind takes the place, and a pod bound where another of its kind was expected exchanges places with it. Does not track
 * time or nodes: the owner decides whether a place is still valid.
 */
import type { Pod } from '../api/kinds.ts';
import { podKind } from '../pods/podKind.ts';
import type { Solution } from '../solver/problem.ts';

/** One pod's place. */
export interface Place {
  readonly plan: string;
  /** Key of the node or claim (see `Cluster.hold`). */
  readonly target: string;
  /** Until when the pod is left to its node once that node is up. */
  readonly until: number;
  /** The pod that has the place; for an open place, the pod it was planned for. As planned: without a node. */
  readonly pod: Pod;
  /** The pod it was planned for is leaving or gone; the next pod of its kind takes the place. */
  readonly open: boolean;
  /** Planned for a pod on a node that is being removed. */
  readonly moved: boolean;
}

/** Pods of a plan, and the name of their node or claim. */
export interface PlannedPods {
  readonly target: string;
  readonly pods: readonly Pod[];
}

/** The places of a solution. `claims` are the names of the NodeClaims of its planned nodes, in the same order. */
export function plannedPods(
  solution: Pick<Solution, 'onExisting' | 'plannedNodes'>,
  podOf: (key: string) => Pod,
  claims: readonly (string | undefined)[],
): readonly PlannedPods[] {
  return [
    ...solution.onExisting.map(({ node, pods }) => ({ target: node, pods: pods.map(podOf) })),
    ...solution.plannedNodes.flatMap(({ pods }, at) => {
      const target = claims[at];
      return target === undefined ? [] : [{ target, pods: pods.map(podOf) }];
    }),
  ];
}

interface Held {
  readonly plan: string;
  target: string;
  until: number;
  readonly kind: string;
  readonly shape: string;
  pod: Pod;
  /** The pod still runs elsewhere, on a node being removed. */
  leaving: boolean;
  open: boolean;
  readonly moved: boolean;
}

export class Placements {
  private readonly byPod = new Map<string, Held>();
  private readonly byTarget = new Map<string, Set<Held>>();
  private readonly byPlan = new Map<string, Set<Held>>();
  private readonly openByKind = new Map<string, Set<Held>>();
  private readonly shapes = new Map<string, number>();
  private readonly onChange: (pod: Pod) => void;

  /** `onChange` is called with every pod that got another place or lost its place without being bound. */
  constructor(onChange: (pod: Pod) => void = () => undefined) {
    this.onChange = onChange;
  }

  get size(): number {
    return this.byPod.size;
  }

  get hasOpen(): boolean {
    return this.openByKind.size > 0;
  }

  /** Whether it matters which pod gets which node: identical pods fill the nodes in any order. */
  get isMixed(): boolean {
    return this.shapes.size > 1 && this.byTarget.size > 1;
  }

  /** Gives the pod a place in place of its current one. `leaving`: it runs on a node being removed. */
  hold(plan: string, target: string, pod: Pod, options: { readonly until: number; readonly leaving?: boolean }): void {
    const { uid } = pod.metadata;
    if (uid === undefined) return;
    const before = this.byPod.get(uid);
    if (before !== undefined) this.discard(before);
    const { kind, shape } = podKind(pod);
    const { until, leaving = false } = options;
    const held: Held = { plan, target, until, kind, shape, pod, leaving, open: false, moved: leaving };
    this.byPod.set(uid, held);
    file(this.byTarget, target, held);
    file(this.byPlan, plan, held);
    this.shapes.set(shape, (this.shapes.get(shape) ?? 0) + 1);
    this.onChange(pod);
  }

  placeOf(podUid: string): Place | undefined {
    return this.byPod.get(podUid);
  }

  at(target: string): readonly Place[] {
    return [...(this.byTarget.get(target) ?? [])];
  }

  /** All places of the same plan and kind, including this one. */
  alike({ plan, pod }: Place): readonly Place[] {
    const { kind } = podKind(pod);
    return [...(this.byPlan.get(plan) ?? [])].filter((held) => held.kind === kind);
  }

  targets(): readonly string[] {
    return [...this.byTarget.keys()];
  }

  /** A pod without a node takes the next open place of its kind, unless it has one. */
  appear(pod: Pod): void {
    const { uid } = pod.metadata;
    if (uid === undefined || this.openByKind.size === 0 || this.byPod.has(uid)) return;
    const [open] = this.openByKind.get(podKind(pod).kind) ?? [];
    if (open === undefined) return;
    this.byPod.delete(open.pod.metadata.uid ?? '');
    unfile(this.openByKind, open.kind, open);
    Object.assign(open, { pod, leaving: false, open: false });
    this.byPod.set(uid, open);
    this.onChange(pod);
  }

  /** The pod is leaving its node or has left it: its successor may take its place. */
  depart(pod: Pod): void {
    const held = this.byPod.get(pod.metadata.uid ?? '');
    if (held === undefined || !held.leaving || held.open || !podKind(held.pod).replaced) return;
    held.open = true;
    file(this.openByKind, held.kind, held);
  }

  /** The pod is gone. The place of a pod that never ran ends with it. */
  remove(pod: Pod): void {
    const held = this.byPod.get(pod.metadata.uid ?? '');
    if (held === undefined || held.open) return;
    this.depart(pod);
    if (!held.open) this.discard(held);
  }

  /** The pod was bound: its own place, or one for another pod of its kind, is used up. */
  bind(pod: Pod, target: string): void {
    const own = this.byPod.get(pod.metadata.uid ?? '');
    if (own?.leaving) return;
    if (own?.target === target) return this.discard(own);
    const taken = this.placeOfKind(target, podKind(pod).kind);
    if (own === undefined) {
      if (taken !== undefined) this.end(taken);
    } else if (taken === undefined) this.discard(own);
    else this.exchange(own, taken);
  }

  /** Moves the pod's place to another node. */
  move(podUid: string, target: string): void {
    const held = this.byPod.get(podUid);
    if (held === undefined || held.target === target) return;
    unfile(this.byTarget, held.target, held);
    held.target = target;
    file(this.byTarget, target, held);
    this.onChange(held.pod);
  }

  /** Reassigns places of one kind to other pods of that kind: place `i` to pod `i`. */
  exchangeAll(places: readonly Place[], pods: readonly Pod[]): void {
    const held = places.map(({ pod }) => this.byPod.get(pod.metadata.uid ?? ''));
    for (const [at, pod] of pods.entries()) {
      const own = held[at];
      if (own === undefined || own.pod.metadata.uid === pod.metadata.uid) continue;
      own.pod = pod;
      this.byPod.set(pod.metadata.uid ?? '', own);
      this.onChange(pod);
    }
  }

  /** Sets a new end for all places of a plan. Returns their targets. */
  keepUntil(plan: string, until: number): readonly string[] {
    const held = [...(this.byPlan.get(plan) ?? [])];
    for (const each of held) each.until = until;
    return [...new Set(held.map(({ target }) => target))];
  }

  endTarget(target: string): void {
    for (const held of this.byTarget.get(target) ?? []) this.end(held);
  }

  endPlan(plan: string): void {
    for (const held of this.byPlan.get(plan) ?? []) this.end(held);
  }

  /** Ends expired places on a target. */
  expire(target: string, now: number): void {
    for (const held of this.byTarget.get(target) ?? []) if (now >= held.until) this.end(held);
  }

  /** The pod of `own` was bound in the place `taken`: the pod of `taken` gets the place `own`. */
  private exchange(own: Held, taken: Held): void {
    const { pod, leaving, open } = taken;
    this.discard(taken);
    this.byPod.delete(own.pod.metadata.uid ?? '');
    Object.assign(own, { pod, leaving, open });
    this.byPod.set(pod.metadata.uid ?? '', own);
    if (open) file(this.openByKind, own.kind, own);
    this.onChange(pod);
  }

  /** A place of the kind; if possible one for which no pod waits. */
  private placeOfKind(target: string, kind: string): Held | undefined {
    let found: Held | undefined;
    for (const held of this.byTarget.get(target) ?? []) {
      if (held.kind !== kind) continue;
      if (held.open) return held;
      if (found === undefined || held.leaving) found = held;
    }
    return found;
  }

  private end(held: Held): void {
    this.discard(held);
    if (!held.open) this.onChange(held.pod);
  }

  private discard(held: Held): void {
    this.byPod.delete(held.pod.metadata.uid ?? '');
    unfile(this.byTarget, held.target, held);
    unfile(this.byPlan, held.plan, held);
    if (held.open) unfile(this.openByKind, held.kind, held);
    const left = (this.shapes.get(held.shape) ?? 1) - 1;
    if (left === 0) this.shapes.delete(held.shape);
    else this.shapes.set(held.shape, left);
  }
}

function file(shelves: Map<string, Set<Held>>, shelf: string, held: Held): void {
  const known = shelves.get(shelf);
  if (known === undefined) shelves.set(shelf, new Set([held]));
  else known.add(held);
}

function unfile(shelves: Map<string, Set<Held>>, shelf: string, held: Held): void {
  const known = shelves.get(shelf);
  known?.delete(held);
  if (known?.size === 0) shelves.delete(shelf);
}
