import type { Namespace, Pod } from '../../api/kinds.ts';
import type { Cluster, ClusterSnapshot } from '../../cluster/cluster.ts';
import type { NodeView } from '../../cluster/nodeView.ts';
import type { NamespaceLabels } from '../../constraints/topology.ts';
import { Model } from '../../solver/model/model.ts';
import type { PoolOffer, Snapshot } from '../../solver/problem.ts';
import type { Resources } from '../../units/resources.ts';
import type { ClusterInformers } from '../world/clusterInformers.ts';
import { Daemons } from './daemons.ts';
import type { DefaultRequests } from './limitRanges.ts';
import { freeOn, NodeRooms } from './nodeRooms.ts';

export interface ClusterModelOptions {
  readonly cluster: Cluster;
  readonly informers: Pick<ClusterInformers, 'csiNodes' | 'namespaces'>;
}

/** Input that is not part of the cluster state. */
export interface ClusterModelInput extends Pick<Snapshot, 'volumes' | 'defaultSpread' | 'quotas'> {
  readonly snapshot: ClusterSnapshot;
  /** Pods with a place on a node, by view name. */
  readonly promised: ReadonlyMap<string, readonly Pod[]>;
  readonly offers: readonly PoolOffer[];
  /** Default requests of namespaces, for DaemonSets without a known pod. */
  readonly defaultRequests: DefaultRequests;
}

/** The solver's model of the cluster, carried from pass to pass: unchanged objects are not compiled again. */
export class ClusterModel {
  private readonly options: ClusterModelOptions;
  private readonly daemons = new Daemons();
  private readonly rooms = new NodeRooms();
  private readonly namespaces = new KnownNamespaces();
  private model: Model | undefined;

  constructor(options: ClusterModelOptions) {
    this.options = options;
  }

  /** The cluster in the solver's form; unchanged parts are the same objects. */
  snapshot(input: ClusterModelInput): Snapshot {
    const { cluster, informers } = this.options;
    const { csiNodes } = informers;
    const daemons = this.daemons.of(cluster, input.defaultRequests);
    const nodes = this.rooms.of(input.snapshot.nodes, {
      promised: input.promised,
      daemons,
      csiNode: (name) => csiNodes.store.get({ name }),
    });
    return {
      pools: input.offers,
      nodes,
      daemons,
      namespaces: this.namespaces.of(informers.namespaces.store.list()),
      ...(input.volumes && { volumes: input.volumes }),
      ...(input.defaultSpread && { defaultSpread: input.defaultSpread }),
      ...(input.quotas && { quotas: input.quotas }),
    };
  }

  freeOn(view: NodeView, defaults: ClusterModelInput['defaultRequests']): Resources {
    return freeOn(view, this.daemons.of(this.options.cluster, defaults));
  }

  /** The model of that snapshot, which need not be the latest one. */
  advance(snapshot: Snapshot): Model {
    if (this.model === undefined) this.model = Model.of(snapshot);
    else this.model.advance(snapshot);
    return this.model;
  }
}

/** Labels by namespace; the same map until some label changes. */
class KnownNamespaces {
  private labels: NamespaceLabels = new Map();
  private texts: ReadonlyMap<string, string> = new Map();

  of(namespaces: Iterable<Namespace>): NamespaceLabels {
    const labels = new Map<string, Readonly<Record<string, string>>>();
    const texts = new Map<string, string>();
    for (const { metadata } of namespaces) {
      const own = metadata.labels ?? {};
      labels.set(metadata.name, own);
      texts.set(
        metadata.name,
        this.labels.get(metadata.name) === own ? this.textOf(metadata.name) : JSON.stringify(own),
      );
    }
    const isSame = texts.size === this.texts.size && [...texts].every(([name, text]) => this.texts.get(name) === text);
    if (!isSame) [this.labels, this.texts] = [labels, texts];
    return this.labels;
  }

  private textOf(name: string): string {
    return this.texts.get(name) ?? '';
  }
}
