import type { DaemonSet, Node, Pod } from '../api/kinds.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { Labels } from '../api/labels.ts';
import type { KubeObject } from '../api/object.ts';
import { podKey } from '../pods/podKey.ts';
import { isReschedulable } from '../pods/podPredicates.ts';
import { withoutNode } from '../pods/withoutNode.ts';
import type { Resources } from '../units/resources.ts';
import { LivePlaces } from './livePlaces.ts';
import { NameIndex } from './nameIndex.ts';
import { nodeView, type NodeView } from './nodeView.ts';
import { NodeViews } from './nodeViews.ts';
import { restoredPlaces } from './plannedKinds.ts';
import { PodBindings } from './podBindings.ts';
import { SortedValues } from './sortedValues.ts';

/** Identifies a pod. */
type PodRef = { readonly namespace?: string | undefined; readonly name: string };

const MAX_DEPARTED = 2_000;

/**
 * The cluster at one moment. Immutable. Consecutive snapshots share unchanged objects: a view, each of the three lists
 * and the snapshot itself are `===` to the earlier ones unless something in them changed. Taking a snapshot costs time
 * in proportion to the changes since the last one.
 */
export interface ClusterSnapshot {
  /** Increases with every snapshot that differs from the previous one. */
  readonly version: number;
  /** Nodes, ready or launching, sorted by name. */
  readonly nodes: readonly NodeView[];
  /** Pods that the scheduler could not place, sorted by namespace and name. */
  readonly pendingPods: readonly Pod[];
  readonly daemonSets: readonly DaemonSet[];
}

/**
 * The in-memory state of the cluster, and the only source of NodeClaims, Nodes and Pods for loops. Updated from watch
 * events (`set…`, `remove…`) and from the answers to our own writes (`add…`, `update…`), in time proportional to each
 * change. Also holds decisions that the API server does not show yet (places of pods, deletion marks). A claim and a
 * Node with equal provider IDs are one node, whatever their names.
 */
export class Cluster {
  private readonly nodesByName = new Map<string, Node>();
  private readonly claimsByName = new Map<string, NodeClaim>();
  private readonly nodeNames = new NameIndex();
  private readonly claimNames = new NameIndex();
  private readonly daemonSets = new SortedValues<DaemonSet>();
  private readonly pods = new PodBindings((nodeName) => this.touchNode(nodeName));
  /** Planned places of waiting pods. */
  readonly places = new LivePlaces({
    targetOf: (name) => this.targetOf(name),
    viewOf: (target) => this.views.get(target),
    podNow: ({ metadata }) => this.incarnation(metadata),
    takesPods: () => this.snapshot().nodes.some(({ registered, deleting }) => registered && !deleting),
    byArrival: (pods) => this.pods.byArrival(pods),
    boundOf: (controllers) => this.pods.boundOf(controllers),
  });
  /** Objects from answers to our writes that the watch has not shown yet. */
  private readonly written = new WeakSet<KubeObject>();
  /** UIDs of recently deleted claims and Nodes: a late answer or an older event must not add them again. */
  private readonly departed = new Set<string>();
  /** Names of claims that a loop has decided to delete. */
  private readonly marked = new Set<string>();
  private restored = false;
  private readonly views = new NodeViews((key) => this.makeView(key));
  private latest: ClusterSnapshot = { version: 0, nodes: [], pendingPods: [], daemonSets: [] };

  setNode(node: Node): void {
    if (!this.isOutdated(node, this.node(node.metadata.name))) this.putNode(node);
  }

  removeNode(name: string, uid = this.nodesByName.get(name)?.metadata.uid): void {
    this.noteDeparture(uid);
    if (!isIncarnation(this.nodesByName.get(name), uid)) return;
    this.detachNode(name);
    this.nodesByName.delete(name);
    this.places.onTargetGone(nodeKey(name));
  }

  setClaim(claim: NodeClaim): void {
    if (!this.isOutdated(claim, this.claim(claim.metadata.name))) this.putClaim(claim);
  }

  removeClaim(name: string, uid = this.claimsByName.get(name)?.metadata.uid): void {
    this.noteDeparture(uid);
    if (!isIncarnation(this.claimsByName.get(name), uid)) return;
    this.detachClaim(name);
    this.claimsByName.delete(name);
    this.marked.delete(name);
    this.places.onTargetGone(claimKey(name));
  }

  setPod(pod: Pod): void {
    if (!this.isOutdated(pod, this.pod(pod.metadata))) this.putPod(pod);
  }

  removePod(pod: Pod): void {
    this.places.onPodGone(pod);
    if (isIncarnation(this.pod(pod.metadata), pod.metadata.uid)) this.pods.remove(podKey(pod));
  }

  setDaemonSet(daemonSet: DaemonSet): void {
    this.daemonSets.set(daemonSetKey(daemonSet), daemonSet);
  }

