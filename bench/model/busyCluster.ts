/** A cluster with many running pods, as its in-memory state, and the typical changes of a second. */
import { Kinds, type DaemonSet, type Namespace, type Node, type Pod } from '../../src/api/kinds.ts';
import { Labels } from '../../src/api/labels.ts';
import { Cluster } from '../../src/cluster/cluster.ts';
import { Store } from '../../src/kube/store.ts';
import { ClusterModel, type ClusterModelOptions } from '../../src/controllers/planning/clusterModel.ts';
import type { Model } from '../../src/solver/model/model.ts';
import type { Solution } from '../../src/solver/problem.ts';
import { ask } from '../../src/solver/solve.ts';
import { azureOffers, type Offer } from '../solver/offer.ts';

const PODS_PER_NODE = 20;
const DAEMON_SETS = 4;
const APPS = 400;
const ZONES = 3;

export class BusyCluster {
  readonly cluster = new Cluster();
  readonly offer: Offer;
  private readonly carried: ClusterModel;
  private readonly size: number;
  private round = 0;

  constructor(nodes: number) {
    this.size = nodes;
    const [offer] = azureOffers();
    if (offer === undefined) throw new Error('There is no catalogue.');
    this.offer = offer;
    for (let at = 0; at < DAEMON_SETS; at++) this.cluster.setDaemonSet(daemonSet(at));
    for (let at = 0; at < nodes; at++) {
      this.cluster.setNode(nodeAt(at));
      for (let pod = 0; pod < PODS_PER_NODE; pod++) this.cluster.setPod(runningPod(at, pod));
    }
    const namespaces = new Store<Namespace>();
    const informer = <Kind>(store: Kind) => ({ store }) as never;
    const informers = { csiNodes: informer(new Store()), namespaces: informer(namespaces) };
    this.carried = new ClusterModel({ cluster: this.cluster, informers } satisfies ClusterModelOptions);
  }

  /** Changes of a second: a few pods, one node, and ten new unschedulable pods. */
  change(): void {
    this.round += 1;
    const at = (step: number): number => (this.round * 37 + step * 101) % this.size;
    for (let step = 0; step < 5; step++) this.cluster.setPod(runningPod(at(step), this.round % PODS_PER_NODE));
    this.cluster.setNode(nodeAt(at(5)));
    for (let pod = 0; pod < 10; pod++) {
      if (this.round > 1) this.cluster.removePod(waitingPod(this.round - 1, pod));
      this.cluster.setPod(waitingPod(this.round, pod));
    }
  }

  model(): Model {
    const { pool, instanceTypes } = this.offer;
    return this.carried.advance(
      this.carried.snapshot({
        snapshot: this.cluster.snapshot(),
        promised: new Map(),
        offers: [{ pool, instanceTypes, used: this.cluster.poolUsage(pool.metadata.name) }],
        defaultRequests: new Map(),
      }),
    );
  }

  /** From the cluster state to a plan for the waiting pods. */
  plan(): Solution {
    const model = this.model();
    return ask(model, { pods: this.cluster.snapshot().pendingPods }, { searchRounds: 0 });
  }

  /** Where the pods of a node would go without it. */
  without(model: Model, at: number): Solution {
    const { name, pods } = this.cluster.snapshot().nodes[at] ?? { name: '', pods: [] };
    const moved = pods.filter(({ metadata }) => metadata.ownerReferences === undefined);
    return ask(model, { pods: moved, withoutNodes: new Set([name]) }, { searchRounds: 0, outcomeOnly: true });
  }
}

function nodeAt(at: number): Node {
  const name = `node-${String(at).padStart(5, '0')}`;
  return {
    metadata: {
      name,
      uid: name,
      labels: {
        [Labels.hostname]: name,
        [Labels.zone]: `eastus-${(at % ZONES) + 1}`,
        [Labels.arch]: 'amd64',
        [Labels.os]: 'linux',
        [Labels.capacityType]: 'on-demand',
        [Labels.instanceType]: 'Standard_D16s_v5',
      },
    },
    status: {
      capacity: { cpu: '16', memory: '64Gi', pods: '110' },
      allocatable: { cpu: '15740m', memory: '58Gi', pods: '110' },
    },
  };
}

const container = (cpu: string, memory: string) => [{ name: 'main', resources: { requests: { cpu, memory } } }];

function runningPod(node: number, at: number): Pod {
  const app = `app-${(node * 7 + at * 13) % APPS}`;
  const name = `${app}-${node}-${at}`;
  const isDaemon = at < DAEMON_SETS;
  return {
    metadata: {
      name: isDaemon ? `daemon-${at}-${node}` : name,
      namespace: 'default',
      uid: `${node}-${at}`,
      labels: { app: isDaemon ? `daemon-${at}` : app },
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...(isDaemon && {
        ownerReferences: [
          { apiVersion: 'apps/v1', kind: Kinds.DaemonSet.kind, name: `daemon-${at}`, uid: `daemon-${at}` },
        ],
      }),
    },
    spec: {
      nodeName: `node-${String(node).padStart(5, '0')}`,
      containers: container(
        `${isDaemon ? 100 : 700 + ((node + at) % 5) * 40}m`,
        `${isDaemon ? 128 : 1024 + at * 64}Mi`,
      ),
      ...(!isDaemon && at % 4 === 0 && { topologySpreadConstraints: [zoneSpread(app)] }),
      ...(!isDaemon && at % 9 === 0 && { affinity: apart(app) }),
    },
    status: { phase: 'Running' },
  };
}

function waitingPod(round: number, at: number): Pod {
  const app = `app-${(round + at * 13) % APPS}`;
  return {
    metadata: { name: `new-${round}-${at}`, namespace: 'default', uid: `new-${round}-${at}`, labels: { app } },
    spec: {
      containers: container(`${500 + (at % 5) * 300}m`, `${1 + (at % 3)}Gi`),
      ...(at % 2 === 0 && { topologySpreadConstraints: [zoneSpread(app)] }),
      ...(at % 3 === 0 && { affinity: apart(app) }),
    },
    status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] },
  };
}

const zoneSpread = (app: string) => ({
  maxSkew: 50,
  topologyKey: Labels.zone,
  whenUnsatisfiable: 'DoNotSchedule',
  labelSelector: { matchLabels: { app } },
});

const apart = (app: string) => ({
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: Labels.hostname, labelSelector: { matchLabels: { app } } },
    ],
  },
});

function daemonSet(at: number): DaemonSet {
  const name = `daemon-${at}`;
  return {
    metadata: { name, namespace: 'default', uid: name },
    spec: {
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: container('100m', '128Mi') } },
    },
  };
}
