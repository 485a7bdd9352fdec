import type { DaemonSet, Node, Pod } from '../api/kinds.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { nodeView, type NodeView } from './nodeView.ts';
import { isProvisionable, podKey } from './podPredicates.ts';

/** The cluster at one moment. Immutable; two snapshots share everything that did not change between them. */
export interface ClusterSnapshot {
  /** Machines, ready or on their way, in order of name. */
  readonly nodes: readonly NodeView[];
  /** Pods that the scheduler could not place, in order of namespace and name. */
  readonly pendingPods: readonly Pod[];
  readonly daemonSets: readonly DaemonSet[];
}

interface MachinePromise {
  readonly claim: string;
  /** Until when the pod is left to its machine, once that machine is up. */
  readonly until: number;
}

/**
 * The in-memory picture, kept from watch events in time proportional to each change. In: objects as they come and
 * go, and what the provisioner has promised to whom. Out: snapshots.
 */
export class Cluster {
  readonly #nodes = new Map<string, Node>();
  readonly #claims = new Map<string, NodeClaim>();
  readonly #nodeByProviderID = new Map<string, string>();
  readonly #claimByProviderID = new Map<string, string>();
  readonly #podsByNode = new Map<string, Map<string, Pod>>();
  readonly #nodeByPod = new Map<string, string>();
  readonly #pending = new Map<string, Pod>();
  readonly #daemonSets = new Map<string, DaemonSet>();
  readonly #promises = new Map<string, MachinePromise>();
  readonly #views = new Map<string, NodeView>();
  #snapshot: ClusterSnapshot | undefined;

  setNode(node: Node): void {
    const { name } = node.metadata;
    this.#touchNode(name);
    this.#nodes.set(name, node);
    if (node.spec?.providerID) this.#nodeByProviderID.set(node.spec.providerID, name);
    this.#touchNode(name);
  }

