import type { DaemonSet, Node, Pod } from '../api/kinds.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { Labels } from '../api/labels.ts';
import type { Resources } from '../units/resources.ts';
import { MachinePromises } from './machinePromises.ts';
import { NameIndex } from './nameIndex.ts';
import { nodeView, type NodeView } from './nodeView.ts';
import { PodBindings } from './podBindings.ts';
import { PoolUsage } from './poolUsage.ts';

const MAX_DEPARTED = 2_000;

/** The cluster at one moment. Immutable; two snapshots share everything that did not change between them. */
export interface ClusterSnapshot {
  /** Machines, ready or on their way, in order of name. */
  readonly nodes: readonly NodeView[];
  /** Pods that the scheduler could not place, in order of namespace and name. */
  readonly pendingPods: readonly Pod[];
  readonly daemonSets: readonly DaemonSet[];
}

/**
 * The in-memory picture, kept from watch events in time proportional to each change. In: objects as they come and go,
 * and what loops have decided but nobody can see yet (promises, nominations, deletion marks). Out: snapshots, lookups
 * and pool totals. A claim and a Node are one machine when their provider IDs are equal, whatever their names.
 */
export class Cluster {
  private readonly nodes = new Map<string, Node>();
  private readonly claims = new Map<string, NodeClaim>();
  private readonly nodesByProviderID = new NameIndex();
  private readonly claimsByProviderID = new NameIndex();
  private readonly daemonSets = new Map<string, DaemonSet>();
  private readonly pods = new PodBindings((nodeName) => this.touchNode(nodeName));
  private readonly promises = new MachinePromises();
  /** UIDs of claims that went lately: an answer that comes late must not bring one back. */
  private readonly departed = new Set<string>();
  /** Claims that a loop has decided to end, by name. */
  private readonly marked = new Set<string>();
  /** Until when pods are expected on a machine, by the name of its view. */
  private readonly nominations = new Map<string, number>();
  private readonly views = new Map<string, NodeView>();
  private readonly usage = new PoolUsage();
  /** Views whose share of their pool is not up to date. */
  private readonly uncounted = new Set<string>();
  private latest: ClusterSnapshot | undefined;

  setNode(node: Node): void {
    const { name } = node.metadata;
    this.detachNode(name);
    this.nodes.set(name, node);
    this.nodesByProviderID.add(node.spec?.providerID, name);
    this.touchNode(name);
  }

  removeNode(name: string): void {
    this.detachNode(name);
    this.nodes.delete(name);
    this.nominations.delete(name);
    this.discount(nodeKey(name));
  }

  setClaim(claim: NodeClaim): void {
    const { name, uid } = claim.metadata;
    const known = this.claims.get(name);
    if ((known && isOlder(claim, known)) || this.departed.has(uid ?? '')) return;
    this.detachClaim(name);
    this.claims.set(name, claim);
    this.claimsByProviderID.add(claim.status?.providerID, name);
    this.touchClaim(name);
  }

  removeClaim(name: string, uid = this.claims.get(name)?.metadata.uid): void {
    if (uid !== undefined) this.departed.add(uid);
    if (this.departed.size > MAX_DEPARTED)
      for (const oldest of [...this.departed].slice(0, MAX_DEPARTED / 2)) this.departed.delete(oldest);
    this.detachClaim(name);
    this.claims.delete(name);
    this.promises.removeClaim(name);
    this.marked.delete(name);
    this.nominations.delete(name);
    this.discount(claimKey(name));
  }

  setPod(pod: Pod): void {
    // A promise to a pod that is on a node already is for the time when that node goes: it stays.
    if (this.pods.set(pod)) this.promises.removePod(pod.metadata.uid ?? '');
    this.latest = undefined;
  }

  removePod(pod: Pod): void {
    this.pods.remove(pod);
    this.promises.removePod(pod.metadata.uid ?? '');
    this.latest = undefined;
  }

  setDaemonSet(daemonSet: DaemonSet): void {
    this.daemonSets.set(daemonSetKey(daemonSet), daemonSet);
    this.latest = undefined;
  }

  removeDaemonSet(daemonSet: DaemonSet): void {
    this.daemonSets.delete(daemonSetKey(daemonSet));
    this.latest = undefined;
  }

  /** Records that `pods` wait for the machine of `claim`, so that no second one is bought for them. */
  promise(pods: readonly Pod[], claim: string, until: number): void {
    for (const { metadata } of pods) if (metadata.uid) this.promises.set(metadata.uid, claim, until);
  }

  /**
   * The claim whose machine the pod waits for: one that is still on its way, or that came up so lately that the
   * scheduler may not have used it yet.
   */
  promisedClaim(pod: Pod, now: number): string | undefined {
    const promise = this.promises.get(pod.metadata.uid ?? '');
    const claim = promise && this.claims.get(promise.claim);
    if (promise === undefined || claim === undefined) return undefined;
    const view = this.viewOfClaim(claim);
    if (view.deleting) return undefined;
    return view.initialized && now >= promise.until ? undefined : promise.claim;
  }

  /** Pods are about to be bound to the machine of this name: it is no time to take it away. */
  nominate(viewName: string, until: number): void {
    this.nominations.set(viewName, Math.max(until, this.nominations.get(viewName) ?? 0));
  }

  isNominated(viewName: string, now: number): boolean {
    return now < (this.nominations.get(viewName) ?? 0);
  }

  /** The claim will be deleted; its machine takes no more pods from now on. `unmark` takes it back. */
  markForDeletion(claim: string): void {
    if (!this.claims.has(claim)) return;
    this.marked.add(claim);
    this.touchClaim(claim);
  }