  removeDaemonSet(daemonSet: DaemonSet): void {
    this.daemonSets.delete(daemonSetKey(daemonSet));
  }

  /** Applies the answer to the creation of a claim, unless its deletion is already known. */
  addClaim(claim: NodeClaim): void {
    const { name, uid } = claim.metadata;
    if (this.claim(name)?.metadata.uid === uid) this.updateClaim(claim);
    else if (!this.departed.has(uid ?? '')) this.putClaim(this.ahead(claim));
  }

  /**
   * Applies the answer to one of our writes, which is ahead of the watch. Only updates known objects: the watch decides
   * about objects that it has removed or not shown yet.
   */
  updateClaim(claim: NodeClaim): void {
    if (isLater(claim, this.claim(claim.metadata.name))) this.putClaim(this.ahead(claim));
  }

  updateNode(node: Node): void {
    if (isLater(node, this.node(node.metadata.name))) this.putNode(this.ahead(node));
  }

  updatePod(pod: Pod): void {
    if (isLater(pod, this.pod(pod.metadata))) this.putPod(this.ahead(pod));
  }

  /** Pods that wait, and that no plan counts: gated ones, those of other schedulers, daemons without room. */
  heldPods(): readonly Pod[] {
    return this.pods.held();
  }

  /** Call once after a restart: assigns pods to the launching nodes that were bought for them. */
  restorePlaces(): void {
    if (this.restored) return;
    this.restored = true;
    const { nodes, pendingPods } = this.snapshot();
    const leaving = nodes.filter(({ deleting }) => deleting).flatMap(({ pods }) => pods);
    const homeless = leaving.filter(isReschedulable).map(withoutNode);
    const planned = restoredPlaces(nodes, [...pendingPods, ...homeless]);
    this.places.hold('restored', planned, 0);
  }

  /** Pods are about to be bound to the node of this name, so it must not be removed now. */
  isNominated(viewName: string, now: number): boolean {
    return this.places.isExpecting(viewName, now);
  }

  /** Records the decision to delete the claim; its node accepts no more pods from now on. */
  markForDeletion(claim: string): void {
    if (!this.claimsByName.has(claim)) return;
    this.marked.add(claim);
    this.touchClaim(claim);
  }

  /** Reverts `markForDeletion`. */
  unmarkForDeletion(claim: string): void {
    if (this.marked.delete(claim)) this.touchClaim(claim);
  }

  claim(name: string): NodeClaim | undefined {
    return this.claimsByName.get(name);
  }

  claims(): Iterable<NodeClaim> {
    return this.claimsByName.values();
  }

  node(name: string): Node | undefined {
    return this.nodesByName.get(name);
  }

  nodes(): Iterable<Node> {
    return this.nodesByName.values();
  }

  pod({ namespace = 'default', name }: PodRef): Pod | undefined {
    return this.pods.get(`${namespace}/${name}`);
  }

  /** Whether the scheduler may be about to bind some pod. */
  get podsMayBeBound(): boolean {
    return this.pods.areBindable;
  }

  podsOn(nodeName: string): readonly Pod[] {
    return this.pods.on(nodeName);
  }

  /** The claim of an instance. If there are temporarily several, the newest. */
  claimByProviderID(providerID: string | undefined): NodeClaim | undefined {
    return this.claimsByName.get(this.claimNames.last(providerID) ?? '');
  }

  /**
   * The Nodes with this provider ID: one, after it has joined. If there are several, the last represents the instance.
   */
  nodesByProviderID(providerID: string | undefined): readonly Node[] {
    return this.nodeNames.all(providerID).flatMap((name) => this.nodesByName.get(name) ?? []);
  }

  /** The view of a claim's node; undefined for an unknown claim. */
  viewOf(claimName: string): NodeView | undefined {
    return this.views.get(claimKey(claimName));
  }

  /** The newest pod of the DaemonSet, after admission. */
  newestDaemonPod(daemonSet: DaemonSet): Pod | undefined {
    return this.pods.newestOf(daemonSet);
  }

  /** Total of the nodes of a pool, `nodes` included, without those being deleted. */
  poolUsage(pool: string): Resources {
    return this.views.usageOf(pool);
  }

  snapshot(): ClusterSnapshot {
    const nodes = this.views.inOrder();
    const pendingPods = this.pods.pending();
    const daemonSets = this.daemonSets.values();
    const { version, ...before } = this.latest;
    if (before.nodes !== nodes || before.pendingPods !== pendingPods || before.daemonSets !== daemonSets) {
      this.latest = { version: version + 1, nodes, pendingPods, daemonSets };
    }
    return this.latest;
  }

  private putNode(node: Node): void {
    const { name } = node.metadata;
    this.detachNode(name);
    this.nodesByName.set(name, node);
    this.nodeNames.add(node.spec?.providerID, name);
    this.touchNode(name);
  }

