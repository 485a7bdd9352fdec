/** Cost of the cluster state of a large cluster: building it once, and taking a snapshot after one change. */
import type { Node, Pod } from '../src/api/kinds.ts';
import { Cluster } from '../src/cluster/cluster.ts';
import type { Bench } from './runner.ts';
import { typicalPod } from './typicalPods.ts';

const NODES = 5_000;
const PODS = 100_000;
const ROUNDS = 500;
const TARGET = 0.5;

const nodeName = (index: number): string => `aks-nodewright-${String(index % NODES).padStart(5, '0')}`;

function node(index: number, version = 1): Node {
  const name = nodeName(index);
  return {
    metadata: { name, uid: name, resourceVersion: String(version), labels: { 'kubernetes.io/hostname': name } },
    spec: { providerID: `azure:///subscriptions/s/${name}` },
    status: {
      capacity: { cpu: '32', memory: '128Gi', pods: '110' },
      allocatable: { cpu: '31', memory: '120Gi', pods: '110' },
    },
  };
}

function pod(index: number, version: number): Pod {
  const { metadata, spec, status } = typicalPod(index) as Pod;
  return {
    metadata: { ...metadata, resourceVersion: String(version) },
    spec: { ...spec, containers: spec?.containers ?? [], nodeName: nodeName(index) },
    ...(status && { status }),
  };
}

/** Median milliseconds of a snapshot after `change`. */
function afterChange(cluster: Cluster, change: (round: number) => void): number {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    change(round);
    const start = performance.now();
    cluster.snapshot();
    times.push(performance.now() - start);
  }
  return times.sort((left, right) => left - right)[ROUNDS / 2] ?? Number.NaN;
}

export const bench: Bench = {
  name: 'cluster',
  description: 'snapshots of 5,000 nodes and 100,000 pods after one change',
  async run() {
    const cluster = new Cluster();
    for (let index = 0; index < NODES; index++) cluster.setNode(node(index));
    for (let index = 0; index < PODS; index++) cluster.setPod(pod(index, 1));
    const start = performance.now();
    cluster.snapshot();
    const first = performance.now() - start;
    const spread = (round: number): number => (round * 7_919) % PODS;
    const changes: readonly (readonly [string, (round: number) => void])[] = [
      ['one pod changes', (round) => cluster.setPod(pod(spread(round), round + 2))],
      ['one node changes', (round) => cluster.setNode(node(spread(round), round + 2))],
      ['one pod moves to another node', (round) => cluster.setPod(moved(pod(spread(round), round + 1_000)))],
      ['one node comes', (round) => cluster.setNode(renamed(node(0), `aks-extra-${round}`))],
    ];
    return {
      title: `snapshot of ${NODES} nodes and ${PODS} pods`,
      columns: ['after', 'milliseconds', `against ${TARGET} ms`],
      rows: [
        ['the first time', first.toFixed(1), ''],
        ...changes.map(([name, change]) => {
          const median = afterChange(cluster, change);
          return [name, median.toFixed(3), (median / TARGET).toFixed(2)];
        }),
      ],
    };
  },
};

const moved = (from: Pod): Pod => ({
  ...from,
  spec: { ...from.spec, containers: from.spec?.containers ?? [], nodeName: nodeName(1) },
});

const renamed = (from: Node, name: string): Node => ({ ...from, metadata: { ...from.metadata, name, uid: name } });