  unmarkForDeletion(claim: string): void {
    this.marked.delete(claim);
    this.touchClaim(claim);
  }

  /** The claim as it was last written, which a watch may not have told yet. */
  claim(name: string): NodeClaim | undefined {
    return this.claims.get(name);
  }

  nodeByProviderID(providerID: string): Node | undefined {
    return this.nodes.get(this.nodesByProviderID.last(providerID) ?? '');
  }

  claimByProviderID(providerID: string): NodeClaim | undefined {
    return this.claims.get(this.claimsByProviderID.last(providerID) ?? '');
  }

  podsOn(nodeName: string): readonly Pod[] {
    return this.pods.on(nodeName);
  }

  /** The machine of a claim; undefined for a claim that is not in the picture. */
  machineOf(claimName: string): NodeView | undefined {
    const claim = this.claims.get(claimName);
    return claim && this.viewOfClaim(claim);
  }

  /** The newest pod that the DaemonSet has, as admission left it. */
  newestDaemonPod(daemonSet: DaemonSet): Pod | undefined {
    return this.pods.newestOf(daemonSet);
  }

  /** What the machines of a pool that are here to stay add up to, `nodes` included. */
  poolUsage(pool: string): Resources {
    for (const key of this.uncounted) this.count(key);
    this.uncounted.clear();
    return this.usage.of(pool);
  }

  snapshot(): ClusterSnapshot {
    this.latest ??= {
      nodes: this.allViews().sort((left, right) => (left.name < right.name ? -1 : 1)),
      pendingPods: this.pods.pending(),
      daemonSets: [...this.daemonSets].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, set]) => set),
    };
    return this.latest;
  }

  private allViews(): NodeView[] {
    const views = [...this.claims.values()].map((claim) => this.viewOfClaim(claim));
    for (const node of this.nodes.values()) if (this.standsAlone(node)) views.push(this.viewOfNode(node));
    return views;
  }

  /**
   * Not the Node of a known claim. One of ours that has not registered is about to become that: counted now, it would
   * be counted twice, for its claim promises the same machine.
   */
  private standsAlone(node: Node): boolean {
    if (this.claimByProviderID(node.spec?.providerID ?? '')) return false;
    const { labels } = node.metadata;
    return labels?.[Labels.nodePool] === undefined || labels[Labels.registered] === 'true';
  }

  private viewOfClaim(claim: NodeClaim): NodeView {
    const { name } = claim.metadata;
    return this.cached(claimKey(name), () => {
      const node = claim.status?.providerID ? this.nodeByProviderID(claim.status.providerID) : undefined;
      const view = nodeView(node ? { node, claim } : { claim }, node ? this.podsOn(node.metadata.name) : []);
      return this.marked.has(name) && !view.deleting ? { ...view, deleting: true } : view;
    });
  }

  private viewOfNode(node: Node): NodeView {
    return this.cached(nodeKey(node.metadata.name), () => nodeView({ node }, this.podsOn(node.metadata.name)));
  }

  private cached(key: string, make: () => NodeView): NodeView {
    const known = this.views.get(key);
    if (known) return known;
    const view = make();
    this.views.set(key, view);
    return view;
  }

  private count(key: string): void {
    const view = this.viewAt(key);
    if (view?.nodePool === undefined || view.deleting) this.usage.remove(key);
    else this.usage.set(key, view.nodePool, view.capacity);
  }

  private discount(key: string): void {
    this.usage.remove(key);
    this.uncounted.delete(key);
  }

  private viewAt(key: string): NodeView | undefined {
    const [kind, name] = [key.slice(0, key.indexOf('/')), key.slice(key.indexOf('/') + 1)];
    if (kind === 'claim') return this.machineOf(name);
    const node = this.nodes.get(name);
    return node && this.standsAlone(node) ? this.viewOfNode(node) : undefined;
  }

  private detachNode(name: string): void {
    this.touchNode(name);
    this.nodesByProviderID.remove(this.nodes.get(name)?.spec?.providerID, name);
  }

  private detachClaim(name: string): void {
    this.touchClaim(name);
    this.claimsByProviderID.remove(this.claims.get(name)?.status?.providerID, name);
  }

  /** Forgets what was derived from the node and from the claim of the same machine. */
  private touchNode(name: string): void {
    this.forget(nodeKey(name));
    const { providerID } = this.nodes.get(name)?.spec ?? {};
    for (const claim of this.claimsByProviderID.all(providerID)) this.forget(claimKey(claim));
  }

  private touchClaim(name: string): void {
    this.forget(claimKey(name));
    const { providerID } = this.claims.get(name)?.status ?? {};
    for (const node of this.nodesByProviderID.all(providerID)) this.forget(nodeKey(node));
  }

  private forget(key: string): void {
    this.latest = undefined;
    this.views.delete(key);
    this.uncounted.add(key);
  }
}

const nodeKey = (name: string): string => `node/${name}`;
const claimKey = (name: string): string => `claim/${name}`;
const daemonSetKey = ({ metadata }: DaemonSet): string => `${metadata.namespace ?? ''}/${metadata.name}`;

/** A claim written into the picture right after its creation must not be undone by an event from before. */
function isOlder(left: NodeClaim, right: NodeClaim): boolean {
  if (left.metadata.uid !== right.metadata.uid) return false;
  return Number(left.metadata.resourceVersion ?? 0) < Number(right.metadata.resourceVersion ?? 0);
}