  private putClaim(claim: NodeClaim): void {
    const { name } = claim.metadata;
    this.detachClaim(name);
    this.claimsByName.set(name, claim);
    this.claimNames.add(claim.status?.providerID, name);
    this.touchClaim(name);
  }

  private putPod(pod: Pod): void {
    const before = this.incarnation(pod.metadata);
    this.pods.set(pod);
    this.places.onPod(pod, !before?.spec?.nodeName);
  }

  private incarnation({ namespace, name, uid }: Pod['metadata']): Pod | undefined {
    const known = this.pod({ namespace, name });
    return known?.metadata.uid === uid ? known : undefined;
  }

  /** Key of the view with this name: the claim until its Node has registered, then the Node. */
  private targetOf(name: string): string {
    if (this.claimsByName.has(name)) return claimKey(name);
    const claim = this.claimByProviderID(this.nodesByName.get(name)?.spec?.providerID);
    return claim ? claimKey(claim.metadata.name) : nodeKey(name);
  }

  private noteDeparture(uid: string | undefined): void {
    if (uid === undefined) return;
    this.departed.add(uid);
    if (this.departed.size <= MAX_DEPARTED) return;
    for (const oldest of [...this.departed].slice(0, MAX_DEPARTED / 2)) this.departed.delete(oldest);
  }

  private ahead<T extends KubeObject>(object: T): T {
    this.written.add(object);
    return object;
  }

  /**
   * Whether a watch event is outdated: the version already known, or one from before our own write. Any other older
   * version is applied: the API server was restored from a backup.
   */
  private isOutdated(object: KubeObject, known: KubeObject | undefined): boolean {
    if (this.departed.has(object.metadata.uid ?? '')) return true;
    if (known === undefined || known.metadata.uid !== object.metadata.uid) return false;
    const [next, current] = [versionOf(object), versionOf(known)];
    return next === current || (next < current && this.written.has(known));
  }

  private makeView(key: string): NodeView | undefined {
    const name = key.slice(key.indexOf('/') + 1);
    return key.startsWith(CLAIM) ? this.viewOfClaim(name) : this.viewOfNode(name);
  }

  private viewOfClaim(name: string): NodeView | undefined {
    const claim = this.claimsByName.get(name);
    if (claim === undefined) return undefined;
    const node = this.nodesByProviderID(claim.status?.providerID).at(-1);
    const view = nodeView(node ? { node, claim } : { claim }, node ? this.podsOn(node.metadata.name) : []);
    return this.marked.has(name) && !view.deleting ? { ...view, deleting: true } : view;
  }

  /**
   * Only for a Node without a claim. One of ours that has not registered is about to get its claim: showing it now
   * would count the node twice, because the claim is counted too.
   */
  private viewOfNode(name: string): NodeView | undefined {
    const node = this.nodesByName.get(name);
    if (node === undefined || this.claimByProviderID(node.spec?.providerID)) return undefined;
    const { labels } = node.metadata;
    const isOwn = labels?.[Labels.nodePool] === undefined || labels[Labels.registered] === 'true';
    return isOwn ? nodeView({ node }, this.podsOn(name)) : undefined;
  }

  private detachNode(name: string): void {
    this.touchNode(name);
    this.nodeNames.remove(this.nodesByName.get(name)?.spec?.providerID, name);
  }

  private detachClaim(name: string): void {
    this.touchClaim(name);
    this.claimNames.remove(this.claimsByName.get(name)?.status?.providerID, name);
  }

  /** Invalidates the views of a node and of the claim of the same instance. */
  private touchNode(name: string): void {
    this.views.touch(nodeKey(name));
    const { providerID } = this.nodesByName.get(name)?.spec ?? {};
    for (const claim of this.claimNames.all(providerID)) this.views.touch(claimKey(claim));
  }

  private touchClaim(name: string): void {
    this.views.touch(claimKey(name));
    const { providerID } = this.claimsByName.get(name)?.status ?? {};
    for (const node of this.nodeNames.all(providerID)) this.views.touch(nodeKey(node));
  }
}

const CLAIM = 'claim/';
const nodeKey = (name: string): string => `node/${name}`;
const claimKey = (name: string): string => `${CLAIM}${name}`;
const daemonSetKey = ({ metadata }: DaemonSet): string => `${metadata.namespace ?? ''}/${metadata.name}`;

/** NaN for objects without a version, so that no comparison with them is true. */
const versionOf = ({ metadata }: KubeObject): number => Number(metadata.resourceVersion ?? Number.NaN);

const isLater = (object: KubeObject, known: KubeObject | undefined): boolean =>
  known !== undefined && known.metadata.uid === object.metadata.uid && !(versionOf(object) <= versionOf(known));

/** Whether a deletion with this UID refers to the known object of that name, not to a predecessor. */
const isIncarnation = (known: KubeObject | undefined, uid: string | undefined): boolean =>
  known === undefined || uid === undefined || known.metadata.uid === undefined || known.metadata.uid === uid;
