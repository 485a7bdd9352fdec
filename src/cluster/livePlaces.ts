import { NodeClaimConditions } from '../api/conditionTypes.ts';
import type { Pod } from '../api/kinds.ts';
import { isTerminal, isTerminating } from '../pods/podPredicates.ts';
import type { NodeView } from './nodeView.ts';
import { spreadKey } from './spreadOrder.ts';
import { Turns, type Surroundings } from './turns.ts';
import { Placements, type Place, type PlannedPods } from './placements.ts';

/**
 * Planned places that are still valid: a place ends with its pod, with its node or claim, and some time after its node
 * is up. The cluster reports every pod, node and claim here; loops hold and query places.
 */
export class LivePlaces {
  private readonly surroundings: Surroundings;
  private readonly listeners = new Set<(pod: Pod) => void>();
  private readonly placements = new Placements((pod) => {
    for (const listener of this.listeners) listener(pod);
  });
  /** Order in which the scheduler will try the pods. */
  readonly turns: Turns;
  /** By node key: until when pods are expected. */
  private readonly expected = new Map<string, number>();
  /** When the pod of an open place was first found missing. */
  private readonly vacantSince = new WeakMap<Place, number>();

  constructor(surroundings: Surroundings) {
    this.surroundings = surroundings;
    this.turns = new Turns(surroundings, this.placements);
  }

  /**
   * Records where a plan's pods are to run, so that no second node is bought for them and hints can be written. May
   * include pods of nodes being removed: their successors get the places. A pod's new place replaces its old one.
   * `until`: time in milliseconds since 1970 up to which a pod is left to a node that is up.
   */
  hold(plan: string, planned: readonly PlannedPods[], until: number): void {
    const { targetOf, podNow } = this.surroundings;
    for (const { target: name, pods } of planned) {
      if (pods.length === 0) continue;
      const target = targetOf(name);
      this.expected.set(target, Math.max(until, this.expected.get(target) ?? 0));
      for (const pod of pods) {
        const now = podNow(pod);
        const leaving = Boolean(now?.spec?.nodeName);
        this.placements.hold(plan, target, pod, { until, leaving });
        if (now && leaving && isTerminating(now)) this.placements.depart(pod);
      }
    }
  }

  /** Moves the pod's place to the node or claim of that name. */
  move({ metadata }: Pod, name: string): void {
    const target = this.surroundings.targetOf(name);
    const { uid = '' } = metadata;
    const place = this.placements.placeOf(uid);
    if (place === undefined) return;
    this.expected.set(target, Math.max(place.until, this.expected.get(target) ?? 0));
    this.placements.move(uid, target);
  }

  /** Sets a new end for all places of a plan. */
  keepUntil(plan: string, until: number): void {
    for (const target of this.placements.keepUntil(plan, until)) this.expected.set(target, until);
  }

  /** Releases all remaining places of a plan. */
  release(plan: string): void {
    this.placements.endPlan(plan);
  }

  /**
   * The pod's place on a node that is launching, or that has been up for so short a time that the scheduler may not
   * have used it yet.
   */
  of(pod: Pod, now: number): Place | undefined {
    const place = this.placements.placeOf(pod.metadata.uid ?? '');
    return place && this.stands(place, now) ? place : undefined;
  }

  /** All valid places, by node; removes the others. */
  all(now: number): readonly { readonly view: NodeView; readonly places: readonly Place[] }[] {
    const all: { view: NodeView; places: readonly Place[] }[] = [];
    for (const target of this.placements.targets()) {
      const view = this.surroundings.viewOf(target);
      if (view === undefined || view.deleting) this.placements.endTarget(target);
      else if (isSettled(view, now)) this.placements.expire(target, now);
      const places = this.placements.at(target);
      if (view && places.length > 0) all.push({ view, places });
    }
    return all;
  }

  /** Places on the node or claim of that name, valid or not. */
  on(name: string): readonly Place[] {
    return this.placements.at(this.surroundings.targetOf(name));
  }

  viewOf({ target }: Place): NodeView | undefined {
    return this.surroundings.viewOf(target);
  }

  /** Whether the pod has a place, valid or not. */
  has({ metadata }: Pod): boolean {
    return this.placements.placeOf(metadata.uid ?? '') !== undefined;
  }