  removeNode(name: string): void {
    const node = this.#nodes.get(name);
    if (node === undefined) return;
    this.#touchNode(name);
    this.#nodes.delete(name);
    const { providerID } = node.spec ?? {};
    if (providerID && this.#nodeByProviderID.get(providerID) === name) this.#nodeByProviderID.delete(providerID);
  }

  setClaim(claim: NodeClaim): void {
    const { name } = claim.metadata;
    const known = this.#claims.get(name);
    if (known && isOlder(claim, known)) return;
    this.#touchClaim(name);
    this.#claims.set(name, claim);
    if (claim.status?.providerID) this.#claimByProviderID.set(claim.status.providerID, name);
    this.#touchClaim(name);
  }

  removeClaim(name: string): void {
    const claim = this.#claims.get(name);
    if (claim === undefined) return;
    this.#touchClaim(name);
    this.#claims.delete(name);
    const { providerID } = claim.status ?? {};
    if (providerID && this.#claimByProviderID.get(providerID) === name) this.#claimByProviderID.delete(providerID);
    for (const [uid, promise] of this.#promises) if (promise.claim === name) this.#promises.delete(uid);
  }

  setPod(pod: Pod): void {
    const key = podKey(pod);
    this.#unbind(key);
    const nodeName = pod.spec?.nodeName;
    if (nodeName) {
      const pods = this.#podsByNode.get(nodeName) ?? new Map<string, Pod>();
      this.#podsByNode.set(nodeName, pods.set(key, pod));
      this.#nodeByPod.set(key, nodeName);
      this.#touchNode(nodeName);
      this.#promises.delete(pod.metadata.uid ?? '');
    }
    if (isProvisionable(pod)) this.#pending.set(key, pod);
    else this.#pending.delete(key);
    this.#snapshot = undefined;
  }

  removePod(pod: Pod): void {
    const key = podKey(pod);
    this.#unbind(key);
    this.#pending.delete(key);
    this.#promises.delete(pod.metadata.uid ?? '');
    this.#snapshot = undefined;
  }

  setDaemonSet(daemonSet: DaemonSet): void {
    this.#daemonSets.set(daemonSetKey(daemonSet), daemonSet);
    this.#snapshot = undefined;
  }

  removeDaemonSet(daemonSet: DaemonSet): void {
    this.#daemonSets.delete(daemonSetKey(daemonSet));
    this.#snapshot = undefined;
  }

  /** Records that `pods` wait for the machine of `claim`, so that no second one is bought for them. */
  promise(pods: readonly Pod[], claim: string, until: number): void {
    for (const { metadata } of pods) if (metadata.uid) this.#promises.set(metadata.uid, { claim, until });
  }

  /**
   * The claim whose machine the pod waits for: one that is still on its way, or that came up so lately that the
   * scheduler may not have used it yet.
   */
  promisedClaim(pod: Pod, now: number): string | undefined {
    const promise = this.#promises.get(pod.metadata.uid ?? '');
    const claim = promise && this.#claims.get(promise.claim);
    if (promise === undefined || claim === undefined) return undefined;
    const view = this.#viewOfClaim(claim);
    if (view.deleting) return undefined;
    return view.initialized && now >= promise.until ? undefined : promise.claim;
  }

  nodeByProviderID(providerID: string): Node | undefined {
    return this.#nodes.get(this.#nodeByProviderID.get(providerID) ?? '');
  }

  claimByProviderID(providerID: string): NodeClaim | undefined {
    return this.#claims.get(this.#claimByProviderID.get(providerID) ?? '');
  }

  claims(): Iterable<NodeClaim> {
    return this.#claims.values();
  }

  podsOn(nodeName: string): readonly Pod[] {
    return [...(this.#podsByNode.get(nodeName)?.values() ?? [])];
  }

  snapshot(): ClusterSnapshot {
    this.#snapshot ??= {
      nodes: this.#allViews().sort((left, right) => (left.name < right.name ? -1 : 1)),
      pendingPods: [...this.#pending].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, pod]) => pod),
      daemonSets: [...this.#daemonSets].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, set]) => set),
    };
    return this.#snapshot;
  }

  #allViews(): NodeView[] {
    const views = [...this.#claims.values()].map((claim) => this.#viewOfClaim(claim));
    for (const node of this.#nodes.values()) {
      if (this.claimByProviderID(node.spec?.providerID ?? '') === undefined) views.push(this.#viewOfNode(node));
    }
    return views;
  }

  #viewOfClaim(claim: NodeClaim): NodeView {
    const key = `claim/${claim.metadata.name}`;
    const cached = this.#views.get(key);
    if (cached) return cached;
    const node = claim.status?.providerID ? this.nodeByProviderID(claim.status.providerID) : undefined;
    const pods = node ? this.podsOn(node.metadata.name) : [];
    const view = nodeView(node ? { node, claim } : { claim }, pods);
    this.#views.set(key, view);
    return view;
  }

  #viewOfNode(node: Node): NodeView {
    const key = `node/${node.metadata.name}`;
    const cached = this.#views.get(key);
    if (cached) return cached;
    const view = nodeView({ node }, this.podsOn(node.metadata.name));
    this.#views.set(key, view);
    return view;
  }

  #unbind(key: string): void {
    const nodeName = this.#nodeByPod.get(key);
    if (nodeName === undefined) return;
    this.#nodeByPod.delete(key);
    const pods = this.#podsByNode.get(nodeName);
    pods?.delete(key);
    if (pods?.size === 0) this.#podsByNode.delete(nodeName);
    this.#touchNode(nodeName);
  }

  /** Forgets what was derived from the node and from the claim of the same machine. */
  #touchNode(name: string): void {
    this.#snapshot = undefined;
    this.#views.delete(`node/${name}`);
    const providerID = this.#nodes.get(name)?.spec?.providerID;
    const claim = providerID && this.#claimByProviderID.get(providerID);
    if (claim) this.#views.delete(`claim/${claim}`);
  }

  #touchClaim(name: string): void {
    this.#snapshot = undefined;
    this.#views.delete(`claim/${name}`);
    const providerID = this.#claims.get(name)?.status?.providerID;
    const node = providerID && this.#nodeByProviderID.get(providerID);
    if (node) this.#views.delete(`node/${node}`);
  }
}

const daemonSetKey = ({ metadata }: DaemonSet): string => `${metadata.namespace ?? ''}/${metadata.name}`;

/** A claim written into the picture right after its creation must not be undone by an event from before. */
function isOlder(left: NodeClaim, right: NodeClaim): boolean {
  if (left.metadata.uid !== right.metadata.uid) return false;
  return Number(left.metadata.resourceVersion ?? 0) < Number(right.metadata.resourceVersion ?? 0);
}
