/** The dashboard of a controller in this process: reads what its loops read, without requests to the API server. */
import { Kinds } from '../api/kinds.ts';
import type { KubeObject, ResourceKind } from '../api/object.ts';
import { catalogues } from '../controllers/planning/catalogues.ts';
import type { World } from '../controllers/world/world.ts';
import type { Manager } from '../kube/runtime/manager.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { kindKey } from '../rehearsal/clusterObjects.ts';
import type { DashboardSource, Picture, RehearsalSource, UnavailableOffering } from './picture.ts';
import type { ControllerState } from './screens.ts';

export interface LiveSourceOptions {
  readonly title: string;
  readonly version: string;
  readonly ledger: Ledger;
  readonly metrics: { parts(): AsyncIterable<string> };
}

/** One run of the controller. */
interface Life {
  readonly world: World;
  readonly manager: Pick<Manager, 'ready' | 'isLeader'>;
  readonly unavailable?: () => readonly UnavailableOffering[];
}

export class LiveSource implements DashboardSource {
  readonly title: string;
  readonly version: string;
  readonly ledger: Ledger;
  private readonly options: LiveSourceOptions;
  private readonly end = new AbortController();
  private life: Life | undefined;
  private wasReady = false;

  constructor(options: LiveSourceOptions) {
    this.options = options;
    this.title = options.title;
    this.version = options.version;
    this.ledger = options.ledger;
  }

  /** Switches to a new controller after the previous one has ended. */
  attach(life: Life): void {
    this.life = life;
    this.wasReady = false;
  }

  state(): ControllerState {
    const manager = this.life?.manager;
    if (manager?.ready() !== true) return this.wasReady ? 'stopped' : 'starting';
    this.wasReady = true;
    return manager.isLeader() ? 'leading' : 'standby';
  }

  async picture(): Promise<Picture | undefined> {
    if (this.life === undefined || this.state() === 'starting') return undefined;
    const { world } = this.life;
    const found = await catalogues(world, world.cloud, () => true, this.end.signal);
    const { nodes, pendingPods } = world.cluster.snapshot();
    return {
      time: world.clock.now(),
      views: nodes,
      pendingPods,
      heldPods: world.cluster.heldPods(),
      pools: new Map(found.map((each) => [each.pool.metadata.name, each])),
    };
  }

  rehearsal(): RehearsalSource | undefined {
    if (this.life === undefined || this.state() === 'starting') return undefined;
    const { world } = this.life;
    const { cluster, informers, clock, cloud, kube } = world;
    const { nodes, pendingPods } = cluster.snapshot();
    const kinds = new Map<string, readonly KubeObject[]>();
    const put = <T extends KubeObject>(kind: ResourceKind<T>, objects: Iterable<T>): void => {
      kinds.set(kindKey(kind), Array.isArray(objects) ? (objects as readonly T[]) : [...objects]);
    };
    put(Kinds.Pod, nodes.flatMap(({ pods }) => pods).concat(pendingPods, cluster.heldPods()));
    put(Kinds.Node, cluster.nodes());
    put(Kinds.NodeClaim, cluster.claims());
    put(Kinds.NodePool, informers.nodePools.store.list());
    put(Kinds.DaemonSet, informers.daemonSets.store.list());
    put(Kinds.PodDisruptionBudget, informers.disruptionBudgets.store.list());
    put(Kinds.LimitRange, informers.limitRanges.store.list());
    put(Kinds.Namespace, informers.namespaces.store.list());
    put(Kinds.PersistentVolumeClaim, informers.volumeClaims.store.list());
    put(Kinds.PersistentVolume, informers.volumes.store.list());
    put(Kinds.StorageClass, informers.storageClasses.store.list());
    put(Kinds.CSINode, informers.csiNodes.store.list());
    put(Kinds.VolumeAttachment, informers.volumeAttachments.store.list());
    for (const { kind, informer } of informers.nodeClasses) put(kind, informer.store.list());
    return { objects: { time: clock.now(), kinds }, cloud, kube };
  }

  metrics(): AsyncIterable<string> {
    return this.options.metrics.parts();
  }

  unavailable(): readonly UnavailableOffering[] {
    return this.life?.unavailable?.() ?? [];
  }

  close(): void {
    this.end.abort();
  }
}
