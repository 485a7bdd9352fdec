import { podKey } from '../pods/podKey.ts';
import type { DaemonSet, Pod } from '../api/kinds.ts';
import { controllerOf } from '../pods/podKind.ts';
import { isActive, isDaemonPod, isHeldBack, isProvisionable, isTerminal } from '../pods/podPredicates.ts';
import { SortedValues } from './sortedValues.ts';

const NO_PODS: ReadonlyMap<string, Pod> = new Map();

/**
 * All pods, by node, by controller and by DaemonSet, and those that the scheduler could not place. `onChange` is called
 * with every node whose pods changed.
 */
export class PodBindings {
  private readonly pods = new Map<string, Pod>();
  private readonly byNode = new Map<string, Map<string, Pod>>();
  private readonly byController = new Map<string, Map<string, Pod>>();
  /** By key: increasing numbers in order of arrival. */
  private readonly arrivals = new Map<string, number>();
  private arrived = 0;
  private readonly waiting = new SortedValues<Pod>();
  /** By key: pods that wait, and that no plan counts. */
  private readonly heldBack = new Map<string, Pod>();
  /** Keys of pods that the scheduler may be about to bind. */
  private readonly bindable = new Set<string>();
  /** By the UID of the DaemonSet. */
  private readonly byDaemonSet = new Map<string, Map<string, Pod>>();
  /** By the UID of the DaemonSet: its newest pod, if known. */
  private readonly newest = new Map<string, Pod>();
  private readonly onChange: (nodeName: string) => void;

  constructor(onChange: (nodeName: string) => void) {
    this.onChange = onChange;
  }

  /** By `podKey`. */
  get(key: string): Pod | undefined {
    return this.pods.get(key);
  }

  set(pod: Pod): void {
    const key = podKey(pod);
    const old = this.pods.get(key);
    // A pod of the same name may have been created on another node before this deletion is known.
    if (old !== undefined) this.unfile(key, old, pod);
    else this.arrivals.set(key, ++this.arrived);
    this.pods.set(key, pod);
    const controller = controllerOf(pod);
    if (controller !== undefined) file(this.byController, controller, key, pod);
    const nodeName = pod.spec?.nodeName;
    if (nodeName) {
      file(this.byNode, nodeName, key, pod);
      this.onChange(nodeName);
    }
    const daemonSet = daemonSetOf(pod);
    if (daemonSet !== undefined) {
      file(this.byDaemonSet, daemonSet, key, pod);
      const newest = this.newest.get(daemonSet);
      if (newest !== undefined && isNewer(pod, newest)) this.newest.set(daemonSet, pod);
    }
    if (isHeldBack(pod)) this.heldBack.set(key, pod);
    else this.heldBack.delete(key);
    if (mayBeBound(pod)) this.bindable.add(key);
    else this.bindable.delete(key);
    const wasWaiting = old !== undefined && isProvisionable(old);
    const waits = isProvisionable(pod);
    if (waits) this.waiting.set(key, pod);
    else if (wasWaiting) this.waiting.delete(key);
  }

  remove(key: string): void {
    const old = this.pods.get(key);
    if (old === undefined) return;
    this.unfile(key, old);
    if (isProvisionable(old)) this.waiting.delete(key);
    this.heldBack.delete(key);
    this.bindable.delete(key);
    this.pods.delete(key);
    this.arrivals.delete(key);
  }

  /** Sorted by namespace and name, as all lists here: decisions must not depend on the order of arrival. */
  on(nodeName: string): readonly Pod[] {
    const pods = this.byNode.get(nodeName);
    if (pods === undefined) return [];
    return [...pods].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, pod]) => pod);
  }

  /** These pods in order of arrival, which is roughly the order in which the scheduler tries them. */
  byArrival(pods: readonly Pod[]): readonly Pod[] {
    const arrivalOf = (pod: Pod): number => this.arrivals.get(podKey(pod)) ?? 0;
    return pods.filter((pod) => arrivalOf(pod) > 0).sort((left, right) => arrivalOf(left) - arrivalOf(right));
  }

  /** Bound pods of these controllers. */
  boundOf(controllers: ReadonlySet<string>): readonly Pod[] {
    return [...controllers].flatMap((controller) =>
      [...(this.byController.get(controller) ?? NO_PODS).values()].filter(
        (pod) => pod.spec?.nodeName && !isTerminal(pod),
      ),
    );
  }

  /** Whether the scheduler may be about to bind some pod. */
  get areBindable(): boolean {
    return this.bindable.size > 0;
  }

  pending(): readonly Pod[] {
    return this.waiting.values();
  }

  held(): readonly Pod[] {
    return [...this.heldBack.values()];
  }

  /** The pod that a DaemonSet actually runs; admission may have changed it from the template. */
  newestOf({ metadata }: DaemonSet): Pod | undefined {
    const uid = metadata.uid ?? '';
    let newest = this.newest.get(uid);
    if (newest !== undefined) return newest;
    for (const pod of (this.byDaemonSet.get(uid) ?? NO_PODS).values()) {
      if (newest === undefined || isNewer(pod, newest)) newest = pod;
    }
    if (newest !== undefined) this.newest.set(uid, newest);
    return newest;
  }

  /** Removes `old` from the indexes that its successor `next`, if any, will not be in. */
  private unfile(key: string, old: Pod, next?: Pod): void {
    const nodeName = old.spec?.nodeName;
    if (nodeName && nodeName !== next?.spec?.nodeName) {
      unfile(this.byNode, nodeName, key);
      this.onChange(nodeName);
    }
    const controller = controllerOf(old);
    if (controller !== undefined && controller !== (next && controllerOf(next))) {
      unfile(this.byController, controller, key);
    }
    const daemonSet = daemonSetOf(old);
    if (daemonSet !== undefined && this.newest.get(daemonSet) === old) {
      // A status change keeps the pod the newest; when it is deleted, the next newest is searched on demand.
      if (next && daemonSetOf(next) === daemonSet && !isNewer(old, next)) this.newest.set(daemonSet, next);
      else this.newest.delete(daemonSet);
    }
    if (daemonSet !== undefined && daemonSet !== (next && daemonSetOf(next))) unfile(this.byDaemonSet, daemonSet, key);
  }
}

const daemonSetOf = (pod: Pod): string | undefined =>
  isDaemonPod(pod) ? pod.metadata.ownerReferences?.[0]?.uid : undefined;

function isNewer(left: Pod, right: Pod): boolean {
  const age = (left.metadata.creationTimestamp ?? '').localeCompare(right.metadata.creationTimestamp ?? '');
  return age > 0 || (age === 0 && podKey(left) > podKey(right));
}

const mayBeBound = (pod: Pod): boolean =>
  !pod.spec?.nodeName && isActive(pod) && (pod.spec?.schedulingGates ?? []).length === 0;

function file(shelves: Map<string, Map<string, Pod>>, shelf: string, key: string, pod: Pod): void {
  const pods = shelves.get(shelf);
  if (pods === undefined) shelves.set(shelf, new Map([[key, pod]]));
  else pods.set(key, pod);
}

function unfile(shelves: Map<string, Map<string, Pod>>, shelf: string, key: string): void {
  const pods = shelves.get(shelf);
  pods?.delete(key);
  if (pods?.size === 0) shelves.delete(shelf);
}
