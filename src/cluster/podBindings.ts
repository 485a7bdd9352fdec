import { podKey } from '../pods/podKey.ts';
import type { DaemonSet, Pod } from '../api/kinds.ts';
import { isDaemonPod, isProvisionable } from '../pods/podPredicates.ts';

const NO_PODS: ReadonlyMap<string, Pod> = new Map();

/**
 * Where pods are. In: pods as they come, change and go. Out: the pods of a node, those without one that nobody could
 * place, and the newest pod of each DaemonSet. `onChange` hears of every node whose pods changed.
 */
export class PodBindings {
  private readonly byNode = new Map<string, Map<string, Pod>>();
  private readonly nodeByPod = new Map<string, string>();
  private readonly waiting = new Map<string, Pod>();
  /** By the UID of the DaemonSet. */
  private readonly byDaemonSet = new Map<string, Map<string, Pod>>();
  private readonly daemonSetByPod = new Map<string, string>();
  private readonly onChange: (nodeName: string) => void;

  constructor(onChange: (nodeName: string) => void) {
    this.onChange = onChange;
  }

  /** True when the pod has just found its node. */
  set(pod: Pod): boolean {
    const key = podKey(pod);
    const wasPending = this.waiting.has(key);
    const nodeName = pod.spec?.nodeName;
    // A pod of the same name may have come up elsewhere before we heard of the end of this one.
    if (this.nodeByPod.get(key) !== nodeName) this.unbind(key);
    if (nodeName) {
      file(this.byNode, nodeName, key, pod);
      this.nodeByPod.set(key, nodeName);
      this.onChange(nodeName);
    }
    if (isProvisionable(pod)) this.waiting.set(key, pod);
    else this.waiting.delete(key);
    const daemonSet = isDaemonPod(pod) ? pod.metadata.ownerReferences?.[0]?.uid : undefined;
    if (this.daemonSetByPod.get(key) !== daemonSet) this.forgetDaemon(key);
    if (daemonSet !== undefined) {
      file(this.byDaemonSet, daemonSet, key, pod);
      this.daemonSetByPod.set(key, daemonSet);
    }
    return wasPending && nodeName !== undefined;
  }

  remove(pod: Pod): void {
    const key = podKey(pod);
    this.unbind(key);
    this.waiting.delete(key);
    this.forgetDaemon(key);
  }

  /** In order of namespace and name, as all lists here: what is decided must not depend on who came first. */
  on(nodeName: string): readonly Pod[] {
    return inOrder(this.byNode.get(nodeName) ?? NO_PODS);
  }

  pending(): readonly Pod[] {
    return inOrder(this.waiting);
  }

  /** What a DaemonSet really runs, which admission may have made different from its template. */
  newestOf({ metadata }: DaemonSet): Pod | undefined {
    let newest: Pod | undefined;
    for (const pod of (this.byDaemonSet.get(metadata.uid ?? '') ?? NO_PODS).values()) {
      if (newest === undefined || isNewer(pod, newest)) newest = pod;
    }
    return newest;
  }

  private unbind(key: string): void {
    const nodeName = this.nodeByPod.get(key);
    if (nodeName === undefined) return;
    this.nodeByPod.delete(key);
    unfile(this.byNode, nodeName, key);
    this.onChange(nodeName);
  }

  private forgetDaemon(key: string): void {
    const daemonSet = this.daemonSetByPod.get(key);
    if (daemonSet === undefined) return;
    this.daemonSetByPod.delete(key);
    unfile(this.byDaemonSet, daemonSet, key);
  }
}

function inOrder(pods: ReadonlyMap<string, Pod>): readonly Pod[] {
  return [...pods].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, pod]) => pod);
}

function isNewer(left: Pod, right: Pod): boolean {
  const age = (left.metadata.creationTimestamp ?? '').localeCompare(right.metadata.creationTimestamp ?? '');
  return age > 0 || (age === 0 && podKey(left) > podKey(right));
}

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