  /** Whether other pods have valid places and are not bound yet. */
  areOthersComing(uids: ReadonlySet<string>, now: number): boolean {
    const isComing = (place: Place): boolean =>
      !uids.has(place.pod.metadata.uid ?? '') && this.turns.waits(place) && this.stands(place, now);
    return this.placements.targets().some((target) => this.placements.at(target).some(isComing));
  }

  /** Whether it matters which pod gets which node. */
  get areMixed(): boolean {
    return this.placements.isMixed;
  }

  /** Whether pods have places on nodes that have not joined yet. */
  get areAwaitingNodes(): boolean {
    return this.placements.targets().some((target) => {
      const view = this.surroundings.viewOf(target);
      return view !== undefined && !view.deleting && view.node === undefined;
    });
  }

  /** Whether pods are about to be bound to the node or claim of this name, so that it must not be removed now. */
  isExpecting(name: string, now: number): boolean {
    const target = this.surroundings.targetOf(name);
    return (
      now < (this.expected.get(target) ?? 0) && this.placements.at(target).some((place) => this.isAwaited(place, now))
    );
  }

  /**
   * Calls back with every pod that got another place or lost its place without being bound; the result unsubscribes.
   */
  subscribe(listener: (pod: Pod) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Handles a new or changed pod. `justBound`: it was assigned to its node by this change. */
  onPod(pod: Pod, justBound: boolean): void {
    if (this.placements.size === 0) return;
    const { nodeName } = pod.spec ?? {};
    if (isTerminal(pod)) this.placements.remove(pod);
    else if (nodeName && justBound) this.onBound(pod, this.surroundings.targetOf(nodeName));
    else if (nodeName && isTerminating(pod)) this.placements.depart(pod);
    else if (!nodeName && !isTerminating(pod)) this.placements.appear(pod);
  }

  onPodGone(pod: Pod): void {
    this.placements.remove(pod);
  }

  onTargetGone(target: string): void {
    this.placements.endTarget(target);
    this.expected.delete(target);
  }

  private onBound(pod: Pod, target: string): void {
    const own = this.placements.placeOf(pod.metadata.uid ?? '');
    const sibling = own && own.target !== target ? this.crowdedOut(own, target) : undefined;
    const left = own?.target;
    this.placements.bind(pod, target);
    if (sibling !== undefined && left !== undefined) this.placements.move(sibling.pod.metadata.uid ?? '', left);
  }

  /**
   * A spread pod was bound in another domain than planned: a pod of its kind planned for that domain no longer fits
   * there, but may take the free place.
   */
  private crowdedOut(own: Place, target: string): Place | undefined {
    const key = spreadKey(own.pod);
    if (key === undefined || own.open) return undefined;
    const { podNow, viewOf } = this.surroundings;
    const domainOf = (each: string): string | undefined => viewOf(each)?.labels[key];
    const domain = domainOf(target);
    if (domain === undefined || domain === domainOf(own.target)) return undefined;
    const others = this.placements
      .alike(own)
      .filter((place) => place !== own && this.turns.waits(place) && podNow(place.pod));
    // If they are on the same node, they exchange places.
    if (others.some((place) => place.target === target)) return undefined;
    return others.findLast((place) => domainOf(place.target) === domain);
  }

  /** A successor that does not appear within `SUCCESSION` will not come: the workload has shrunk. */
  private isAwaited(place: Place, now: number): boolean {
    if (!place.open || this.surroundings.podNow(place.pod) !== undefined) {
      this.vacantSince.delete(place);
      return true;
    }
    const since = this.vacantSince.get(place) ?? now;
    this.vacantSince.set(place, since);
    return now - since < SUCCESSION;
  }

  private stands({ target, until }: Place, now: number): boolean {
    const view = this.surroundings.viewOf(target);
    return view !== undefined && !view.deleting && !(isSettled(view, now) && now >= until);
  }
}

/**
 * Milliseconds in which the scheduler should use a node that has come up: it retries a pod that failed before up to ten
 * seconds later. A pod whose room is taken meanwhile is planned again at once.
 */
const SETTLING = 30_000;
/** Milliseconds in which a controller should replace a deleted pod. */
const SUCCESSION = 8_000;

/** Whether the node has been up so long that pods not yet on it will not come. */
function isSettled({ initialized, claim }: NodeView, now: number): boolean {
  if (!initialized) return false;
  const { lastTransitionTime: since } =
    claim?.status?.conditions?.find(({ type }) => type === NodeClaimConditions.initialized) ?? {};
  return since === undefined || now >= Date.parse(since) + SETTLING;
}
